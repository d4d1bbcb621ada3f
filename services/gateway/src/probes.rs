//! What an orchestrator and a scraper ask: is it alive, is it ready, how does it do.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::Method;
use serde_json::json;

use crate::app::App;
use crate::problem::{NOT_READY, Problem};
use crate::{metrics, sse};

/// Alive: the process answers. Nothing is asked of anything else, so that a lost database restarts no node.
pub(crate) async fn healthz(State(app): State<App>) -> Response {
    let health = json!({
        "ok": true,
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "activeSse": sse::open(),
        "tasks": app.engine.running_tasks(),
        "uptime": app.started.elapsed().as_secs(),
    });
    Json(health).into_response()
}

/// Ready: work that is sent here is done. Otherwise 503, with every reason.
pub(crate) async fn readyz(State(app): State<App>) -> Response {
    let reasons = app.engine.unready().await;
    if reasons.is_empty() {
        return Json(json!({ "status": "ready" })).into_response();
    }
    (NOT_READY, Json(json!({ "status": "not ready", "reasons": reasons }))).into_response()
}

/// The second address: these three, and nothing that belongs to a tenant. Whoever can reach it may read it.
pub(crate) async fn serve(app: App, request: Request) -> Response {
    let (asked, _) = request.into_parts();
    match (&asked.method, asked.uri.path()) {
        (&Method::GET, "/metrics") => metrics::text(&app).unwrap_or_else(IntoResponse::into_response),
        (&Method::GET, "/healthz") => healthz(State(app)).await,
        (&Method::GET, "/readyz") => readyz(State(app)).await,
        _ => Problem::not_found().into_response(),
    }
}
