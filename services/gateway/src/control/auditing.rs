//! Around every changing request of the control host: where it comes from, and a row in the audit log if it was denied.
//!
//! Changes that were made are recorded by the engine, in their transactions.

use std::sync::{Arc, OnceLock};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use pleat_domain::{AuditAction, Principal};
use pleat_engine::{AuditClient, audit_client};
use uuid::Uuid;

use crate::app::App;
use crate::client_address::ClientAddress;
use crate::problem::LacksScope;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const MAX_REQUEST_ID: usize = 64;
const MAX_USER_AGENT: usize = 200;

/// Who was authenticated for a request; extractors fill it in.
#[derive(Clone, Default)]
pub(crate) struct Authenticated(Arc<OnceLock<Principal>>);

impl Authenticated {
    pub(crate) fn note(extensions: &http::Extensions, principal: &Principal) {
        if let Some(Self(slot)) = extensions.get() {
            // The first one stays: a request has one.
            let _ = slot.set(principal.clone());
        }
    }
}

/// Routes that change something, and what they do. A route that is missing here is a call, which has a task as its
/// record, or changes nothing.
const ACTIONS: &[(&str, &str, AuditAction)] = &[
    ("POST", "/tenants", AuditAction::TenantCreate),
    ("DELETE", "/tenants/{tenant}", AuditAction::TenantDelete),
    ("PUT", "/tenants/{tenant}/plan", AuditAction::TenantPlan),
    ("PUT", "/tenants/{tenant}/card", AuditAction::TenantCard),
    ("POST", "/tenants/{tenant}/recovery-key", AuditAction::TenantRecoverKey),
    ("POST", "/operator-keys", AuditAction::OperatorKeyCreate),
    ("POST", "/operator-keys/{id}/rotate", AuditAction::OperatorKeyRotate),
    ("DELETE", "/operator-keys/{id}", AuditAction::OperatorKeyRevoke),
    ("POST", "/card-keys", AuditAction::CardKeyRotate),
    ("DELETE", "/card-keys/{id}", AuditAction::CardKeyRevoke),
    ("POST", "/tenants/{tenant}/keys", AuditAction::KeyCreate),
    ("DELETE", "/tenants/{tenant}/keys/{id}", AuditAction::KeyRevoke),
    ("POST", "/tenants/{tenant}/issuers", AuditAction::IssuerAdd),
    ("PUT", "/tenants/{tenant}/issuers/{id}/jwks", AuditAction::IssuerKeys),
    ("DELETE", "/tenants/{tenant}/issuers/{id}", AuditAction::IssuerDelete),
    ("POST", "/tenants/{tenant}/functions", AuditAction::FunctionDeploy),
    ("DELETE", "/tenants/{tenant}/functions/{name}", AuditAction::FunctionDelete),
    ("POST", "/tenants/{tenant}/functions/{name}/rollback", AuditAction::FunctionRollback),
    ("POST", "/tenants/{tenant}/pipelines", AuditAction::PipelineDeploy),
    ("DELETE", "/tenants/{tenant}/pipelines/{name}", AuditAction::PipelineArchive),
    ("POST", "/tenants/{tenant}/pipelines/{name}/activate", AuditAction::PipelineActivate),
    ("POST", "/tenants/{tenant}/pipelines/{name}/archive", AuditAction::PipelineArchive),
    ("POST", "/tenants/{tenant}/tasks/{id}/cancel", AuditAction::TaskCancel),
    ("POST", "/tenants/{tenant}/tasks/{id}/pushes/{push}/retry", AuditAction::PushRetry),
    ("PUT", "/tenants/{tenant}/secrets/{name}", AuditAction::SecretSet),
    ("DELETE", "/tenants/{tenant}/secrets/{name}", AuditAction::SecretDelete),
    ("PUT", "/tenants/{tenant}/settings/{name}", AuditAction::SettingSet),
    ("DELETE", "/tenants/{tenant}/settings/{name}", AuditAction::SettingDelete),
    ("PUT", "/tenants/{tenant}/guard", AuditAction::GuardSet),
    ("DELETE", "/tenants/{tenant}/guard", AuditAction::GuardDelete),
    ("PUT", "/tenants/{tenant}/guard/skills/{name}", AuditAction::GuardSet),
    ("DELETE", "/tenants/{tenant}/guard/skills/{name}", AuditAction::GuardDelete),
];

pub(crate) async fn audited(State(app): State<App>, mut request: Request, next: Next) -> Response {
    if matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS) {
        return next.run(request).await;
    }
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let authenticated = Authenticated::default();
    request.extensions_mut().insert(authenticated.clone());
    let request_id = request_id(request.headers());
    let address = request.extensions().get::<ClientAddress>().map(|client| client.0);
    let user_agent = request.headers().get(http::header::USER_AGENT).and_then(|value| value.to_str().ok());
    let client = Arc::new(AuditClient {
        address,
        request_id: Some(request_id.clone()),
        user_agent: user_agent.map(|text| text.chars().take(MAX_USER_AGENT).collect()),
    });
    let mut response = audit_client(Arc::clone(&client), next.run(request)).await;
    if response.extensions().get::<LacksScope>().is_some()
        && let (Some((action, target)), Some(principal)) = (attempt(&method, &path), authenticated.0.get())
    {
        audit_client(client, app.engine.audit_denied(principal, action, &target)).await;
    }
    // Refusals stay the same to the byte, whatever was asked for.
    if response.status().is_success()
        && let Ok(value) = HeaderValue::from_str(&request_id)
    {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// What a request wants to change, by its method and path alone.
fn attempt(method: &Method, path: &str) -> Option<(AuditAction, String)> {
    let route = path.strip_prefix("/api/v1")?;
    let found = ACTIONS.iter().find(|(of, pattern, _)| *of == method.as_str() && fits(pattern, route))?;
    let parts = found.1.split('/').zip(route.split('/'));
    let mut names: Vec<&str> = parts.filter(|(part, _)| part.starts_with('{')).map(|(_, name)| name).collect();
    if names.len() > 1 {
        // The tenant is in a column of its own.
        names.remove(0);
    }
    Some((found.2, names.join("/")))
}

fn fits(pattern: &str, path: &str) -> bool {
    let (mut parts, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (parts.next(), given.next()) {
            (None, None) => return true,
            (Some(part), Some(name)) if part == name || part.starts_with('{') => {}
            _ => return false,
        }
    }
}

/// The client's own, where it is plain and short, else a new one.
fn request_id(headers: &HeaderMap) -> String {
    let sent = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok());
    let plain = |id: &&str| {
        !id.is_empty()
            && id.len() <= MAX_REQUEST_ID
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    sent.filter(plain).map_or_else(|| Uuid::now_v7().simple().to_string(), str::to_owned)
}
