//! Which site a request is for: the control host, or one tenant. Decided by the route alone, once, before anything else.
//!
//! A tenant is `{tenant}.{base-domain}` or the path prefix `/t/{tenant}/`. `X-Forwarded-Host` is ignored, a
//! request with two opinions about its host is refused, and a host that is not ours gets no site at all.

mod place;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use pleat_domain::{Tenant, TenantSlug};
use tower::ServiceExt;
use tracing::Instrument;

use self::place::{Names, NoPlace, Place};
use crate::app::{App, GatewayConfig};
use crate::bodies::BodyOwner;
use crate::charged_body::charged;
use crate::client_address::ClientAddress;
use crate::leftover::Leftover;
use crate::observe::{Observed, Way};
use crate::problem::Problem;
use crate::{control, tenant};

/// The tenant a request is for, and the address it was reached at (without a trailing slash).
#[derive(Debug, Clone)]
pub(crate) struct TenantSite {
    pub(crate) tenant: Arc<Tenant>,
    pub(crate) base_url: Arc<str>,
}

/// The address of the control host as the client sees it (without a trailing slash).
#[derive(Debug, Clone)]
pub(crate) struct ControlSite {
    pub(crate) base_url: String,
}

/// The whole of what is served. Not a router around routers: that would box, move and match every request once more,
/// to no end.
#[derive(Clone)]
pub(crate) struct Sites(Arc<Routers>);

struct Routers {
    app: App,
    control: Router,
    tenant: Router,
}

impl Sites {
    pub(crate) fn new(app: App) -> Self {
        let (control, tenant) = (control::router(app.clone()), tenant::router(app.clone()));
        Self(Arc::new(Routers { app, control, tenant }))
    }

    pub(crate) async fn serve(&self, request: Request) -> Response {
        let app = &self.0.app;
        let observed = Observed::begin(&request);
        let span = observed.span();
        let client = request.extensions().get::<ClientAddress>().copied();
        let (request, leftover) = Leftover::of(request);
        let (way, response) = match app.strangers.admit(&app.engine, client, request.headers()) {
            Ok(admitted) => {
                let (way, response) = dispatch(&self.0, &leftover, request).instrument(span).await;
                app.strangers.settle(&admitted, way == Way::Nowhere, &response);
                (way, response)
            }
            Err(problem) => (Way::Nowhere, problem.into_protocol_of(request.uri().path())),
        };
        observed.end(&app.counts, way, &response);
        leftover.settled(response).await
    }
}

async fn dispatch(routers: &Routers, leftover: &Leftover, mut request: Request) -> (Way, Response) {
    let Routers { app, control, tenant } = routers;
    let place = match place::of(&names(&app.config), request.headers(), request.uri()) {
        Ok(place) => place,
        Err(none) => return (Way::Nowhere, Problem::from(none).into_response()),
    };
    match place {
        Place::Control { base_url } => {
            leftover.count(&app.bodies, || BodyOwner::of_control(request.uri().path()));
            request.extensions_mut().insert(ControlSite { base_url });
            (Way::Control, serve(control, request).await)
        }
        Place::Tenant { slug, base_url, path } => {
            let found = match TenantSlug::parse(&slug) {
                Ok(slug) => app.engine.tenant(&slug).await,
                Err(_) => Err(pleat_engine::EngineError::UnknownTenant),
            };
            let site = match found {
                Ok(tenant) => TenantSite { tenant, base_url: base_url.into() },
                Err(error) => return (Way::Nowhere, Problem::from(error).into_response()),
            };
            if let Some(path) = path {
                *request.uri_mut() = path;
            }
            let of = Arc::clone(&site.tenant);
            leftover.count(&app.bodies, || BodyOwner::Tenant(site.tenant.id));
            request.extensions_mut().insert(site);
            let way = Way::of_tenant(request.method(), request.uri().path());
            let response = serve(tenant, request).await;
            (way, charged(response, |bytes| app.engine.hold_memory(&of, bytes)).await)
        }
    }
}

async fn serve(router: &Router, request: Request<Body>) -> Response {
    router.clone().oneshot(request).await.into_response()
}

fn names(config: &GatewayConfig) -> Names<'_> {
    Names { base_domain: &config.base_domain, hosts: &config.hosts, public_url: config.public_url.as_deref() }
}

impl From<NoPlace> for Problem {
    fn from(none: NoPlace) -> Self {
        match none {
            NoPlace::BadHost => Self::bad_host(),
            NoPlace::UnknownHost => Self::unknown_host(),
            NoPlace::BadPath => Self::not_found(),
        }
    }
}

/// Where tenants are, below the operator's public address, if there is one: `https://pleat.example/t`.
pub(crate) fn public_addresses(config: &GatewayConfig) -> Option<String> {
    config.public_url.as_ref()?;
    Some(format!("{}/t", place::control_origin(&names(config), "")))
}

/// Whether the address of a site is known to be ours. Without a public address it is what the client wrote into `Host`, which
/// must not decide whom a token was made for.
pub(crate) fn is_own_address(config: &GatewayConfig, base_url: &str) -> bool {
    config.public_url.is_some() || config.loopback_audiences && place::is_loopback(base_url)
}

/// For whom a token may have been made that is shown here: the tenant, by any of its addresses. None where these are not
/// known: then an issuer must name its audiences.
pub(crate) fn audiences(config: &GatewayConfig, slug: &TenantSlug, base_url: &str) -> Vec<String> {
    if !is_own_address(config, base_url) {
        return Vec::new();
    }
    let mut addresses = vec![base_url.to_owned()];
    if config.public_url.is_some() {
        let names = names(config);
        addresses.push(format!("{}/t/{slug}", place::control_origin(&names, "")));
        addresses.push(place::tenant_origin(&names, slug.as_str(), ""));
    }
    let forms =
        |address: String| ["", "/", "/_a2a", "/_a2a/", "/_a2a/rest", "/mcp"].map(|end| format!("{address}{end}"));
    addresses.into_iter().flat_map(forms).collect()
}

/// Kept beside the rest: what a route answers that does not exist.
pub(crate) async fn nothing_here() -> Response {
    Problem::not_found().into_response()
}

pub(crate) async fn wrong_method() -> Response {
    Problem::wrong_method().into_response()
}
