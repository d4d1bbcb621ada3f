//! The pipelines of a tenant: deploy, look at, activate, archive, draw.

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use http::{StatusCode, Uri};
use pleat_domain::{PipelineState, Visibility, limits};
use pleat_engine::{Definition, PipelineUpload, explain, graph};
use serde::Deserialize;

use super::query;
use super::views::pipelines::{
    CheckedPipeline, DeployedPipeline, FaultView, PipelineVersionView, PipelineVersions, PipelineView, Pipelines,
};
use crate::app::App;
use crate::body;
use crate::extract::{Member, MemberOf};
use crate::problem::Problem;
use crate::site::ControlSite;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Wish {
    activate: bool,
    check: bool,
    visibility: Option<Visibility>,
}

/// Deploy: the body is the definition, as YAML or JSON. All that is wrong with it is said at once, and a bad one changes
/// nothing.
#[utoipa::path(post, operation_id = "deployPipeline", path = "/tenants/{tenant}/pipelines",
    params(
        ("tenant" = String, Path),
        ("activate" = Option<bool>, Query, description = "Make it a skill like any other at once"),
        ("check" = Option<bool>, Query, description = "Only look whether it could be deployed"),
        ("visibility" = Option<String>, Query, description = "public, listed or unlisted")),
    request_body(content = String, content_type = "application/yaml"),
    responses((status = 201, body = DeployedPipeline), (status = 200, body = DeployedPipeline), (status = 422)),
    security(("key" = [])))]
pub(crate) async fn deploy(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    member: Member,
    uri: Uri,
    sent: Body,
) -> Result<Response, Problem> {
    let wish: Wish = query::parse(&uri)?;
    app.engine.may_deploy(&member.principal)?;
    let bytes = body::read(sent, limits::MIB).await?;
    let text = String::from_utf8(bytes.into()).map_err(|_| Problem::invalid("the definition must be UTF-8"))?;
    if wish.check {
        let (name, warnings) = app.engine.check_pipeline(&member.tenant, &member.principal, &text).await?;
        let warnings = warnings.into_iter().map(FaultView::from).collect();
        return Ok(Json(CheckedPipeline { name: name.into(), warnings }).into_response());
    }
    let upload = PipelineUpload { text, activate: wish.activate, visibility: wish.visibility };
    let report = app.engine.deploy_pipeline(&member.tenant, &member.principal, upload).await?;
    let status = if report.deployed.created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(DeployedPipeline::new(report, &tenant_url(&site, &member)))).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Filter {
    state: Option<String>,
}

/// All of them, archived ones too.
#[utoipa::path(get, operation_id = "listPipelines", path = "/tenants/{tenant}/pipelines",
    params(("tenant" = String, Path), ("state" = Option<String>, Query, description = "draft, active or archived")),
    responses((status = 200, body = Pipelines)), security(("key" = [])))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    member: Member,
    uri: Uri,
) -> Result<Json<Pipelines>, Problem> {
    let filter: Filter = query::parse(&uri)?;
    let state = filter.state.map(|text| {
        PipelineState::parse(&text).ok_or_else(|| Problem::invalid("`state` must be draft, active or archived"))
    });
    let rows = app.engine.pipelines(&member.tenant, &member.principal, state.transpose()?).await?;
    let url = tenant_url(&site, &member);
    Ok(Json(Pipelines { pipelines: rows.iter().map(|row| PipelineView::brief(row, &url)).collect() }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    version: Option<i32>,
    format: Option<String>,
}

/// One pipeline with its definition, and the text that was sent.
#[utoipa::path(get, operation_id = "showPipeline", path = "/tenants/{tenant}/pipelines/{name}",
    params(("tenant" = String, Path), ("name" = String, Path), ("version" = Option<i32>, Query)),
    responses((status = 200, body = PipelineView), (status = 404)), security(("key" = [])))]
pub(crate) async fn show(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    MemberOf { member, name }: MemberOf,
    uri: Uri,
) -> Result<Json<PipelineView>, Problem> {
    let which: Which = query::parse(&uri)?;
    let (row, version) = app.engine.pipeline(&member.tenant, &member.principal, &name, which.version).await?;
    Ok(Json(PipelineView::whole(&row, version, &tenant_url(&site, &member))))
}

/// All versions, newest first.
#[utoipa::path(get, operation_id = "listPipelineVersions", path = "/tenants/{tenant}/pipelines/{name}/versions",
    params(("tenant" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = PipelineVersions), (status = 404)), security(("key" = [])))]
pub(crate) async fn versions(
    State(app): State<App>,
    MemberOf { member, name }: MemberOf,
) -> Result<Json<PipelineVersions>, Problem> {
    let rows = app.engine.pipeline_versions(&member.tenant, &member.principal, &name).await?;
    Ok(Json(PipelineVersions { versions: rows.into_iter().map(PipelineVersionView::from).collect() }))
}

/// From now on a skill like any other.
#[utoipa::path(post, operation_id = "activatePipeline", path = "/tenants/{tenant}/pipelines/{name}/activate",
    params(("tenant" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = PipelineView), (status = 404), (status = 422)), security(("key" = [])))]
pub(crate) async fn activate(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    MemberOf { member, name }: MemberOf,
) -> Result<Json<PipelineView>, Problem> {
    let row = app.engine.activate_pipeline(&member.tenant, &member.principal, &name).await?;
    Ok(Json(PipelineView::brief(&row, &tenant_url(&site, &member))))
}

/// Refused everywhere from now on. Runs that go on finish.
#[utoipa::path(post, operation_id = "archivePipeline", path = "/tenants/{tenant}/pipelines/{name}/archive",
    params(("tenant" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = PipelineView), (status = 404), (status = 409)), security(("key" = [])))]
pub(crate) async fn archive(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    MemberOf { member, name }: MemberOf,
) -> Result<Json<PipelineView>, Problem> {
    let row = app.engine.archive_pipeline(&member.tenant, &member.principal, &name).await?;
    Ok(Json(PipelineView::brief(&row, &tenant_url(&site, &member))))
}

/// The same as archiving it: versions are kept for the runs that have them.
#[utoipa::path(delete, operation_id = "deletePipeline", path = "/tenants/{tenant}/pipelines/{name}",
    params(("tenant" = String, Path), ("name" = String, Path)),
    responses((status = 204), (status = 404), (status = 409)), security(("key" = [])))]
pub(crate) async fn delete(State(app): State<App>, MemberOf { member, name }: MemberOf) -> Result<StatusCode, Problem> {
    app.engine.archive_pipeline(&member.tenant, &member.principal, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The pipeline drawn.
#[utoipa::path(get, operation_id = "drawPipeline", path = "/tenants/{tenant}/pipelines/{name}/graph",
    params(("tenant" = String, Path), ("name" = String, Path), ("version" = Option<i32>, Query),
        ("format" = Option<String>, Query, description = "text or mermaid")),
    responses((status = 200, body = String, content_type = "text/plain"), (status = 404)), security(("key" = [])))]
pub(crate) async fn draw(
    State(app): State<App>,
    MemberOf { member, name }: MemberOf,
    uri: Uri,
) -> Result<String, Problem> {
    let which: Which = query::parse(&uri)?;
    let definition = definition(&app, &member, &name, which.version).await?;
    match which.format.as_deref() {
        None | Some("text") => Ok(graph::text(&definition)),
        Some("mermaid") => Ok(graph::mermaid(&definition)),
        Some(_) => Err(Problem::invalid("`format` must be text or mermaid")),
    }
}

/// The pipeline in words: what each step receives from where, and when it runs.
#[utoipa::path(get, operation_id = "explainPipeline", path = "/tenants/{tenant}/pipelines/{name}/explain",
    params(("tenant" = String, Path), ("name" = String, Path), ("version" = Option<i32>, Query)),
    responses((status = 200, body = String, content_type = "text/plain"), (status = 404)), security(("key" = [])))]
pub(crate) async fn describe(
    State(app): State<App>,
    MemberOf { member, name }: MemberOf,
    uri: Uri,
) -> Result<String, Problem> {
    let which: Which = query::parse(&uri)?;
    Ok(explain(&definition(&app, &member, &name, which.version).await?))
}

async fn definition(app: &App, member: &Member, name: &str, version: Option<i32>) -> Result<Definition, Problem> {
    Ok(app.engine.pipeline_definition(&member.tenant, &member.principal, name, version).await?)
}

fn tenant_url(site: &ControlSite, member: &Member) -> String {
    format!("{}/t/{}", site.base_url, member.tenant.slug)
}
