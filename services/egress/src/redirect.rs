//! Where an answer sends us next, and what goes along.

use bytes::Bytes;
use http::header::{CONTENT_LANGUAGE, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, Method, StatusCode};
use url::Url;

use crate::error::EgressError;
use crate::headers;

/// One request of a chain.
pub(crate) struct Hop {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// The place that an answer names, if it is a redirect.
pub(crate) fn target(from: &Url, status: StatusCode, answer: &HeaderMap) -> Result<Option<Url>, EgressError> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = answer.get(LOCATION) else { return Ok(None) };
    let joined = location.to_str().ok().and_then(|location| from.join(location).ok());
    joined.map(Some).ok_or_else(|| EgressError::Failed("the redirect leads to no valid URL".to_owned()))
}

impl Hop {
    /// The request after a redirect, by the rules that browsers follow (Fetch, 4.4), with credentials held back more
    /// strictly: to another origin go only headers that cannot carry any.
    pub(crate) fn follow(&mut self, status: StatusCode, to: Url) {
        let becomes_get = match status.as_u16() {
            301 | 302 => self.method == Method::POST,
            303 => self.method != Method::HEAD,
            _ => false,
        };
        if becomes_get {
            self.method = Method::GET;
            self.body = Bytes::new();
            for name in [CONTENT_TYPE, CONTENT_LANGUAGE] {
                self.headers.remove(name);
            }
        }
        if to.origin() != self.url.origin() {
            headers::keep_harmless(&mut self.headers);
        }
        self.url = to;
    }
}
