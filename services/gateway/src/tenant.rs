//! A tenant's own address: its card, its A2A and MCP doors and its functions over plain HTTP.

mod a2a;
pub(crate) mod card;
mod function;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::Uri;

use self::a2a::rest;
use crate::app::App;
use crate::problem::Problem;
use crate::{cors, key_set, landing, mcp};

/// The paths of `router`, for the test that wants an isolation row for each.
const ROUTES: &[(&str, &str)] = &[
    ("GET", "/"),
    ("POST", "/"),
    ("POST", "/_a2a"),
    ("POST", "/_a2a/"),
    ("GET", "/.well-known/agent.json"),
    ("GET", "/.well-known/agent-card.json"),
    ("GET", "/.well-known/jwks.json"),
    ("GET", "/.well-known/oauth-protected-resource"),
    ("GET", "/.well-known/oauth-protected-resource/mcp"),
    ("GET", "/mcp"),
    ("POST", "/mcp"),
    ("DELETE", "/mcp"),
    ("GET", "/{function}"),
    ("POST", "/{function}"),
];

/// Those of the HTTP+JSON binding too, which shares one route of the router.
pub(crate) fn routes() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    ROUTES.iter().chain(rest::ROUTES)
}

pub(crate) fn router(app: App) -> Router {
    let router = Router::new()
        // The documented card's `url` is the origin, so the origin takes A2A requests too.
        .route("/", get(landing::tenant).post(a2a::serve))
        .route("/_a2a", post(a2a::serve))
        .route("/_a2a/", post(a2a::serve))
        .route("/_a2a/rest/{*path}", get(rest::serve).post(rest::serve).delete(rest::serve))
        .route("/.well-known/agent.json", get(card::show))
        .route("/.well-known/agent-card.json", get(card::show))
        .route("/.well-known/jwks.json", get(key_set::show))
        .route("/.well-known/oauth-protected-resource", get(mcp::tenant_metadata))
        .route("/.well-known/oauth-protected-resource/mcp", get(mcp::tenant_metadata))
        .route("/mcp", get(mcp::get).post(mcp::post).delete(mcp::delete))
        .route("/{function}", get(function::describe).post(function::call))
        .fallback(nothing_here)
        .method_not_allowed_fallback(wrong_method);
    cors::around(router, &app.config.cors.tenants).with_state(app)
}

async fn nothing_here(uri: Uri) -> Response {
    refused(&uri, Problem::not_found())
}

async fn wrong_method(uri: Uri) -> Response {
    refused(&uri, Problem::wrong_method())
}

/// At the HTTP+JSON binding, also what it does not have is answered in its words.
fn refused(uri: &Uri, problem: Problem) -> Response {
    match uri.path().strip_prefix("/_a2a/rest") {
        Some(below) if below.is_empty() || below.starts_with('/') => problem.into_status(),
        _ => problem.into_response(),
    }
}
