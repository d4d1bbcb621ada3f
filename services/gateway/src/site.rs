//! Which site a request is for: the control host, or one tenant. Decided by the route alone, once, before anything else.
//!
//! A tenant is `{tenant}.{base-domain}` or the path prefix `/t/{tenant}/`. Forwarding headers are not looked at, a
//! request with two opinions about its host is refused, and a host that is not ours gets no site at all.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::header::HOST;
use http::uri::PathAndQuery;
use http::{StatusCode, Uri};
use pleat_domain::{Tenant, TenantSlug};
use tower::ServiceExt;

use crate::app::{App, GatewayConfig};
use crate::problem::Problem;
use crate::{control, tenant};

/// The tenant a request is for, and the address it was reached at (without a trailing slash).
#[derive(Debug, Clone)]
pub(crate) struct TenantSite {
    pub(crate) tenant: Arc<Tenant>,
    pub(crate) base_url: String,
}

/// The address of the control host as the client sees it (without a trailing slash).
#[derive(Debug, Clone)]
pub(crate) struct ControlSite {
    pub(crate) base_url: String,
}

/// The whole of what is served.
pub fn router(app: App) -> Router {
    let control = control::router(app.clone());
    let tenant = tenant::router(app.clone());
    Router::new().fallback(move |request: Request| {
        let (app, control, tenant) = (app.clone(), control.clone(), tenant.clone());
        async move { dispatch(app, control, tenant, request).await }
    })
}

async fn dispatch(app: App, control: Router, tenant: Router, mut request: Request) -> Response {
    let place = match place(&app.config, &request) {
        Ok(place) => place,
        Err(problem) => return problem.into_response(),
    };
    match place {
        Place::Control { base_url } => {
            request.extensions_mut().insert(ControlSite { base_url });
            serve(control, request).await
        }
        Place::Tenant { slug, base_url, path } => {
            let found = match TenantSlug::parse(&slug) {
                Ok(slug) => app.engine.tenant(&slug).await,
                Err(_) => Err(pleat_engine::EngineError::UnknownTenant),
            };
            let site = match found {
                Ok(tenant) => TenantSite { tenant, base_url },
                Err(error) => return Problem::from(error).into_response(),
            };
            if let Some(path) = path {
                *request.uri_mut() = path;
            }
            request.extensions_mut().insert(site);
            serve(tenant, request).await
        }
    }
}

async fn serve(router: Router, request: Request<Body>) -> Response {
    router.oneshot(request).await.into_response()
}

enum Place {
    Control { base_url: String },
    Tenant { slug: String, base_url: String, path: Option<Uri> },
}

fn place(config: &GatewayConfig, request: &Request) -> Result<Place, Problem> {
    let authority = authority(request)?;
    let host = host_of(authority);
    let subdomain = host.strip_suffix(config.base_domain.as_str()).and_then(|rest| rest.strip_suffix('.'));
    if let Some(slug) = subdomain {
        let base_url = tenant_origin(config, slug, authority);
        return Ok(Place::Tenant { slug: slug.to_owned(), base_url, path: None });
    }
    let ours = host == config.base_domain
        || config.hosts.contains(&host)
        || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok();
    // Probes ask by whatever name they were given.
    if !ours && !matches!(request.uri().path(), "/healthz" | "/readyz") {
        return Err(Problem::unknown_host());
    }
    let origin = control_origin(config, authority);
    match request.uri().path().strip_prefix("/t/") {
        Some(rest) => {
            let (slug, rest) = rest.split_once('/').unwrap_or((rest, ""));
            let path = path_of(rest, request.uri().query())?;
            Ok(Place::Tenant { slug: slug.to_owned(), base_url: format!("{origin}/t/{slug}"), path: Some(path) })
        }
        None => Ok(Place::Control { base_url: origin }),
    }
}

/// The one host the request is for; a second opinion is a fault.
fn authority(request: &Request) -> Result<&str, Problem> {
    let mut named = request.headers().get_all(HOST).iter();
    let header = named.next().map(|value| value.to_str().unwrap_or("\0"));
    let uri = request.uri().authority().map(http::uri::Authority::as_str);
    let one = match (header, uri, named.next()) {
        (Some(header), Some(uri), None) if header.eq_ignore_ascii_case(uri) => Some(header),
        (Some(host), None, None) | (None, Some(host), None) => Some(host),
        _ => None,
    };
    one.filter(|host| !host.contains('@')).ok_or_else(Problem::bad_host)
}

/// Without port and final dot, in lower case.
fn host_of(authority: &str) -> String {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

fn control_origin(config: &GatewayConfig, authority: &str) -> String {
    match &config.public_url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => format!("http://{authority}"),
    }
}

fn tenant_origin(config: &GatewayConfig, slug: &str, authority: &str) -> String {
    match config.public_url.as_deref().and_then(|url| url.split_once("://")) {
        Some((scheme, rest)) => format!("{scheme}://{slug}.{}", rest.trim_end_matches('/')),
        None => format!("http://{authority}"),
    }
}

fn path_of(rest: &str, query: Option<&str>) -> Result<Uri, Problem> {
    let text = match query {
        Some(query) => format!("/{rest}?{query}"),
        None => format!("/{rest}"),
    };
    let path = PathAndQuery::try_from(text).map_err(|_| Problem::not_found())?;
    Ok(Uri::from(path))
}

/// Kept beside the rest: what a route answers that does not exist.
pub(crate) async fn nothing_here() -> Response {
    Problem::not_found().into_response()
}

pub(crate) async fn wrong_method() -> Response {
    Problem::plain(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "this path does not take that method")
        .into_response()
}
