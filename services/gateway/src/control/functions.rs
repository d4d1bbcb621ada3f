//! The functions of a tenant: deploy, look at, roll back, delete.

use std::collections::HashSet;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, Uri};
use pleat_domain::{Visibility, limits};
use pleat_engine::Upload;

use super::query;
use super::views::{Deleted, Deployed, FunctionView, Functions, Rollback, RolledBack, VersionView, Versions};
use crate::app::App;
use crate::body;
use crate::extract::{Member, MemberOf};
use crate::problem::Problem;
use crate::site::ControlSite;

fn tenant_url(site: &ControlSite, member: &Member) -> String {
    format!("{}/t/{}", site.base_url, member.tenant.slug)
}

/// Deploy: the body is the file. A bad deploy changes nothing.
#[utoipa::path(post, operation_id = "deployFunction", path = "/tenants/{tenant}/functions",
    params(
        ("tenant" = String, Path),
        ("fileName" = String, Query, description = "Its extension tells the language: .js, .ts, .wasm, .wat, or .bundle for several scripts"),
        ("name" = Option<String>, Query, description = "Absent: what the function calls itself, else the file's name"),
        ("visibility" = Option<String>, Query, description = "public, listed or unlisted"),
        ("grant" = Option<Vec<String>>, Query, description = "Capabilities to grant, may be repeated")),
    request_body(content = String, content_type = "application/octet-stream"),
    responses((status = 201, body = Deployed), (status = 200, body = Deployed), (status = 422)),
    security(("key" = [])))]
pub(crate) async fn deploy(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    member: Member,
    uri: Uri,
    sent: Body,
) -> Result<(StatusCode, Json<Deployed>), Problem> {
    let mut upload = read_query(&uri)?;
    // The right is asked for before 32 MiB are read from somebody who does not have it.
    app.engine.may_deploy(&member.principal)?;
    upload.bytes = body::read(sent, limits::COMPONENT_UPLOAD).await?;
    let report = app.engine.deploy(&member.tenant, &member.principal, upload).await?;
    let status = if report.created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(Deployed::new(report, &tenant_url(&site, &member)))))
}

fn read_query(uri: &Uri) -> Result<Upload, Problem> {
    let pairs: Vec<(String, String)> = query::parse(uri)?;
    let mut upload = Upload {
        file_name: String::new(),
        bytes: Default::default(),
        name: None,
        visibility: None,
        grants: Vec::new(),
    };
    let mut seen = HashSet::new();
    for (key, value) in pairs {
        if key != "grant" && !seen.insert(key.clone()) {
            return Err(Problem::invalid("a parameter other than grant is given at most once"));
        }
        match key.as_str() {
            "fileName" => upload.file_name = value,
            "name" => upload.name = Some(value),
            "visibility" => upload.visibility = Some(visibility(&value)?),
            "grant" => upload.grants.push(value),
            other => {
                let shown: String = other.chars().take(40).collect();
                return Err(Problem::invalid(format!(
                    "unknown parameter `{shown}`; there are fileName, name, visibility and grant"
                )));
            }
        }
    }
    Ok(upload)
}

fn visibility(text: &str) -> Result<Visibility, Problem> {
    match text {
        "public" => Ok(Visibility::Public),
        "listed" => Ok(Visibility::Listed),
        "unlisted" => Ok(Visibility::Unlisted),
        _ => Err(Problem::invalid("`visibility` must be public, listed or unlisted")),
    }
}

/// What is active.
#[utoipa::path(get, operation_id = "listFunctions", path = "/tenants/{tenant}/functions", params(("tenant" = String, Path)),
    responses((status = 200, body = Functions)), security(("key" = [])))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    member: Member,
) -> Result<Json<Functions>, Problem> {
    let url = tenant_url(&site, &member);
    let skills = app.engine.functions(&member.tenant, &member.principal).await?;
    Ok(Json(Functions { functions: skills.iter().map(|skill| FunctionView::brief(skill, &url)).collect() }))
}

/// One function with its manifest and grants.
#[utoipa::path(get, operation_id = "showFunction", path = "/tenants/{tenant}/functions/{name}",
    params(("tenant" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = FunctionView), (status = 404)), security(("key" = [])))]
pub(crate) async fn show(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    MemberOf { member, name }: MemberOf,
) -> Result<Json<FunctionView>, Problem> {
    let skill = app.engine.function(&member.tenant, &member.principal, &name).await?;
    Ok(Json(FunctionView::whole(&skill, &tenant_url(&site, &member))))
}

/// All versions, newest first.
#[utoipa::path(get, operation_id = "listVersions", path = "/tenants/{tenant}/functions/{name}/versions",
    params(("tenant" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = Versions), (status = 404)), security(("key" = [])))]
pub(crate) async fn versions(
    State(app): State<App>,
    MemberOf { member, name }: MemberOf,
) -> Result<Json<Versions>, Problem> {
    let rows = app.engine.versions(&member.tenant, &member.principal, &name).await?;
    Ok(Json(Versions { versions: rows.into_iter().map(VersionView::from).collect() }))
}

/// Back to an earlier version, at once.
#[utoipa::path(post, operation_id = "rollbackFunction", path = "/tenants/{tenant}/functions/{name}/rollback",
    params(("tenant" = String, Path), ("name" = String, Path)), request_body = Option<Rollback>,
    responses((status = 200, body = RolledBack), (status = 404)), security(("key" = [])))]
pub(crate) async fn rollback(
    State(app): State<App>,
    MemberOf { member, name }: MemberOf,
    headers: HeaderMap,
    sent: Body,
) -> Result<Json<RolledBack>, Problem> {
    let wish: Rollback = query::optional_json(&headers, sent).await?;
    let report = app.engine.rollback(&member.tenant, &member.principal, &name, wish.version).await?;
    Ok(Json(RolledBack { name, version: report.version, warnings: report.warnings }))
}

/// Take a function away. Calls in flight finish. Who should know more is told.
#[utoipa::path(delete, operation_id = "deleteFunction", path = "/tenants/{tenant}/functions/{name}",
    params(("tenant" = String, Path), ("name" = String, Path)),
    responses((status = 204), (status = 200, body = Deleted), (status = 404)), security(("key" = [])))]
pub(crate) async fn delete(State(app): State<App>, MemberOf { member, name }: MemberOf) -> Result<Response, Problem> {
    let warnings = app.engine.delete_function(&member.tenant, &member.principal, &name).await?;
    Ok(match warnings.is_empty() {
        true => StatusCode::NO_CONTENT.into_response(),
        false => Json(Deleted { name, warnings }).into_response(),
    })
}
