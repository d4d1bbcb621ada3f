//! Push notifications as the tenant sees them: who is told, what became of each, and the key they are signed with.

use axum::Json;
use axum::extract::{Path, State};
use http::{StatusCode, Uri};
use pleat_domain::TaskId;
use pleat_engine::{DeliveryQuery, PushQuery, PushRow};
use serde::Deserialize;
use time::OffsetDateTime;
use uuid::Uuid;

use super::query;
use super::views::{Deliveries, DeliveryView, PushKey, PushView, Pushes};
use crate::app::App;
use crate::extract::Member;
use crate::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Filter {
    task: Option<String>,
    state: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
}

impl Filter {
    fn read(uri: &Uri) -> Result<(Self, Option<TaskId>, u32), Problem> {
        let filter: Self = query::parse(uri)?;
        let task = filter.task.as_deref().map(str::parse).transpose();
        let task = task.map_err(|_| Problem::invalid("`task` must be `task_` and 32 hex digits"))?;
        let limit = filter.limit.unwrap_or(50);
        if !(1..=100).contains(&limit) {
            return Err(Problem::invalid("`limit` must be 1 to 100"));
        }
        Ok((filter, task, limit))
    }
}

/// Who is told of tasks, the youngest configuration first. Of a URL, only its origin is shown.
#[utoipa::path(get, operation_id = "listPushes", path = "/tenants/{tenant}/pushes",
    params(
        ("tenant" = String, Path), ("task" = Option<String>, Query),
        ("state" = Option<String>, Query, description = "`dead`: only those that were given up"),
        ("limit" = Option<u32>, Query, description = "1 to 100, 50 by default"),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before")),
    responses((status = 200, body = Pushes)), security(("key" = [])))]
pub(crate) async fn list(State(app): State<App>, member: Member, uri: Uri) -> Result<Json<Pushes>, Problem> {
    let (filter, task, limit) = Filter::read(&uri)?;
    let dead = match filter.state.as_deref() {
        None => false,
        Some("dead") => true,
        Some(_) => return Err(Problem::invalid("`state` must be `dead`, or left out")),
    };
    let before = filter.cursor.as_deref().map(push_at).transpose()?;
    let query = PushQuery { task, dead, limit, before };
    let page = app.engine.list_pushes(&member.tenant, &member.principal, query).await?;
    let next_cursor = page.pushes.last().filter(|_| page.more).map(push_cursor);
    Ok(Json(Pushes { pushes: page.pushes.into_iter().map(PushView::from).collect(), next_cursor }))
}

/// What became of notifications, the latest attempt first.
#[utoipa::path(get, operation_id = "listDeliveries", path = "/tenants/{tenant}/deliveries",
    params(
        ("tenant" = String, Path), ("task" = Option<String>, Query),
        ("state" = Option<String>, Query, description = "`delivered`, `retrying` or `dead`"),
        ("limit" = Option<u32>, Query, description = "1 to 100, 50 by default"),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before")),
    responses((status = 200, body = Deliveries)), security(("key" = [])))]
pub(crate) async fn deliveries(State(app): State<App>, member: Member, uri: Uri) -> Result<Json<Deliveries>, Problem> {
    let (filter, task, limit) = Filter::read(&uri)?;
    if filter.state.as_deref().is_some_and(|state| !["delivered", "retrying", "dead"].contains(&state)) {
        return Err(Problem::invalid("`state` must be one of delivered, retrying, dead"));
    }
    let before = filter.cursor.as_deref().map(delivery_at).transpose()?;
    let query = DeliveryQuery { task, state: filter.state, limit, before };
    let page = app.engine.deliveries(&member.tenant, &member.principal, query).await?;
    let last = page.deliveries.last().filter(|_| page.more);
    let next_cursor = last.map(|last| format!("{}.{}", micros(last.at), last.id.simple()));
    Ok(Json(Deliveries { deliveries: page.deliveries.into_iter().map(DeliveryView::from).collect(), next_cursor }))
}

/// Go on where a receiver was given up, at once.
#[utoipa::path(post, operation_id = "retryPush", path = "/tenants/{tenant}/tasks/{id}/pushes/{push}/retry",
    params(("tenant" = String, Path), ("id" = String, Path), ("push" = String, Path)),
    responses((status = 202), (status = 404)), security(("key" = [])))]
pub(crate) async fn retry(
    State(app): State<App>,
    member: Member,
    Path((_tenant, id, push)): Path<(String, String, String)>,
) -> Result<StatusCode, Problem> {
    app.engine.retry_push(&member.tenant, &member.principal, &id, &push).await?;
    Ok(StatusCode::ACCEPTED)
}

/// The key that receivers check signatures with.
#[utoipa::path(get, operation_id = "showPushKey", path = "/tenants/{tenant}/push-key", params(("tenant" = String, Path)),
    responses((status = 200, body = PushKey)), security(("key" = [])))]
pub(crate) async fn key(State(app): State<App>, member: Member) -> Result<Json<PushKey>, Problem> {
    Ok(Json(PushKey { key: app.engine.push_key(&member.tenant, &member.principal)? }))
}

fn micros(at: OffsetDateTime) -> i128 {
    at.unix_timestamp_nanos() / 1_000
}

/// An id may hold anything, so that it is written as its bytes.
fn push_cursor(push: &PushRow) -> String {
    format!("{}.{}.{}", micros(push.created_at), push.task, hex::encode(&push.id))
}

fn push_at(cursor: &str) -> Result<(OffsetDateTime, TaskId, String), Problem> {
    push_place(cursor).ok_or_else(bad_cursor)
}

fn push_place(cursor: &str) -> Option<(OffsetDateTime, TaskId, String)> {
    let (at, rest) = cursor.split_once('.')?;
    let (task, id) = rest.split_once('.')?;
    let id = String::from_utf8(hex::decode(id).ok()?).ok().filter(|id| !id.contains('\0'))?;
    Some((query::time_of(at)?, task.parse().ok()?, id))
}

fn delivery_at(cursor: &str) -> Result<(OffsetDateTime, Uuid), Problem> {
    let place = cursor.split_once('.').and_then(|(at, id)| Some((query::time_of(at)?, Uuid::try_parse(id).ok()?)));
    place.ok_or_else(bad_cursor)
}

fn bad_cursor() -> Problem {
    Problem::invalid("`cursor` must be the `nextCursor` of a page")
}
