//! The decision itself, from the host and the path alone. It knows nothing of requests, engines and answers, so that a
//! fuzz target can hold it against its rules.

use std::borrow::Cow;

use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderMap, Uri};

/// By which names we are reached.
pub(crate) struct Names<'a> {
    pub(crate) base_domain: &'a str,
    pub(crate) hosts: &'a [String],
    pub(crate) public_url: Option<&'a str>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    Control {
        base_url: String,
    },
    /// `path` is what is left of the path where the tenant was named by it.
    Tenant {
        slug: Cow<'a, str>,
        base_url: String,
        path: Option<Uri>,
    },
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// None, or two opinions.
    BadHost,
    /// Not ours.
    UnknownHost,
    BadPath,
}

pub(crate) fn of<'a>(names: &Names<'_>, headers: &'a HeaderMap, uri: &'a Uri) -> Result<Place<'a>, NoPlace> {
    let authority = authority(headers, uri)?;
    let host = host_of(authority);
    let subdomain = host.strip_suffix(names.base_domain).and_then(|rest| rest.strip_suffix('.'));
    if let Some(slug) = subdomain {
        let base_url = tenant_origin(names, slug, authority);
        return Ok(Place::Tenant { slug: Cow::Owned(slug.to_owned()), base_url, path: None });
    }
    let ours = host == names.base_domain
        || names.hosts.iter().any(|name| *name == host)
        || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok();
    // Probes ask by whatever name they were given.
    if !ours && !matches!(uri.path(), "/healthz" | "/readyz") {
        return Err(NoPlace::UnknownHost);
    }
    match uri.path().strip_prefix("/t/") {
        Some(rest) => {
            let (slug, rest) = rest.split_once('/').unwrap_or((rest, ""));
            let path = path_of(rest, uri.query())?;
            let mut base_url = control_origin(names, authority);
            base_url.reserve_exact("/t/".len() + slug.len());
            base_url.push_str("/t/");
            base_url.push_str(slug);
            Ok(Place::Tenant { slug: Cow::Borrowed(slug), base_url, path: Some(path) })
        }
        None => Ok(Place::Control { base_url: control_origin(names, authority) }),
    }
}

/// Whether the address names this machine, as only clients on it can mean it.
pub(crate) fn is_loopback(base_url: &str) -> bool {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    let host = host_of(rest.split('/').next().unwrap_or_default());
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// The one host the request is for; a second opinion is a fault.
fn authority<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Result<&'a str, NoPlace> {
    let mut named = headers.get_all(HOST).iter();
    let header = named.next().map(|value| value.to_str().map_err(|_| NoPlace::BadHost)).transpose()?;
    let uri = uri.authority().map(http::uri::Authority::as_str);
    let one = match (header, uri, named.next()) {
        (Some(header), Some(uri), None) if header.eq_ignore_ascii_case(uri) => Some(header),
        (Some(host), None, None) | (None, Some(host), None) => Some(host),
        _ => None,
    };
    one.filter(|host| !host.contains('@')).ok_or(NoPlace::BadHost)
}

/// Without port and final dot, in lower case.
fn host_of(authority: &str) -> Cow<'_, str> {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_lower = !host.bytes().any(|byte| byte.is_ascii_uppercase());
    if is_lower { Cow::Borrowed(host) } else { Cow::Owned(host.to_ascii_lowercase()) }
}

pub(crate) fn control_origin(names: &Names<'_>, authority: &str) -> String {
    match names.public_url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => format!("http://{authority}"),
    }
}

pub(crate) fn tenant_origin(names: &Names<'_>, slug: &str, authority: &str) -> String {
    match names.public_url.and_then(|url| url.split_once("://")) {
        Some((scheme, rest)) => format!("{scheme}://{slug}.{}", rest.trim_end_matches('/')),
        None => format!("http://{authority}"),
    }
}

fn path_of(rest: &str, query: Option<&str>) -> Result<Uri, NoPlace> {
    let mut text = String::with_capacity(2 + rest.len() + query.map_or(0, str::len));
    text.push('/');
    text.push_str(rest);
    if let Some(query) = query {
        text.push('?');
        text.push_str(query);
    }
    let path = PathAndQuery::try_from(text).map_err(|_| NoPlace::BadPath)?;
    Ok(Uri::from(path))
}
