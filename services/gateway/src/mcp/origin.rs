//! Which web pages may talk to this door. A page that a user opens could otherwise use what is public on an intranet, by
//! a name that it points there.

use http::HeaderMap;
use http::header::{HOST, ORIGIN};

use crate::problem::Problem;

/// No origin is no page. A page may be of our own address, of an origin that the operator allows, or, where we are
/// reached on this machine, of this machine. `base_url`: what we were reached at, which HTTP/2 has no header for.
pub(super) fn check(headers: &HeaderMap, base_url: &str, allowed: &[String]) -> Result<(), Problem> {
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default().trim_end_matches('/').to_ascii_lowercase();
    let listed = allowed.iter().any(|one| one == "*" || one.trim_end_matches('/').eq_ignore_ascii_case(&origin));
    let reached = base_url.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or_default());
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).or(reached);
    let host = host.unwrap_or_default().to_ascii_lowercase();
    let of_page = origin.split_once("://").map(|(_, authority)| authority).unwrap_or_default();
    let own = !of_page.is_empty() && of_page == host;
    if listed || own || (is_local(of_page) && is_local(&host)) { Ok(()) } else { Err(Problem::forbidden_origin()) }
}

fn is_local(authority: &str) -> bool {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_page_of_our_own_address_may_talk_to_us_over_every_version_of_http() {
        let asks = |origin: &'static str, host: Option<&'static str>| {
            let mut headers = HeaderMap::from_iter([(ORIGIN, HeaderValue::from_static(origin))]);
            headers.extend(host.map(|host| (HOST, HeaderValue::from_static(host))));
            check(&headers, "https://acme.example/t/x", &[]).is_ok()
        };
        assert!(asks("https://acme.example", Some("acme.example")));
        assert!(asks("https://acme.example", None), "HTTP/2 has `:authority` in place of the header");
        assert!(!asks("https://evil.example", None));
        assert!(!asks("http://localhost:3000", None));
    }
}
