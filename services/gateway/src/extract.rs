//! Who asks, and on whose behalf: values that a handler must hold before it can call a use case.

use std::collections::HashMap;
use std::sync::Arc;

use axum::RequestPartsExt;
use axum::extract::{FromRequestParts, Path};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use http::request::Parts;
use pleat_a2a::MESSAGE_ONCE;
use pleat_domain::{Message, Principal, Tenant, TenantSlug};
use pleat_engine::{EngineError, IdempotencyKey};

use crate::app::App;
use crate::control::auditing::Authenticated;
use crate::problem::Problem;
use crate::site::{self, ControlSite, TenantSite};

/// A caller at a tenant's own address.
pub(crate) struct Visitor {
    pub(crate) site: TenantSite,
    pub(crate) principal: Principal,
}

impl FromRequestParts<App> for Visitor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let site = parts.extensions.get::<TenantSite>().cloned().ok_or_else(Problem::not_found)?;
        let audiences = || site::audiences(&app.config, &site.tenant.slug, &site.base_url);
        let principal = app.engine.authenticate(&site.tenant, bearer(&parts.headers)?, audiences).await?;
        Ok(Self { site, principal })
    }
}

/// A caller of the control API, for the tenant that the path names.
pub(crate) struct Member {
    pub(crate) tenant: Arc<Tenant>,
    pub(crate) principal: Principal,
    /// The tenant's own address at this host, for which tokens are made.
    pub(crate) base_url: String,
}

impl FromRequestParts<App> for Member {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Path(path): Path<HashMap<String, String>> = parts.extract().await.map_err(|_| Problem::not_found())?;
        let named = path.get("tenant").map(String::as_str).unwrap_or_default();
        // A tenant that does not exist answers as one whose key the caller does not have.
        let slug = TenantSlug::parse(named).map_err(|_| EngineError::Unauthenticated)?;
        let tenant = app.engine.tenant(&slug).await.map_err(|error| match error {
            EngineError::UnknownTenant => EngineError::Unauthenticated,
            error => error,
        })?;
        let control = parts.extensions.get::<ControlSite>().map(|site| site.base_url.as_str()).unwrap_or_default();
        let base_url = format!("{control}/t/{slug}");
        let audiences = || site::audiences(&app.config, &slug, &base_url);
        let principal = app.engine.authenticate(&tenant, bearer(&parts.headers)?, audiences).await?;
        Authenticated::note(&parts.extensions, &principal);
        Ok(Self { tenant, principal, base_url })
    }
}

/// The same, for the one thing of the tenant that the path names after it.
pub(crate) struct MemberOf {
    pub(crate) member: Member,
    pub(crate) name: String,
}

impl FromRequestParts<App> for MemberOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let member = Member::from_request_parts(parts, app).await?;
        let path: Result<Path<(String, String)>, _> = parts.extract().await;
        let Path((_tenant, name)) = path.map_err(|_| Problem::not_found())?;
        Ok(Self { member, name })
    }
}

/// A caller of the platform's own routes.
pub(crate) struct Platform(pub(crate) Principal);

impl FromRequestParts<App> for Platform {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let principal = app.engine.authenticate_platform(bearer(&parts.headers)?).await?;
        Authenticated::note(&parts.extensions, &principal);
        Ok(Self(principal))
    }
}

/// The one name in a path. Bytes that are no text name nothing.
pub(crate) struct Named(pub(crate) String);

impl FromRequestParts<App> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let Path(name): Path<String> = parts.extract().await.map_err(|_| Problem::not_found())?;
        Ok(Self(name))
    }
}

/// What makes a send happen once: a key, or the message's own id where its sender wants that to be enough.
pub(crate) fn once(headers: &HeaderMap, message: Option<&Message>) -> Result<Option<IdempotencyKey>, Problem> {
    if let Some(key) = idempotency_key(headers)? {
        return Ok(Some(key));
    }
    let named = ["a2a-extensions", "x-a2a-extensions"].into_iter().flat_map(|name| headers.get_all(name));
    let named = named.filter_map(|value| value.to_str().ok()).flat_map(|list| list.split(','));
    let asked = named.map(str::trim).any(|uri| uri == MESSAGE_ONCE);
    let counts = |message: &&Message| asked || message.extensions.iter().any(|uri| uri == MESSAGE_ONCE);
    Ok(message.filter(counts).map(|message| IdempotencyKey::of_message(&message.message_id)))
}

pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Problem> {
    let mut sent = headers.get_all("idempotency-key").iter();
    let Some(value) = sent.next() else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    if sent.next().is_some() {
        return Err(Problem::invalid("`Idempotency-Key` must be sent once"));
    }
    Ok(Some(IdempotencyKey::parse(text)?))
}

/// The key or token, if one is shown. What is shown and is no bearer key is refused, not overlooked.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut shown = headers.get_all(AUTHORIZATION).iter();
    let Some(first) = shown.next() else { return Ok(None) };
    let refused = || Problem::from(EngineError::Unauthenticated);
    if shown.next().is_some() {
        return Err(refused());
    }
    let text = first.to_str().map_err(|_| refused())?;
    let (scheme, key) = text.split_once(' ').ok_or_else(refused)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(Some(key.trim())) } else { Err(refused()) }
}
