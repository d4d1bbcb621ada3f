//! What was used: a tenant's by day and skill, and the operator's view of all tenants.

use axum::Json;
use axum::extract::State;
use http::Uri;
use pleat_domain::{SkillName, Usage};
use pleat_engine::UsageQuery;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime};
use utoipa::ToSchema;

use super::query;
use crate::app::App;
use crate::extract::{Member, Platform};
use crate::problem::Problem;

const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// The days that are shown where none are named: today and the 29 before it.
const DEFAULT_DAYS: i64 = 30;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Filter {
    from: Option<String>,
    to: Option<String>,
    skill: Option<String>,
}

/// Sums; times in milliseconds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sums {
    calls: u64,
    failures: u64,
    cpu_ms: f64,
    wall_ms: f64,
    input_bytes: u64,
    output_bytes: u64,
    upload_bytes: u64,
}

impl From<Usage> for Sums {
    fn from(usage: Usage) -> Self {
        let millis = |micros: u64| std::time::Duration::from_micros(micros).as_secs_f64() * 1_000.0;
        Self {
            calls: usage.calls,
            failures: usage.failures,
            cpu_ms: millis(usage.cpu_us),
            wall_ms: millis(usage.wall_us),
            input_bytes: usage.input_bytes,
            output_bytes: usage.output_bytes,
            upload_bytes: usage.upload_bytes,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SkillDay {
    day: String,
    skill: String,
    #[serde(flatten)]
    sums: Sums,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TenantUsage {
    from: String,
    to: String,
    /// The tenant's plan, and what it allows.
    plan: String,
    #[schema(value_type = Object)]
    limits: Value,
    usage: Vec<SkillDay>,
    total: Sums,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TenantTotal {
    tenant: String,
    #[serde(flatten)]
    sums: Sums,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AllUsage {
    from: String,
    to: String,
    tenants: Vec<TenantTotal>,
}

/// What the tenant has used, by day (UTC) and skill, the latest first; and what its plan allows.
#[utoipa::path(get, operation_id = "showUsage", path = "/tenants/{tenant}/usage",
    params(
        ("tenant" = String, Path), ("skill" = Option<String>, Query),
        ("from" = Option<String>, Query, description = "First day, as 2026-11-16; 29 days before `to` by default"),
        ("to" = Option<String>, Query, description = "Last day; today by default")),
    responses((status = 200, body = TenantUsage)), security(("key" = [])))]
pub(crate) async fn show(State(app): State<App>, member: Member, uri: Uri) -> Result<Json<TenantUsage>, Problem> {
    let query = read(&uri)?;
    let rows = app.engine.usage(&member.tenant, &member.principal, &query).await?;
    let mut total = Usage::default();
    rows.iter().for_each(|row| total += row.usage);
    let day = |row: pleat_engine::SkillUsage| SkillDay {
        day: written(row.day),
        skill: row.skill.to_string(),
        sums: row.usage.into(),
    };
    Ok(Json(TenantUsage {
        from: written(query.from),
        to: written(query.to),
        plan: member.tenant.plan.to_string(),
        limits: serde_json::to_value(app.engine.plan_of(&member.tenant)).unwrap_or_default(),
        usage: rows.into_iter().map(day).collect(),
        total: total.into(),
    }))
}

/// What each tenant has used in all, for the operator.
#[utoipa::path(get, operation_id = "listUsage", path = "/usage",
    params(
        ("from" = Option<String>, Query, description = "First day, as 2026-11-16; 29 days before `to` by default"),
        ("to" = Option<String>, Query, description = "Last day; today by default")),
    responses((status = 200, body = AllUsage)), security(("key" = [])))]
pub(crate) async fn all(
    State(app): State<App>,
    Platform(principal): Platform,
    uri: Uri,
) -> Result<Json<AllUsage>, Problem> {
    let query = read(&uri)?;
    if query.skill.is_some() {
        return Err(Problem::invalid("`skill` is for the usage of one tenant"));
    }
    let sums = app.engine.usage_of_all(&principal, &query).await?;
    let total =
        |(slug, usage): (pleat_domain::TenantSlug, Usage)| TenantTotal { tenant: slug.to_string(), sums: usage.into() };
    let tenants = sums.into_iter().map(total).collect();
    Ok(Json(AllUsage { from: written(query.from), to: written(query.to), tenants }))
}

fn read(uri: &Uri) -> Result<UsageQuery, Problem> {
    let filter: Filter = query::parse(uri)?;
    let to = filter.to.as_deref().map(|text| day("to", text)).transpose()?;
    let to = to.unwrap_or_else(|| OffsetDateTime::now_utc().date());
    let from = filter.from.as_deref().map(|text| day("from", text)).transpose()?;
    let from = from.unwrap_or_else(|| to.saturating_sub(Duration::days(DEFAULT_DAYS - 1)));
    let skill = filter.skill.as_deref().map(SkillName::parse_counted).transpose();
    let skill = skill.map_err(|_| Problem::invalid("`skill` is not valid"))?;
    Ok(UsageQuery { from, to, skill })
}

fn day(name: &str, text: &str) -> Result<Date, Problem> {
    let day = Date::parse(text, DAY).ok().filter(|day| (1..=9_999).contains(&day.year()));
    day.ok_or_else(|| Problem::invalid(format!("`{name}` must be a day such as 2026-11-16")))
}

fn written(day: Date) -> String {
    day.format(DAY).unwrap_or_default()
}
