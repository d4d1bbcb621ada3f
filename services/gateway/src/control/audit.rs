//! The audit log: a tenant's own rows for its admins, all rows for operators.

use axum::Json;
use axum::extract::State;
use http::Uri;
use pleat_domain::{AuditAction, TenantSlug};
use pleat_engine::{AuditQuery, AuditScope, EngineError};
use serde::Deserialize;
use time::OffsetDateTime;

use super::query;
use super::views::AuditLog;
use crate::app::App;
use crate::extract::{Member, Platform};
use crate::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Filter {
    action: Option<String>,
    actor: Option<String>,
    target: Option<String>,
    since: Option<String>,
    until: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
    /// Operators only.
    tenant: Option<String>,
    platform: Option<bool>,
}

/// List a tenant's audit log, the latest first
#[utoipa::path(get, operation_id = "listTenantAudit", path = "/tenants/{tenant}/audit",
    params(
        ("tenant" = String, Path),
        ("action" = Option<String>, Query, description = "Such as `key.revoke`"),
        ("actor" = Option<String>, Query, description = "Id of a key, or `issuer:subject` of a token"),
        ("target" = Option<String>, Query, description = "Name or id of what was changed"),
        ("since" = Option<String>, Query, description = "RFC 3339"),
        ("until" = Option<String>, Query, description = "RFC 3339"),
        ("limit" = Option<u32>, Query, description = "1 to 100, 50 by default"),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before")),
    responses((status = 200, body = AuditLog), (status = 403)), security(("key" = [])))]
pub(crate) async fn of_tenant(State(app): State<App>, member: Member, uri: Uri) -> Result<Json<AuditLog>, Problem> {
    let filter: Filter = query::parse(&uri)?;
    if filter.tenant.is_some() || filter.platform.is_some() {
        return Err(Problem::invalid("`tenant` and `platform` are for `/api/v1/audit`"));
    }
    let page = app.engine.audit_log(&member.tenant, &member.principal, &read(filter)?).await?;
    Ok(Json(page.into()))
}

/// List the audit log of all tenants and of the platform, the latest first (operator)
#[utoipa::path(get, operation_id = "listAudit", path = "/audit",
    params(
        ("tenant" = Option<String>, Query, description = "Rows of this tenant; it may be deleted"),
        ("platform" = Option<bool>, Query, description = "`true`: only rows that belong to no tenant"),
        ("action" = Option<String>, Query, description = "Such as `key.revoke`"),
        ("actor" = Option<String>, Query, description = "Id of a key, or `issuer:subject` of a token"),
        ("target" = Option<String>, Query, description = "Name or id of what was changed"),
        ("since" = Option<String>, Query, description = "RFC 3339"),
        ("until" = Option<String>, Query, description = "RFC 3339"),
        ("limit" = Option<u32>, Query, description = "1 to 100, 50 by default"),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before")),
    responses((status = 200, body = AuditLog), (status = 403), (status = 404)), security(("key" = [])))]
pub(crate) async fn all(
    State(app): State<App>,
    Platform(principal): Platform,
    uri: Uri,
) -> Result<Json<AuditLog>, Problem> {
    let filter: Filter = query::parse(&uri)?;
    let scope = match (&filter.tenant, filter.platform) {
        (None, None | Some(false)) => AuditScope::Everybody,
        (None, Some(true)) => AuditScope::Platform,
        (Some(slug), None | Some(false)) => {
            AuditScope::Tenant(TenantSlug::parse(slug).map_err(|_| EngineError::UnknownTenant)?)
        }
        (Some(_), Some(true)) => return Err(Problem::invalid("give either `tenant` or `platform`")),
    };
    let page = app.engine.platform_audit_log(&principal, &scope, &read(filter)?).await?;
    Ok(Json(page.into()))
}

fn read(filter: Filter) -> Result<AuditQuery, Problem> {
    let action = filter.action.as_deref().map(|word| {
        AuditAction::parse(word).ok_or_else(|| Problem::invalid("`action` must be a word such as `key.revoke`"))
    });
    let limit = filter.limit.unwrap_or(50);
    if !(1..=100).contains(&limit) {
        return Err(Problem::invalid("`limit` must be 1 to 100"));
    }
    Ok(AuditQuery {
        action: action.transpose()?,
        actor: filter.actor,
        target: filter.target,
        since: time("since", filter.since.as_deref())?,
        until: time("until", filter.until.as_deref())?,
        limit,
        cursor: filter.cursor,
    })
}

fn time(name: &str, text: Option<&str>) -> Result<Option<OffsetDateTime>, Problem> {
    let read = |text| OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339);
    let time = text.map(read).transpose();
    time.map_err(|_| Problem::invalid(format!("`{name}` must be a time such as 2026-11-16T10:00:00Z")))
}
