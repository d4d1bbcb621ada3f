//! Guardrail policies of a tenant, what they found, and what a draft would have done.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use http::{HeaderMap, StatusCode, Uri};
use pleat_domain::SkillName;
use pleat_engine::FindingFilter;
use serde::Deserialize;
use uuid::Uuid;

use super::query;
use super::views::{FindingView, Findings, Policies, PolicyView, Replay, SkillPolicyView};
use crate::app::App;
use crate::body;
use crate::extract::{Member, MemberOf};
use crate::problem::Problem;

/// A little more than a policy may have, so that its own words say what is too long.
const MOST: usize = 300 * 1024;
const REPLAYED: u32 = 100;

/// All policies that are set: the default of the tenant, and those of skills.
#[utoipa::path(get, operation_id = "listGuardPolicies", path = "/tenants/{tenant}/guard", params(("tenant" = String, Path)),
    responses((status = 200, body = Policies)), security(("key" = [])))]
pub(crate) async fn list(State(app): State<App>, member: Member) -> Result<Json<Policies>, Problem> {
    let rows = app.engine.policies(&member.tenant, &member.principal).await?;
    let (default, skills): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.skill.is_empty());
    let default = default.into_iter().next().map(PolicyView::from);
    Ok(Json(Policies { default, skills: skills.into_iter().map(PolicyView::from).collect() }))
}

/// Set the policy of all skills that have none of their own, and of what those leave open. The body is the policy.
#[utoipa::path(put, operation_id = "setDefaultGuardPolicy", path = "/tenants/{tenant}/guard",
    params(("tenant" = String, Path)), request_body = Object,
    responses((status = 204), (status = 422, description = "All faults of the policy, with their places")),
    security(("key" = [])))]
pub(crate) async fn set_default(
    State(app): State<App>,
    member: Member,
    headers: HeaderMap,
    sent: Body,
) -> Result<StatusCode, Problem> {
    let policy = text(&headers, sent).await?;
    app.engine.set_policy(&member.tenant, &member.principal, None, &policy).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Remove the tenant's default.
#[utoipa::path(delete, operation_id = "deleteDefaultGuardPolicy", path = "/tenants/{tenant}/guard",
    params(("tenant" = String, Path)), responses((status = 204), (status = 404)), security(("key" = [])))]
pub(crate) async fn delete_default(State(app): State<App>, member: Member) -> Result<StatusCode, Problem> {
    app.engine.delete_policy(&member.tenant, &member.principal, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What holds for a skill, and whose policy that is.
#[utoipa::path(get, operation_id = "getGuardPolicy", path = "/tenants/{tenant}/guard/skills/{name}",
    params(("tenant" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = SkillPolicyView), (status = 404)), security(("key" = [])))]
pub(crate) async fn show(
    State(app): State<App>,
    MemberOf { member, name }: MemberOf,
) -> Result<Json<SkillPolicyView>, Problem> {
    let policy = app.engine.policy_of(&member.tenant, &member.principal, &name).await?;
    Ok(Json(policy.into()))
}

/// Set the policy of a skill. The body is the policy.
#[utoipa::path(put, operation_id = "setGuardPolicy", path = "/tenants/{tenant}/guard/skills/{name}",
    params(("tenant" = String, Path), ("name" = String, Path)), request_body = Object,
    responses((status = 204), (status = 404), (status = 422, description = "All faults of the policy, with their places")),
    security(("key" = [])))]
pub(crate) async fn set(
    State(app): State<App>,
    MemberOf { member, name }: MemberOf,
    headers: HeaderMap,
    sent: Body,
) -> Result<StatusCode, Problem> {
    let policy = text(&headers, sent).await?;
    app.engine.set_policy(&member.tenant, &member.principal, Some(&name), &policy).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Remove the policy of a skill: the default holds for it again.
#[utoipa::path(delete, operation_id = "deleteGuardPolicy", path = "/tenants/{tenant}/guard/skills/{name}",
    params(("tenant" = String, Path), ("name" = String, Path)),
    responses((status = 204), (status = 404)), security(("key" = [])))]
pub(crate) async fn delete(State(app): State<App>, MemberOf { member, name }: MemberOf) -> Result<StatusCode, Problem> {
    app.engine.delete_policy(&member.tenant, &member.principal, Some(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Filter {
    skill: Option<String>,
    check: Option<String>,
    action: Option<String>,
    task: Option<String>,
    since: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
}

/// What guardrails found, the latest first; never the value. Kept for 30 days.
#[utoipa::path(get, operation_id = "listGuardViolations", path = "/tenants/{tenant}/guard/violations",
    params(
        ("tenant" = String, Path), ("skill" = Option<String>, Query), ("check" = Option<String>, Query),
        ("action" = Option<String>, Query, description = "`block`, `redact`, `warn` or `log`"),
        ("task" = Option<String>, Query), ("since" = Option<String>, Query, description = "RFC 3339"),
        ("limit" = Option<u32>, Query, description = "1 to 100, 50 by default"),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before")),
    responses((status = 200, body = Findings)), security(("key" = [])))]
pub(crate) async fn violations(State(app): State<App>, member: Member, uri: Uri) -> Result<Json<Findings>, Problem> {
    let filter = read(query::parse(&uri)?)?;
    let page = app.engine.findings(&member.tenant, &member.principal, filter).await?;
    let next_cursor = page.findings.last().filter(|_| page.more).map(|last| last.id.simple().to_string());
    Ok(Json(Findings { violations: page.findings.into_iter().map(FindingView::from).collect(), next_cursor }))
}

fn read(filter: Filter) -> Result<FindingFilter, Problem> {
    let task = filter.task.as_deref().map(str::parse).transpose();
    let task = task.map_err(|_| Problem::invalid("`task` must be `task_` and 32 hex digits"))?;
    let since = filter.since.as_deref().map(query::moment).transpose()?;
    let before = filter.cursor.as_deref().map(Uuid::try_parse).transpose();
    let before = before.map_err(|_| Problem::invalid("`cursor` must be the `nextCursor` of a page"))?;
    if filter.action.as_deref().is_some_and(|action| !["block", "redact", "warn", "log"].contains(&action)) {
        return Err(Problem::invalid("`action` must be one of block, redact, warn, log"));
    }
    let limit = filter.limit.unwrap_or(50);
    if !(1..=100).contains(&limit) {
        return Err(Problem::invalid("`limit` must be 1 to 100"));
    }
    Ok(FindingFilter { task, skill: filter.skill, check: filter.check, action: filter.action, since, before, limit })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    skill: Option<String>,
    limit: Option<u32>,
}

/// What a draft of a policy would have done to the latest tasks. The body is the policy; nothing is changed.
#[utoipa::path(post, operation_id = "replayGuardPolicy", path = "/tenants/{tenant}/guard/replay",
    params(
        ("tenant" = String, Path), ("skill" = Option<String>, Query),
        ("limit" = Option<u32>, Query, description = "Tasks: 1 to 1000, 100 by default")),
    request_body = Object,
    responses((status = 200, body = Replay), (status = 422, description = "All faults of the policy, with their places")),
    security(("key" = [])))]
pub(crate) async fn replay(
    State(app): State<App>,
    member: Member,
    uri: Uri,
    headers: HeaderMap,
    sent: Body,
) -> Result<Json<Replay>, Problem> {
    let which: Which = query::parse(&uri)?;
    let skill = which.skill.as_deref().map(SkillName::parse_skill).transpose();
    let skill = skill.map_err(|_| Problem::invalid("`skill` is not valid"))?;
    let limit = which.limit.unwrap_or(REPLAYED);
    if !(1..=pleat_engine::MOST_REPLAYED).contains(&limit) {
        return Err(Problem::invalid("`limit` must be 1 to 1000"));
    }
    let policy = text(&headers, sent).await?;
    let tasks = app.engine.replay_policy(&member.tenant, &member.principal, &policy, skill, limit).await?;
    Ok(Json(Replay::of(&tasks)))
}

/// The policy as it was written: its faults are told with their places in it.
async fn text(headers: &HeaderMap, sent: Body) -> Result<String, Problem> {
    let bytes = body::read_json(headers, sent, MOST).await?;
    String::from_utf8(bytes.to_vec()).map_err(|_| Problem::invalid("the policy is not UTF-8"))
}
