//! The tasks of a tenant, as its owner sees them.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, Uri};
use pleat_domain::{AuditAction, Caller, ContextId, SkillName, Task, TaskId, TaskState};
use pleat_engine::{TaskQuery, Until};
use serde::Deserialize;
use time::OffsetDateTime;

use super::query;
use super::views::{FindingView, TaskView, Tasks, Trace};
use crate::app::App;
use crate::extract::{Member, MemberOf};
use crate::problem::Problem;
use crate::sse;
use crate::stream_caller::StreamCaller;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Filter {
    skill: Option<String>,
    state: Option<String>,
    context: Option<String>,
    caller: Option<String>,
    since: Option<String>,
    steps: Option<bool>,
    limit: Option<u32>,
    cursor: Option<String>,
}

/// Tasks, the latest change first.
#[utoipa::path(get, operation_id = "listTasks", path = "/tenants/{tenant}/tasks",
    params(
        ("tenant" = String, Path), ("skill" = Option<String>, Query), ("state" = Option<String>, Query),
        ("context" = Option<String>, Query),
        ("caller" = Option<String>, Query, description = "As a task's `caller` has it"),
        ("since" = Option<String>, Query, description = "Changed then or later: a time as RFC 3339 writes it"),
        ("steps" = Option<bool>, Query, description = "false: without the steps of pipelines"),
        ("limit" = Option<u32>, Query, description = "1 to 100, 50 by default"),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before")),
    responses((status = 200, body = Tasks)), security(("key" = [])))]
pub(crate) async fn list(State(app): State<App>, member: Member, uri: Uri) -> Result<Json<Tasks>, Problem> {
    page(&app, &member, read(&uri, true)?).await
}

pub(super) async fn page(app: &App, member: &Member, query: TaskQuery) -> Result<Json<Tasks>, Problem> {
    let page = app.engine.list_tasks(&member.tenant, &member.principal, query).await?;
    let next_cursor = page.tasks.last().filter(|_| page.more).map(cursor_of);
    Ok(Json(Tasks { tasks: page.tasks.into_iter().map(TaskView::from).collect(), next_cursor }))
}

/// `steps`: what is listed where nothing is said of steps.
pub(super) fn read(uri: &Uri, steps: bool) -> Result<TaskQuery, Problem> {
    let filter: Filter = query::parse(uri)?;
    let skill = filter.skill.as_deref().map(SkillName::parse_skill).transpose();
    let state = filter.state.map(|text| {
        TaskState::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| {
            let all: Vec<&str> = TaskState::ALL.into_iter().map(TaskState::as_str).collect();
            Problem::invalid(format!("`state` must be one of {}", all.join(", ")))
        })
    });
    let context = filter.context.map(ContextId::try_from).transpose();
    let limit = filter.limit.unwrap_or(50);
    if !(1..=100).contains(&limit) {
        return Err(Problem::invalid("`limit` must be 1 to 100"));
    }
    Ok(TaskQuery {
        caller: filter.caller.map(caller_of).transpose()?,
        since: filter.since.as_deref().map(query::moment).transpose()?,
        skill: skill.map_err(|fault| Problem::invalid(fault.to_string()))?,
        state: state.transpose()?,
        context: context.map_err(|fault| Problem::invalid(fault.to_string()))?,
        steps: filter.steps.unwrap_or(steps),
        limit,
        before: filter.cursor.as_deref().map(place_of).transpose()?,
    })
}

fn caller_of(text: String) -> Result<Caller, Problem> {
    let fits = !text.is_empty() && !text.chars().any(char::is_control);
    fits.then(|| Caller::from_stored(text)).ok_or_else(|| Problem::invalid("`caller` must be the `caller` of a task"))
}
/// A place in the tenant's own list: it says nothing that its reader has not been shown.
fn cursor_of(task: &Task) -> String {
    format!("{}.{}", task.updated_at.unix_timestamp_nanos() / 1_000, task.id)
}

fn place_of(cursor: &str) -> Result<(OffsetDateTime, TaskId), Problem> {
    let place = cursor.split_once('.').and_then(|(micros, id)| Some((query::time_of(micros)?, id.parse().ok()?)));
    place.ok_or_else(|| Problem::invalid("`cursor` must be the `nextCursor` of a page"))
}

/// One task with everything that is kept of it.
#[utoipa::path(get, operation_id = "showTask", path = "/tenants/{tenant}/tasks/{id}", params(("tenant" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = TaskView), (status = 404)), security(("key" = [])))]
pub(crate) async fn show(
    State(app): State<App>,
    MemberOf { member, name: id }: MemberOf,
) -> Result<Json<TaskView>, Problem> {
    let task = app.engine.tenant_task(&member.tenant, &member.principal, &id).await?;
    let found = app.engine.findings_of(&member.tenant, &member.principal, std::slice::from_ref(&task)).await?;
    let findings = found.findings.into_iter().map(FindingView::from).collect();
    Ok(Json(TaskView { findings, ..TaskView::from(task) }))
}

/// A task with the calls that its function has made, and those that they have made.
#[utoipa::path(get, operation_id = "traceTask", path = "/tenants/{tenant}/tasks/{id}/trace",
    params(("tenant" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = Trace), (status = 404)), security(("key" = [])))]
pub(crate) async fn trace(
    State(app): State<App>,
    MemberOf { member, name: id }: MemberOf,
) -> Result<Json<Trace>, Problem> {
    let trace = app.engine.trace(&member.tenant, &member.principal, &id).await?;
    let findings = trace.findings.into_iter().map(FindingView::from).collect();
    Ok(Json(Trace { tasks: trace.tasks.into_iter().map(TaskView::from).collect(), findings, more: trace.more }))
}

/// Stop a task that is not final.
#[utoipa::path(post, operation_id = "cancelTask", path = "/tenants/{tenant}/tasks/{id}/cancel",
    params(("tenant" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = TaskView), (status = 404), (status = 409)), security(("key" = [])))]
pub(crate) async fn cancel(
    State(app): State<App>,
    MemberOf { member, name: id }: MemberOf,
) -> Result<Json<TaskView>, Problem> {
    let task = app.engine.cancel_any(&member.tenant, &member.principal, &id).await?;
    app.engine.audit_done(&member.tenant, &member.principal, AuditAction::TaskCancel, &id).await;
    Ok(Json(TaskView::from(task)))
}

/// The events of a task as server-sent events; `Last-Event-ID` resumes behind that event.
#[utoipa::path(get, operation_id = "streamTaskEvents", path = "/tenants/{tenant}/tasks/{id}/events",
    params(("tenant" = String, Path), ("id" = String, Path)),
    responses((status = 200, content_type = "text/event-stream"), (status = 404)), security(("key" = [])))]
pub(crate) async fn events(
    State(app): State<App>,
    MemberOf { member, name: id }: MemberOf,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let seen = sse::last_event_id(&headers)?.unwrap_or(0);
    let task = app.engine.tenant_task(&member.tenant, &member.principal, &id).await?;
    let events = app.engine.events(&member.tenant, &task, seen, Until::TurnEnds);
    let events = StreamCaller::member(&app, &member, &headers)?.watch(events);
    Ok(sse::response(None, events, |event| serde_json::to_string(event).ok(), |problem| problem.into_text()))
}
