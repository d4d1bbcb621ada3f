//! What a browser or a lost client finds at `/`: where the doors are.

use axum::Json;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;

use crate::app::App;
use crate::site::{ControlSite, TenantSite};

pub(crate) async fn tenant(Extension(site): Extension<TenantSite>) -> Response {
    let base = &site.base_url;
    Json(json!({
        "agent": site.tenant.slug,
        "card": format!("{base}/.well-known/agent-card.json"),
        "a2a": format!("{base}/_a2a/"),
        "http": format!("{base}/{{function}}"),
    }))
    .into_response()
}

pub(crate) async fn control(Extension(site): Extension<ControlSite>) -> Response {
    let base = &site.base_url;
    Json(json!({
        "name": "pleat",
        "version": env!("CARGO_PKG_VERSION"),
        "api": format!("{base}/api/v1"),
        "openapi": format!("{base}/api/v1/openapi.json"),
        "tenants": format!("{base}/t/{{tenant}}/"),
    }))
    .into_response()
}

/// Alive: the process answers.
pub(crate) async fn healthz() -> Response {
    Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") })).into_response()
}

/// Ready: the database answers too.
pub(crate) async fn readyz(State(app): State<App>) -> Response {
    match app.engine.ping().await {
        Ok(()) => Json(json!({ "status": "ready" })).into_response(),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "status": "database unavailable" }))).into_response(),
    }
}
