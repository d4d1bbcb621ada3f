//! The log lines of a tenant's functions.

use axum::Json;
use axum::extract::State;
use http::Uri;
use pleat_domain::{SkillName, TaskId};
use pleat_engine::LogQuery;
use serde::Deserialize;
use time::OffsetDateTime;

use super::query;
use super::views::{LogView, Logs};
use crate::app::App;
use crate::extract::Member;
use crate::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Filter {
    skill: Option<String>,
    task: Option<String>,
    after: Option<String>,
    limit: Option<u32>,
}

/// The latest lines, oldest first; with `after`, those recorded since.
#[utoipa::path(get, operation_id = "listLogs", path = "/tenants/{tenant}/logs",
    params(
        ("tenant" = String, Path), ("skill" = Option<String>, Query), ("task" = Option<String>, Query),
        ("after" = Option<String>, Query, description = "`cursor` of an earlier answer"),
        ("limit" = Option<u32>, Query, description = "Calls to take lines from: 1 to 1000, 100 by default")),
    responses((status = 200, body = Logs)), security(("key" = [])))]
pub(crate) async fn list(State(app): State<App>, member: Member, uri: Uri) -> Result<Json<Logs>, Problem> {
    let filter: Filter = query::parse(&uri)?;
    let page = app.engine.logs(&member.tenant, &member.principal, read(&filter)?).await?;
    let cursor = page.newest.map(|at| (at.unix_timestamp_nanos() / 1_000).to_string()).or(filter.after);
    Ok(Json(Logs { entries: page.entries.into_iter().map(LogView::from).collect(), cursor }))
}

fn read(filter: &Filter) -> Result<LogQuery, Problem> {
    let invalid = |name: &str| Problem::invalid(format!("`{name}` is not valid"));
    let skill = filter.skill.as_deref().map(SkillName::parse_skill).transpose().map_err(|_| invalid("skill"))?;
    let task = filter.task.as_deref().map(str::parse::<TaskId>).transpose().map_err(|_| invalid("task"))?;
    let after = filter.after.as_deref().map(place_of).transpose()?;
    let limit = filter.limit.unwrap_or(100);
    if !(1..=1_000).contains(&limit) {
        return Err(Problem::invalid("`limit` must be 1 to 1000"));
    }
    Ok(LogQuery { skill, task, after, limit })
}

fn place_of(cursor: &str) -> Result<OffsetDateTime, Problem> {
    query::time_of(cursor).ok_or_else(|| Problem::invalid("`after` must be the `cursor` of an answer"))
}
