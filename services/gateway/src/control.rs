//! The control host: the API for tenants, keys, issuers of tokens, functions, pipelines, secrets, tasks,
//! logs, push notifications and usage, and the probes.

mod audit;
pub(crate) mod auditing;
mod card_keys;
mod functions;
mod guards;
mod issuers;
mod keys;
mod logs;
pub(crate) mod mcp;
mod operator_keys;
mod pipelines;
mod pushes;
mod query;
mod runs;
mod secrets;
mod settings;
mod tasks;
mod tenants;
mod usage;
mod views;
mod whoami;

use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::{cors, key_set, landing, mcp as door, metrics, probes, site};

#[derive(OpenApi)]
#[openapi(info(
    title = "Pleat control API",
    description = "Tenants, keys, functions, pipelines, secrets, tasks, logs and usage. Send a key as `Authorization: Bearer plt_…`."
))]
struct Description;

fn api() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(whoami::whoami))
        .routes(routes!(tenants::create, tenants::list))
        .routes(routes!(tenants::show, tenants::delete))
        .routes(routes!(tenants::set_plan))
        .routes(routes!(tenants::set_card))
        .routes(routes!(card_keys::create, card_keys::list))
        .routes(routes!(card_keys::revoke))
        .routes(routes!(operator_keys::create, operator_keys::list))
        .routes(routes!(operator_keys::rotate))
        .routes(routes!(operator_keys::revoke))
        .routes(routes!(operator_keys::recover_tenant))
        .routes(routes!(audit::of_tenant))
        .routes(routes!(audit::all))
        .routes(routes!(keys::create, keys::list))
        .routes(routes!(keys::revoke))
        .routes(routes!(issuers::create, issuers::list))
        .routes(routes!(issuers::replace_keys))
        .routes(routes!(issuers::delete))
        .routes(routes!(functions::deploy, functions::list))
        .routes(routes!(functions::show, functions::delete))
        .routes(routes!(functions::versions))
        .routes(routes!(functions::rollback))
        .routes(routes!(pipelines::deploy, pipelines::list))
        .routes(routes!(pipelines::show, pipelines::delete))
        .routes(routes!(pipelines::versions))
        .routes(routes!(pipelines::activate))
        .routes(routes!(pipelines::archive))
        .routes(routes!(pipelines::draw))
        .routes(routes!(pipelines::describe))
        .routes(routes!(runs::run, runs::list))
        .routes(routes!(runs::replay))
        .routes(routes!(tasks::list))
        .routes(routes!(tasks::show))
        .routes(routes!(tasks::cancel))
        .routes(routes!(tasks::events))
        .routes(routes!(tasks::trace))
        .routes(routes!(logs::list))
        .routes(routes!(pushes::list))
        .routes(routes!(pushes::deliveries))
        .routes(routes!(pushes::retry))
        .routes(routes!(pushes::key))
        .routes(routes!(usage::show))
        .routes(routes!(usage::all))
        .routes(routes!(secrets::list))
        .routes(routes!(secrets::set, secrets::delete))
        .routes(routes!(guards::list, guards::set_default, guards::delete_default))
        .routes(routes!(guards::show, guards::set, guards::delete))
        .routes(routes!(guards::violations))
        .routes(routes!(guards::replay))
        .routes(routes!(settings::list))
        .routes(routes!(settings::set, settings::delete))
}

pub(crate) fn router(app: App) -> Router {
    let (api, description) = described_api();
    // Once, and not for every request.
    let description = Bytes::from(serde_json::to_vec(&description).unwrap_or_default());
    let router = Router::new()
        .merge(api)
        .route("/", get(landing::control))
        .route("/healthz", get(probes::healthz))
        .route("/readyz", get(probes::readyz))
        .route("/metrics", get(metrics::show))
        .route("/.well-known/jwks.json", get(key_set::show))
        .route("/mcp", get(door::get).post(door::post).delete(door::delete))
        .route("/.well-known/oauth-protected-resource", get(door::control_metadata))
        .route("/.well-known/oauth-protected-resource/mcp", get(door::control_metadata))
        .route("/.well-known/oauth-protected-resource/t/{tenant}/mcp", get(door::tenant_of_path))
        .route("/api/v1/openapi.json", get(move || std::future::ready(document(&description))))
        .fallback(site::nothing_here)
        .method_not_allowed_fallback(site::wrong_method)
        .layer(middleware::from_fn_with_state(app.clone(), auditing::audited));
    cors::around(router, &app.config.cors.control).with_state(app)
}

fn document(description: &Bytes) -> Response {
    ([(CONTENT_TYPE, "application/json")], description.clone()).into_response()
}

/// The operators' door, and how to get in there and at the tenants'.
const MCP: &[(&str, &str)] = &[
    ("GET", "/mcp"),
    ("POST", "/mcp"),
    ("DELETE", "/mcp"),
    ("GET", "/.well-known/oauth-protected-resource"),
    ("GET", "/.well-known/oauth-protected-resource/mcp"),
    ("GET", "/.well-known/oauth-protected-resource/t/{tenant}/mcp"),
];

fn described_api() -> (Router<App>, utoipa::openapi::OpenApi) {
    let (router, mut description) = OpenApiRouter::new().nest("/api/v1", api()).split_for_parts();
    description.info = Description::openapi().info;
    let key = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    description.components.get_or_insert_default().add_security_scheme("key", key);
    (router, description)
}

/// Method and path of everything on this site.
pub(crate) fn described() -> Vec<(String, String)> {
    let document = serde_json::to_value(described_api().1).unwrap_or_default();
    let paths = document.get("paths").and_then(|paths| paths.as_object()).cloned().unwrap_or_default();
    let mut all: Vec<(String, String)> = paths
        .into_iter()
        .flat_map(|(path, item)| {
            let methods: Vec<String> = item.as_object().into_iter().flat_map(|item| item.keys().cloned()).collect();
            methods.into_iter().map(move |method| (method.to_ascii_uppercase(), path.clone()))
        })
        .filter(|(method, _)| matches!(method.as_str(), "GET" | "POST" | "PUT" | "PATCH" | "DELETE"))
        .collect();
    for open in ["/", "/healthz", "/readyz", "/metrics", "/.well-known/jwks.json", "/api/v1/openapi.json"] {
        all.push(("GET".to_owned(), open.to_owned()));
    }
    for (method, path) in MCP {
        all.push(((*method).to_owned(), (*path).to_owned()));
    }
    all
}
