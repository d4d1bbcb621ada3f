//! Which headers go out and come back.

use http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONNECTION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH,
    CONTENT_TYPE, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, RANGE, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};

use crate::error::EgressError;

const MOST_HEADERS: usize = 100;
const MOST_BYTES: usize = 32 << 10;

/// What one connection's two ends say to each other, and what follows from the request itself. Left out in silence, as
/// libraries set it as a matter of course.
const HOP: [HeaderName; 12] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    HOST,
    CONTENT_LENGTH,
    EXPECT,
];

/// What goes along when a redirect leads to another origin: any other header may carry a credential.
const ANYWHERE: [HeaderName; 6] = [ACCEPT, ACCEPT_LANGUAGE, CONTENT_LANGUAGE, CONTENT_TYPE, RANGE, USER_AGENT];

/// The headers that a function may send, with those that the platform adds.
pub(crate) fn outgoing(headers: &[(String, Vec<u8>)], stamp: &str) -> Result<HeaderMap, EgressError> {
    let size: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if headers.len() > MOST_HEADERS || size > MOST_BYTES {
        let text = format!("a request has at most {MOST_HEADERS} headers of {MOST_BYTES} bytes in all");
        return Err(EgressError::InvalidRequest(text));
    }
    let mut map = HeaderMap::with_capacity(headers.len() + 3);
    for (name, value) in headers {
        let (name, value) = header(name, value)?;
        if !HOP.contains(&name) && name != ACCEPT_ENCODING {
            map.append(name, value);
        }
    }
    map.entry(USER_AGENT).or_insert(HeaderValue::from_static(concat!("pleat/", env!("CARGO_PKG_VERSION"))));
    map.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate"));
    let (name, stamp) = header_of("x-pleat-tenant", stamp.as_bytes())?;
    map.insert(name, stamp);
    Ok(map)
}

fn header(name: &str, value: &[u8]) -> Result<(HeaderName, HeaderValue), EgressError> {
    let lower = name.to_ascii_lowercase();
    if lower.starts_with("x-pleat-") || lower.starts_with("x-forwarded-") || lower == "forwarded" {
        let text = format!("the header `{}` is the platform's to set; leave it out", shown(name));
        return Err(EgressError::InvalidRequest(text));
    }
    header_of(name, value)
}

fn header_of(name: &str, value: &[u8]) -> Result<(HeaderName, HeaderValue), EgressError> {
    let invalid = |what: &str| {
        let text = format!("the {what} of the header `{}` has a character that no header can carry", shown(name));
        EgressError::InvalidRequest(text)
    };
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid("name"))?;
    Ok((parsed, HeaderValue::from_bytes(value).map_err(|_| invalid("value"))?))
}

fn shown(name: &str) -> String {
    name.chars().take(64).flat_map(char::escape_default).collect()
}

/// Of a request that is sent on to another origin.
pub(crate) fn keep_harmless(headers: &mut HeaderMap) {
    let others: Vec<HeaderName> = headers.keys().filter(|name| !is_harmless(name)).cloned().collect();
    for name in others {
        headers.remove(name);
    }
}

fn is_harmless(name: &HeaderName) -> bool {
    ANYWHERE.contains(name) || *name == ACCEPT_ENCODING || name.as_str() == "x-pleat-tenant"
}

/// Of an answer, without what was true of the connection only.
pub(crate) fn incoming(headers: &HeaderMap, decoded: bool) -> Vec<(String, Vec<u8>)> {
    let gone = |name: &HeaderName| match *name {
        CONTENT_LENGTH | CONTENT_ENCODING => decoded,
        ref name => HOP.contains(name),
    };
    let kept = headers.iter().filter(|(name, _)| !gone(name));
    kept.map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec())).collect()
}
