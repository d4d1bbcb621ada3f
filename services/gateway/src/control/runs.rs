//! Runs of pipelines, as their owner starts, lists and replays them.

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, HttpBody};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, Uri};
use pleat_domain::json::{self as strict, Raw};
use pleat_domain::{Door, SkillName};
use pleat_engine::{EngineError, Invocation, TaskQuery};

use super::views::pipelines::Replay;
use super::views::{TaskView, Tasks};
use super::{query, tasks};
use crate::app::App;
use crate::extract::{Member, MemberOf};
use crate::problem::Problem;
use crate::stream_caller::StreamCaller;
use crate::{body, extract, sse};

/// Run it, a draft too: the body is the input. The answer is the finished task; with `Prefer: respond-async` the task as
/// it was recorded, and for who takes an event stream all that happens.
#[utoipa::path(post, operation_id = "runPipeline", path = "/tenants/{tenant}/pipelines/{name}/runs",
    params(("tenant" = String, Path), ("name" = String, Path)), request_body(content = Object),
    responses((status = 200, body = TaskView), (status = 202, body = TaskView), (status = 404), (status = 422)),
    security(("key" = [])))]
pub(crate) async fn run(
    State(app): State<App>,
    MemberOf { member, name }: MemberOf,
    headers: HeaderMap,
    sent: Body,
) -> Result<Response, Problem> {
    let caller = sse::wants_stream(&headers).then(|| StreamCaller::member(&app, &member, &headers)).transpose()?;
    let invocation = invocation(&app, member, &name, &headers, sent).await?;
    if let Some(caller) = caller {
        let (_, events) = app.engine.start(invocation).await?;
        let write = |event: &pleat_domain::Event| serde_json::to_string(event).ok();
        return Ok(sse::response(None, caller.watch(events), write, |problem| problem.into_text()));
    }
    let later = headers.get_all("prefer").iter().any(|value| value.as_bytes() == b"respond-async");
    let (status, task) = match later {
        true => (StatusCode::ACCEPTED, app.engine.start(invocation).await?.0),
        false => (StatusCode::OK, app.engine.send(invocation).await?),
    };
    Ok((status, Json(TaskView::from(Arc::unwrap_or_clone(task)))).into_response())
}

async fn invocation(
    app: &App,
    member: Member,
    name: &str,
    headers: &HeaderMap,
    sent: Body,
) -> Result<Box<Invocation>, Problem> {
    let parsed = SkillName::parse(name).map_err(|_| unknown(name))?;
    let skill = app.engine.catalog(&member.tenant).await?.choose_pipeline(&member.principal, &parsed)?;
    Ok(Box::new(Invocation {
        tenant: member.tenant,
        principal: member.principal,
        skill,
        input: input(app, headers, sent).await?,
        message: None,
        context: None,
        alias: None,
        once: extract::idempotency_key(headers)?,
        push: None,
        door: Door::Control,
    }))
}

/// A body that is not there is `null`.
async fn input(app: &App, headers: &HeaderMap, sent: Body) -> Result<Raw, Problem> {
    if !headers.contains_key(http::header::CONTENT_TYPE) && sent.is_end_stream() {
        return Ok(strict::raw(&()));
    }
    let bytes = body::read_json(headers, sent, app.config.request_body).await?;
    let text = String::from_utf8(bytes.into()).map_err(|_| Problem::invalid("the body is not UTF-8"))?;
    strict::checked(text).map_err(|fault| Problem::invalid(format!("the body cannot be taken: {fault}")))
}

/// The runs of a pipeline, the latest change first.
#[utoipa::path(get, operation_id = "listRuns", path = "/tenants/{tenant}/pipelines/{name}/runs",
    params(
        ("tenant" = String, Path), ("name" = String, Path), ("state" = Option<String>, Query),
        ("caller" = Option<String>, Query, description = "As a task's `caller` has it"),
        ("since" = Option<String>, Query, description = "Changed then or later: a time as RFC 3339 writes it"),
        ("steps" = Option<bool>, Query, description = "Also those that were steps of other runs"),
        ("limit" = Option<u32>, Query, description = "1 to 100, 50 by default"),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before")),
    responses((status = 200, body = Tasks), (status = 404)), security(("key" = [])))]
pub(crate) async fn list(
    State(app): State<App>,
    MemberOf { member, name }: MemberOf,
    uri: Uri,
) -> Result<Json<Tasks>, Problem> {
    // A pipeline that there never was has no history.
    app.engine.pipeline(&member.tenant, &member.principal, &name, None).await?;
    let skill = SkillName::parse(&name).map_err(|_| unknown(&name))?;
    let query = TaskQuery { skill: Some(SkillName::pipeline(&skill)), ..tasks::read(&uri, false)? };
    tasks::page(&app, &member, query).await
}

/// Run the end of a finished run again, from a step on, with the versions that it had.
#[utoipa::path(post, operation_id = "replayRun", path = "/tenants/{tenant}/tasks/{id}/replay",
    params(("tenant" = String, Path), ("id" = String, Path)), request_body = Replay,
    responses((status = 202, body = TaskView), (status = 404), (status = 409)), security(("key" = [])))]
pub(crate) async fn replay(
    State(app): State<App>,
    MemberOf { member, name: id }: MemberOf,
    headers: HeaderMap,
    sent: Body,
) -> Result<(StatusCode, Json<TaskView>), Problem> {
    app.engine.may_deploy(&member.principal)?;
    let wish: Replay = query::json(&headers, sent).await?;
    let task = app.engine.replay(&member.tenant, &member.principal, &id, &wish.from).await?;
    Ok((StatusCode::ACCEPTED, Json(TaskView::from(Arc::unwrap_or_clone(task)))))
}

fn unknown(name: &str) -> EngineError {
    EngineError::NotFound { what: "pipeline", name: name.chars().take(80).collect() }
}
