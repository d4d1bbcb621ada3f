//! The keys of a tenant.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use http::{HeaderMap, StatusCode, Uri};
use pleat_engine::NewKeyRequest;
use serde::Deserialize;

use super::query;
use super::views::{KeyView, Keys, NewKey};
use crate::app::App;
use crate::extract::{Member, MemberOf};
use crate::problem::Problem;

/// Make a key with at most the scopes of the key that asks. The key is shown this once.
#[utoipa::path(post, operation_id = "createKey", path = "/tenants/{tenant}/keys", params(("tenant" = String, Path)), request_body = NewKey,
    responses((status = 201, body = KeyView), (status = 403)), security(("key" = [])))]
pub(crate) async fn create(
    State(app): State<App>,
    member: Member,
    headers: HeaderMap,
    sent: Body,
) -> Result<(StatusCode, Json<KeyView>), Problem> {
    let wish: NewKey = query::json(&headers, sent).await?;
    let limits = wish.limits()?;
    let request = NewKeyRequest { scopes: wish.scopes, label: wish.label, expires_at: wish.expires_at, limits };
    let key = app.engine.create_key(&member.tenant, &member.principal, &request).await?;
    let view = KeyView {
        id: key.id,
        key: Some(key.text),
        scopes: key.scopes,
        label: key.label,
        last_four: None,
        created_at: None,
        expires_at: wish.expires_at.map(pleat_domain::timestamp::format),
        revoked_at: None,
        limits: key.limits.into(),
    };
    Ok((StatusCode::CREATED, Json(view)))
}

/// All keys, without what would let anybody use them.
#[utoipa::path(get, operation_id = "listKeys", path = "/tenants/{tenant}/keys", params(("tenant" = String, Path)),
    responses((status = 200, body = Keys)), security(("key" = [])))]
pub(crate) async fn list(State(app): State<App>, member: Member) -> Result<Json<Keys>, Problem> {
    let keys = app.engine.list_keys(&member.tenant, &member.principal).await?;
    Ok(Json(Keys { keys: keys.into_iter().map(KeyView::from).collect() }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Revocation {
    #[serde(default)]
    pub(super) force: bool,
}

/// Revoke a key, at once. The last working admin key needs `force`
#[utoipa::path(delete, operation_id = "revokeKey", path = "/tenants/{tenant}/keys/{id}",
    params(("tenant" = String, Path), ("id" = String, Path),
        ("force" = Option<bool>, Query, description = "`true`: also the last working admin key")),
    responses((status = 204), (status = 404), (status = 409)), security(("key" = [])))]
pub(crate) async fn revoke(
    State(app): State<App>,
    MemberOf { member, name: id }: MemberOf,
    uri: Uri,
) -> Result<StatusCode, Problem> {
    let Revocation { force } = query::parse(&uri)?;
    app.engine.revoke_key(&member.tenant, &member.principal, &id, force).await?;
    Ok(StatusCode::NO_CONTENT)
}
