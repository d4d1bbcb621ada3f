//! Who asks, and at which of the two doors.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::HeaderMap;
use http::request::Parts;
use pleat_domain::{Principal, Scope, Tenant};
use pleat_engine::EngineError;
use serde_json::{Value, json};

use super::{metadata, origin};
use crate::app::App;
use crate::extract::{self, Visitor};
use crate::problem::Problem;
use crate::site::{ControlSite, TenantSite};
use crate::stream_caller;
use crate::tenant::card;

/// One of the doors, with the address it was reached at (without a trailing slash).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surface {
    /// A tenant's functions.
    Tenant,
    /// The tenant's platform: deploy, look, roll back.
    Control,
}

impl Surface {
    /// What a key needs to come in.
    pub(super) const fn least(self) -> Scope {
        match self {
            Self::Tenant => Scope::Invoke,
            Self::Control => Scope::Read,
        }
    }
}

#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) app: App,
    pub(crate) surface: Surface,
    pub(crate) tenant: Arc<Tenant>,
    pub(crate) base_url: Arc<str>,
    pub(crate) principal: Principal,
}

impl Peer {
    pub(crate) fn is_control(&self) -> bool {
        self.surface == Surface::Control
    }

    /// What the server calls itself.
    pub(super) fn server(&self) -> Value {
        let name = match self.surface {
            Surface::Tenant => format!("pleat-{}", self.tenant.slug),
            Surface::Control => "pleat".to_owned(),
        };
        json!({ "name": name, "version": env!("CARGO_PKG_VERSION") })
    }

    /// Where the handshake is written down: in the agent's card.
    pub(super) fn recipe(&self) -> String {
        match self.surface {
            Surface::Tenant => card::recipe_url(&self.tenant, &self.base_url),
            Surface::Control => card::recipe_url(&self.tenant, &format!("{}/t/{}", self.base_url, self.tenant.slug)),
        }
    }

    /// Whether who came in with these headers still would.
    pub(super) async fn is_welcome(&self, headers: &HeaderMap) -> bool {
        let engine = &self.app.engine;
        let Ok(key) = extract::bearer(headers) else { return false };
        let still = stream_caller::is_still(&self.app, &self.tenant, &self.principal, &self.base_url, key).await;
        let shut = match self.surface {
            Surface::Tenant => engine.may_visit(&self.tenant, &self.principal).await,
            Surface::Control => engine.may_look(&self.principal),
        };
        still && !matches!(shut, Err(EngineError::Unauthenticated))
    }

    async fn let_in(self) -> Result<Self, Problem> {
        match self.surface {
            Surface::Tenant => self.app.engine.may_visit(&self.tenant, &self.principal).await?,
            Surface::Control => self.app.engine.may_look(&self.principal)?,
        }
        Ok(self)
    }
}

impl FromRequestParts<App> for Peer {
    type Rejection = Problem;

    /// Every refusal says where the way in is described.
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let cors = &app.config.cors;
        let sites = (parts.extensions.get::<TenantSite>(), parts.extensions.get::<ControlSite>());
        let (surface, base_url, origins) = match sites {
            (Some(site), _) => (Surface::Tenant, &*site.base_url, &cors.tenants),
            (None, Some(site)) => (Surface::Control, site.base_url.as_str(), &cors.control),
            (None, None) => return Err(Problem::not_found()),
        };
        origin::check(&parts.headers, base_url, origins)?;
        let peer = match surface {
            Surface::Control => operator(parts, app).await,
            Surface::Tenant => visitor(parts, app).await,
        };
        let let_in = match peer {
            Ok(peer) => peer.let_in().await,
            Err(problem) => Err(problem),
        };
        let_in.map_err(|problem| {
            let at_tenant = parts.extensions.get::<TenantSite>().map(|site| &*site.base_url);
            let at_control = parts.extensions.get::<ControlSite>().map(|site| site.base_url.as_str());
            let place = metadata::address(at_tenant.or(at_control).unwrap_or_default());
            let shown = parts.headers.contains_key(http::header::AUTHORIZATION);
            problem.challenged(&place, shown, surface.least())
        })
    }
}

async fn visitor(parts: &mut Parts, app: &App) -> Result<Peer, Problem> {
    let Visitor { site, principal } = Visitor::from_request_parts(parts, app).await?;
    let TenantSite { tenant, base_url } = site;
    Ok(Peer { app: app.clone(), surface: Surface::Tenant, tenant, base_url, principal })
}

/// The key says which tenant is meant; an address that says another is a mistake (`/mcp?tenant=acme`).
async fn operator(parts: &mut Parts, app: &App) -> Result<Peer, Problem> {
    let base_url = parts.extensions.get::<ControlSite>().map(|site| site.base_url.as_str()).unwrap_or_default().into();
    let principal = app.engine.authenticate_platform(extract::bearer(&parts.headers)?).await?;
    let home = app.engine.home_of(&principal).await?.ok_or(EngineError::Unauthenticated)?;
    let named =
        parts.uri.query().into_iter().flat_map(|query| query.split('&')).find_map(|pair| pair.strip_prefix("tenant="));
    if named.is_some_and(|named| named != home.slug.as_str()) {
        return Err(EngineError::Unauthenticated.into());
    }
    Ok(Peer { app: app.clone(), surface: Surface::Control, tenant: Arc::new(home), base_url, principal })
}
