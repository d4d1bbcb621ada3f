//! Who issues tokens for a tenant.

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use http::{HeaderMap, StatusCode};
use pleat_engine::{KeySource, NewIssuerRequest};

use super::query;
use super::views::{IssuerView, Issuers, NewIssuer, NewKeySet};
use crate::app::App;
use crate::extract::{Member, MemberOf};
use crate::problem::Problem;
use crate::site::{self, ControlSite};

/// Register an issuer of tokens, with its keys or the URL they are served at.
#[utoipa::path(post, operation_id = "createIssuer", path = "/tenants/{tenant}/issuers", params(("tenant" = String, Path)), request_body = NewIssuer,
    responses((status = 201, body = IssuerView), (status = 400), (status = 403), (status = 409)), security(("key" = [])))]
pub(crate) async fn create(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    member: Member,
    headers: HeaderMap,
    sent: Body,
) -> Result<(StatusCode, Json<IssuerView>), Problem> {
    let wish: NewIssuer = query::json(&headers, sent).await?;
    let limits = wish.limits()?;
    let NewIssuer { issuer, audiences, jwks, jwks_url, scopes, .. } = wish;
    let keys = match (jwks, jwks_url) {
        (Some(jwks), None) => KeySource::Given(jwks),
        (None, Some(url)) => KeySource::Url(url),
        _ => return Err(Problem::invalid("give either `jwks` or `jwksUrl`")),
    };
    if audiences.is_empty() && !site::is_own_address(&app.config, &site.base_url) {
        return Err(Problem::audiences_needed());
    }
    let request = NewIssuerRequest { issuer, audiences, keys, scopes, limits };
    let record = app.engine.create_issuer(&member.tenant, &member.principal, request).await?;
    Ok((StatusCode::CREATED, Json(record.into())))
}

/// All issuers, with the keys that were given.
#[utoipa::path(get, operation_id = "listIssuers", path = "/tenants/{tenant}/issuers", params(("tenant" = String, Path)),
    responses((status = 200, body = Issuers)), security(("key" = [])))]
pub(crate) async fn list(State(app): State<App>, member: Member) -> Result<Json<Issuers>, Problem> {
    let issuers = app.engine.list_issuers(&member.tenant, &member.principal).await?;
    Ok(Json(Issuers { issuers: issuers.into_iter().map(IssuerView::from).collect() }))
}

/// Give an issuer other keys; tokens signed with the old ones end at once.
#[utoipa::path(put, operation_id = "replaceIssuerKeys", path = "/tenants/{tenant}/issuers/{id}/jwks",
    params(("tenant" = String, Path), ("id" = String, Path)), request_body = NewKeySet,
    responses((status = 204), (status = 400), (status = 404)), security(("key" = [])))]
pub(crate) async fn replace_keys(
    State(app): State<App>,
    MemberOf { member, name: id }: MemberOf,
    headers: HeaderMap,
    sent: Body,
) -> Result<StatusCode, Problem> {
    let NewKeySet { jwks } = query::json(&headers, sent).await?;
    app.engine.replace_issuer_keys(&member.tenant, &member.principal, &id, &jwks).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Remove an issuer; its tokens end at once.
#[utoipa::path(delete, operation_id = "deleteIssuer", path = "/tenants/{tenant}/issuers/{id}",
    params(("tenant" = String, Path), ("id" = String, Path)),
    responses((status = 204), (status = 404)), security(("key" = [])))]
pub(crate) async fn delete(
    State(app): State<App>,
    MemberOf { member, name: id }: MemberOf,
) -> Result<StatusCode, Problem> {
    app.engine.delete_issuer(&member.tenant, &member.principal, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
