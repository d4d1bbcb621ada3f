//! What a request says about the protocol beside its body: the version, and the extensions.

use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use pleat_a2a::extension;
use pleat_a2a::method::{UnknownVersion, Version};

use crate::problem::Problem;

const VERSION: &str = "a2a-version";
const EXTENSIONS: HeaderName = HeaderName::from_static("a2a-extensions");
/// What it was called before 1.0.
const EARLIER_EXTENSIONS: HeaderName = HeaderName::from_static("x-a2a-extensions");

/// The version that is asked for: in the header, or else in the query.
pub(super) fn asked(headers: &HeaderMap, uri: &Uri) -> Result<Option<Version>, Problem> {
    let mut values = headers.get_all(VERSION).iter();
    let first = values.next().map(|value| value.to_str().unwrap_or("?"));
    if values.next().is_some() {
        return Err(UnknownVersion::new("several at once").into());
    }
    let text = first.filter(|text| !text.trim().is_empty()).or_else(|| in_query(uri)).unwrap_or_default();
    Ok(Version::asked(text)?)
}

fn in_query(uri: &Uri) -> Option<&str> {
    let mut pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| name.eq_ignore_ascii_case(VERSION)).map(|(_, value)| value)
}

/// Says which of the extensions that the client named are in use, under the name that it used.
pub(super) fn mark_extensions(headers: &HeaderMap, response: &mut Response) {
    for name in [EXTENSIONS, EARLIER_EXTENSIONS] {
        let named = headers.get_all(&name).iter().filter_map(|value| value.to_str().ok());
        let active = extension::activated(named);
        if let (false, Ok(value)) = (active.is_empty(), HeaderValue::from_str(&active.join(", "))) {
            response.headers_mut().insert(name, value);
        }
    }
}
