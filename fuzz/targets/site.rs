//! Host and path to a site: whoever is served as a tenant was named, letter for letter, by the one host or by the
//! path. The first line is the target of a request, the others are its `Host` headers.
#![no_main]

use http::header::HOST;
use http::{HeaderMap, HeaderValue, Uri};
use libfuzzer_sys::fuzz_target;
use pleat_domain::TenantSlug;

#[path = "../../services/gateway/src/site/place.rs"]
mod place;

use place::{Names, NoPlace, Place};

const BASE: &str = "agents.example";

fuzz_target!(|bytes: &[u8]| {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let Some(Ok(uri)) = lines.next().map(Uri::try_from) else { return };
    let mut headers = HeaderMap::new();
    for line in lines {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(HOST, value);
        }
    }
    let hosts = ["also.example".to_owned()];
    for public_url in [None, Some("https://agents.example/")] {
        let names = Names { base_domain: BASE, hosts: &hosts, public_url };
        let found = place::of(&names, &headers, &uri);
        assert_eq!(found, place::of(&names, &headers, &uri), "the same request has one site");
        hold(&headers, &uri, &found);
    }
});

fn hold(headers: &HeaderMap, uri: &Uri, found: &Result<Place, NoPlace>) {
    let named = headers.get_all(HOST).iter().count() + usize::from(uri.authority().is_some());
    let Ok(found) = found else { return };
    let header = headers.get(HOST).map(|value| value.to_str().expect("a host is text").to_ascii_lowercase());
    let authority = uri.authority().map(|authority| authority.as_str().to_ascii_lowercase());
    assert!(named == 1 || (named == 2 && header == authority), "one host, or the same twice");
    let host = header.or(authority).expect("a host");
    assert!(!host.contains('@'));
    let Place::Tenant { slug, base_url, path } = found else { return };
    if TenantSlug::parse(slug).is_err() {
        return;
    }
    match path {
        None => {
            let rest = host.strip_prefix(&**slug).and_then(|rest| rest.strip_prefix('.'));
            let rest = rest.and_then(|rest| rest.strip_prefix(BASE)).expect("the host begins with the tenant");
            let rest = rest.strip_prefix('.').unwrap_or(rest);
            let port = rest.strip_prefix(':').unwrap_or(rest);
            assert!(port.bytes().all(|byte| byte.is_ascii_digit()), "and ends in the base domain: {host}");
        }
        Some(path) => {
            let rest = uri.path().strip_prefix("/t/").and_then(|rest| rest.strip_prefix(&**slug));
            let rest = rest.expect("the path begins with the tenant");
            assert!(rest.is_empty() && path.path() == "/" || path.path() == rest, "the rest is what is left");
            assert_eq!(path.query(), uri.query());
            assert!(path.authority().is_none());
            assert!(base_url.ends_with(&format!("/t/{slug}")));
        }
    }
}
