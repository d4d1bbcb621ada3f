//! Which web pages may talk to this door. A page that a user opens could otherwise use what is public on an intranet, by
//! a name that it points there.

use http::HeaderMap;
use http::header::{HOST, ORIGIN};

use crate::problem::Problem;

/// No origin is no page. A page may be of our own address, of an origin that the operator allows, or, where we are
/// reached on this machine, of this machine.
pub(super) fn check(headers: &HeaderMap, allowed: &[String]) -> Result<(), Problem> {
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default().trim_end_matches('/').to_ascii_lowercase();
    let listed = allowed.iter().any(|one| one == "*" || one.trim_end_matches('/').eq_ignore_ascii_case(&origin));
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default().to_ascii_lowercase();
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
