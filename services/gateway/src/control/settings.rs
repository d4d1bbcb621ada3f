//! The settings of a tenant: plain values that functions read by name.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use http::{HeaderMap, StatusCode};

use super::query;
use super::views::{NewValue, SettingView, Settings};
use crate::app::App;
use crate::extract::{Member, MemberOf};
use crate::problem::Problem;

/// Set a setting. Functions that were granted it get the new value from their next call on.
#[utoipa::path(put, operation_id = "setSetting", path = "/tenants/{tenant}/settings/{name}",
    params(("tenant" = String, Path), ("name" = String, Path)), request_body = NewValue,
    responses((status = 204), (status = 400)), security(("key" = [])))]
pub(crate) async fn set(
    State(app): State<App>,
    MemberOf { member, name }: MemberOf,
    headers: HeaderMap,
    sent: Body,
) -> Result<StatusCode, Problem> {
    let new: NewValue = query::setting(&headers, sent).await?;
    app.engine.set_setting(&member.tenant, &member.principal, &name, &new.value).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// All settings with their values.
#[utoipa::path(get, operation_id = "listSettings", path = "/tenants/{tenant}/settings", params(("tenant" = String, Path)),
    responses((status = 200, body = Settings)), security(("key" = [])))]
pub(crate) async fn list(State(app): State<App>, member: Member) -> Result<Json<Settings>, Problem> {
    let settings = app.engine.settings(&member.tenant, &member.principal).await?;
    Ok(Json(Settings { settings: settings.into_iter().map(SettingView::from).collect() }))
}

/// Delete a setting.
#[utoipa::path(delete, operation_id = "deleteSetting", path = "/tenants/{tenant}/settings/{name}",
    params(("tenant" = String, Path), ("name" = String, Path)),
    responses((status = 204), (status = 404)), security(("key" = [])))]
pub(crate) async fn delete(State(app): State<App>, MemberOf { member, name }: MemberOf) -> Result<StatusCode, Problem> {
    app.engine.delete_setting(&member.tenant, &member.principal, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
