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

/// Ready: it takes work, and the database answers.
pub(crate) async fn readyz(State(app): State<App>) -> Response {
    let unready = |status: &str| (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "status": status }))).into_response();
    if app.engine.is_draining() {
        return unready("stopping");
    }
    if !app.engine.holds_lease() {
        return unready("out of touch");
    }
    match app.engine.ping().await {
        Ok(()) => Json(json!({ "status": "ready" })).into_response(),
        Err(_) => unready("database unavailable"),
    }
}
