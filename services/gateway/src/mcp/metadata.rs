//! RFC 9728: how a client that is turned away learns what this resource is and where it can get a token.

use axum::Json;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use pleat_domain::{Scope, Tenant, TenantSlug};
use serde_json::{Value, json};

use crate::app::App;
use crate::extract::Named;
use crate::problem::Problem;
use crate::site::{ControlSite, TenantSite};

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Where the metadata of the door below this address is: the path goes behind the well-known part.
pub(super) fn address(base_url: &str) -> String {
    let (origin, path) = split(base_url);
    format!("{origin}{WELL_KNOWN}{path}/mcp")
}

fn split(base_url: &str) -> (&str, &str) {
    let authority = base_url.find("://").map_or(0, |at| at + 3);
    let path = base_url.get(authority..).and_then(|rest| rest.find('/')).map_or(base_url.len(), |at| authority + at);
    base_url.split_at_checked(path).unwrap_or((base_url, ""))
}

pub(crate) async fn tenant(
    State(app): State<App>,
    Extension(site): Extension<TenantSite>,
) -> Result<Response, Problem> {
    let servers = app.engine.authorization_servers(&site.tenant).await?;
    Ok(of_tenant(&site.base_url, &site.tenant, servers))
}

/// At the control host, for a tenant that is named by its path.
pub(crate) async fn tenant_of_path(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    Named(slug): Named,
) -> Result<Response, Problem> {
    let slug = TenantSlug::parse(&slug).map_err(|_| Problem::not_found())?;
    let tenant = app.engine.tenant(&slug).await?;
    let servers = app.engine.authorization_servers(&tenant).await?;
    Ok(of_tenant(&format!("{}/t/{slug}", site.base_url), &tenant, servers))
}

/// The operators' door takes the platform's own keys only.
pub(crate) async fn control(Extension(site): Extension<ControlSite>) -> Response {
    let scopes = [Scope::Deploy, Scope::Read];
    described(&format!("{}/mcp", site.base_url), "Pleat", &scopes, Vec::new())
}

fn of_tenant(base_url: &str, tenant: &Tenant, servers: Vec<String>) -> Response {
    described(&format!("{base_url}/mcp"), &format!("pleat-{}", tenant.slug), &[Scope::Invoke, Scope::Read], servers)
}

fn described(resource: &str, name: &str, scopes: &[Scope], servers: Vec<String>) -> Response {
    let mut body = json!({
        "resource": resource,
        "resource_name": name,
        "scopes_supported": scopes,
        "bearer_methods_supported": ["header"],
    });
    if let Some(body) = body.as_object_mut().filter(|_| !servers.is_empty()) {
        body.insert("authorization_servers".to_owned(), Value::from(servers));
    }
    Json(body).into_response()
}
