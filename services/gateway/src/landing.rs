//! What a browser or a lost client finds at `/`: where the doors are.

use axum::Json;
use axum::extract::Extension;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::site::{ControlSite, TenantSite};

pub(crate) async fn tenant(Extension(site): Extension<TenantSite>) -> Response {
    let base = &site.base_url;
    Json(json!({
        "agent": site.tenant.slug,
        "card": format!("{base}/.well-known/agent-card.json"),
        "a2a": format!("{base}/_a2a/"),
        "mcp": format!("{base}/mcp"),
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
        "mcp": format!("{base}/mcp"),
        "tenants": format!("{base}/t/{{tenant}}/"),
    }))
    .into_response()
}
