//! Keys of operators, and the recovery key that an operator gives a tenant.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use http::{HeaderMap, StatusCode, Uri};
use pleat_domain::{TenantSlug, timestamp};
use pleat_engine::{EngineError, MintedKey};
use time::OffsetDateTime;

use super::keys::Revocation;
use super::query;
use super::views::{KeyView, Keys, NewOperatorKey, RecoveryKey};
use crate::app::App;
use crate::extract::{Named, Platform};
use crate::problem::Problem;

/// Create an operator key. It is shown this once
#[utoipa::path(post, operation_id = "createOperatorKey", path = "/operator-keys", request_body = NewOperatorKey,
    responses((status = 201, body = KeyView), (status = 403)), security(("key" = [])))]
pub(crate) async fn create(
    State(app): State<App>,
    Platform(principal): Platform,
    headers: HeaderMap,
    sent: Body,
) -> Result<(StatusCode, Json<KeyView>), Problem> {
    let new: NewOperatorKey = query::optional_json(&headers, sent).await?;
    let key = app.engine.create_operator_key(&principal, &new.label, new.expires_at).await?;
    Ok((StatusCode::CREATED, Json(shown(key, new.expires_at))))
}

/// List the operator keys, revoked ones too
#[utoipa::path(get, operation_id = "listOperatorKeys", path = "/operator-keys",
    responses((status = 200, body = Keys), (status = 403)), security(("key" = [])))]
pub(crate) async fn list(State(app): State<App>, Platform(principal): Platform) -> Result<Json<Keys>, Problem> {
    let keys = app.engine.operator_keys(&principal).await?;
    Ok(Json(Keys { keys: keys.into_iter().map(KeyView::from).collect() }))
}

/// Replace an operator key by a new one, at once. The new one is shown this once
#[utoipa::path(post, operation_id = "rotateOperatorKey", path = "/operator-keys/{id}/rotate",
    params(("id" = String, Path)),
    responses((status = 201, body = KeyView), (status = 404)), security(("key" = [])))]
pub(crate) async fn rotate(
    State(app): State<App>,
    Platform(principal): Platform,
    Named(id): Named,
) -> Result<(StatusCode, Json<KeyView>), Problem> {
    let key = app.engine.rotate_operator_key(&principal, &id).await?;
    Ok((StatusCode::CREATED, Json(shown(key, None))))
}

/// Revoke an operator key, at once. The last working one needs `force`
#[utoipa::path(delete, operation_id = "revokeOperatorKey", path = "/operator-keys/{id}",
    params(("id" = String, Path), ("force" = Option<bool>, Query, description = "`true`: also the last working one")),
    responses((status = 204), (status = 404), (status = 409)), security(("key" = [])))]
pub(crate) async fn revoke(
    State(app): State<App>,
    Platform(principal): Platform,
    Named(id): Named,
    uri: Uri,
) -> Result<StatusCode, Problem> {
    let Revocation { force } = query::parse(&uri)?;
    app.engine.revoke_operator_key(&principal, &id, force).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Create an admin key for a tenant that has lost its own. It is shown this once
#[utoipa::path(post, operation_id = "recoverTenantKey", path = "/tenants/{tenant}/recovery-key",
    params(("tenant" = String, Path)), request_body = RecoveryKey,
    responses((status = 201, body = KeyView), (status = 403), (status = 404)), security(("key" = [])))]
pub(crate) async fn recover_tenant(
    State(app): State<App>,
    Platform(principal): Platform,
    Named(tenant): Named,
    headers: HeaderMap,
    sent: Body,
) -> Result<(StatusCode, Json<KeyView>), Problem> {
    let wish: RecoveryKey = query::optional_json(&headers, sent).await?;
    let slug = TenantSlug::parse(&tenant).map_err(|_| EngineError::UnknownTenant)?;
    let key = app.engine.recover_tenant_key(&principal, &slug, wish.expires_at).await?;
    Ok((StatusCode::CREATED, Json(shown(key, wish.expires_at))))
}

fn shown(key: MintedKey, expires_at: Option<OffsetDateTime>) -> KeyView {
    KeyView {
        id: key.id,
        key: Some(key.text),
        scopes: key.scopes,
        label: key.label,
        last_four: None,
        created_at: None,
        expires_at: expires_at.map(timestamp::format),
        revoked_at: None,
        limits: key.limits.into(),
    }
}
