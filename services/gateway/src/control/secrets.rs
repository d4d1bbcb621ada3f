//! The secrets of a tenant: set, list by name, delete. There is no way to read one.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use http::{HeaderMap, StatusCode};

use super::query;
use super::views::{NewValue, SecretView, Secrets};
use crate::app::App;
use crate::extract::{Member, MemberOf};
use crate::problem::Problem;

/// Set a secret. Functions that were granted it get the new value from their next call on.
#[utoipa::path(put, operation_id = "setSecret", path = "/tenants/{tenant}/secrets/{name}",
    params(("tenant" = String, Path), ("name" = String, Path)), request_body = NewValue,
    responses((status = 204), (status = 400)), security(("key" = [])))]
pub(crate) async fn set(
    State(app): State<App>,
    MemberOf { member, name }: MemberOf,
    headers: HeaderMap,
    sent: Body,
) -> Result<StatusCode, Problem> {
    let new: NewValue = query::setting(&headers, sent).await?;
    app.engine.set_secret(&member.tenant, &member.principal, &name, &new.value).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// All secrets, without what they say.
#[utoipa::path(get, operation_id = "listSecrets", path = "/tenants/{tenant}/secrets", params(("tenant" = String, Path)),
    responses((status = 200, body = Secrets)), security(("key" = [])))]
pub(crate) async fn list(State(app): State<App>, member: Member) -> Result<Json<Secrets>, Problem> {
    let secrets = app.engine.secrets(&member.tenant, &member.principal).await?;
    Ok(Json(Secrets { secrets: secrets.into_iter().map(SecretView::from).collect() }))
}

/// Delete a secret.
#[utoipa::path(delete, operation_id = "deleteSecret", path = "/tenants/{tenant}/secrets/{name}",
    params(("tenant" = String, Path), ("name" = String, Path)),
    responses((status = 204), (status = 404)), security(("key" = [])))]
pub(crate) async fn delete(State(app): State<App>, MemberOf { member, name }: MemberOf) -> Result<StatusCode, Problem> {
    app.engine.delete_secret(&member.tenant, &member.principal, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
