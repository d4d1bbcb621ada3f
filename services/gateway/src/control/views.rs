//! The JSON of the control API: what is shown, and what is taken.

mod audit;
mod card_keys;
mod guards;
mod limits;
pub(crate) mod pipelines;
mod pushes;
mod secrets;
mod tasks;

pub(crate) use audit::AuditLog;
pub(crate) use card_keys::{CardKeyView, CardKeys};
pub(crate) use guards::{FindingView, Findings, Policies, PolicyView, Replay, SkillPolicyView};
pub(crate) use limits::LimitsView;
pub(crate) use pushes::{Deliveries, DeliveryView, PushKey, PushView, Pushes};
pub(crate) use secrets::{NewValue, SecretView, Secrets, SettingView, Settings};
pub(crate) use tasks::{TaskView, Tasks, Trace};

use pleat_domain::{CardVersions, Grants, KeyLimits, PlanName, Raw, Scopes, Tenant, timestamp};
use pleat_engine::{DeployReport, IssuerRecord, KeyRecord, LogEntry, Skill, VersionRow};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;
use utoipa::ToSchema;

use crate::problem::Problem;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Whoami {
    /// The tenant that the key belongs to; none for the operator's.
    pub(crate) tenant: Option<String>,
    #[schema(value_type = Vec<String>)]
    pub(crate) scopes: Scopes,
    pub(crate) key: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTenant {
    /// 3 to 40 of a-z, 0-9 and single hyphens inside.
    pub(crate) slug: String,
    /// Absent: `standard`.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub(crate) plan: Option<PlanName>,
    /// For which versions of A2A its card is: `all`, or `1.0` alone.
    #[serde(default)]
    #[schema(value_type = String)]
    pub(crate) card: CardVersions,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPlan {
    /// One of the platform's plans.
    #[schema(value_type = String)]
    pub(crate) plan: PlanName,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCard {
    /// `all`, or `1.0` alone.
    #[schema(value_type = String)]
    pub(crate) card: CardVersions,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TenantView {
    pub(crate) slug: String,
    /// What it may use.
    pub(crate) plan: String,
    /// For which versions of A2A its card is: `all`, or `1.0` alone.
    pub(crate) card: &'static str,
    pub(crate) created_at: String,
    pub(crate) url: String,
    pub(crate) card_url: String,
    pub(crate) a2a_url: String,
    /// The first key, shown this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) admin_key: Option<String>,
}

impl TenantView {
    pub(crate) fn new(tenant: &Tenant, control_url: &str) -> Self {
        let url = format!("{control_url}/t/{}", tenant.slug);
        Self {
            slug: tenant.slug.to_string(),
            plan: tenant.plan.to_string(),
            card: tenant.card.as_str(),
            created_at: timestamp::format(tenant.created_at),
            card_url: format!("{url}/.well-known/agent-card.json"),
            a2a_url: format!("{url}/_a2a/"),
            url,
            admin_key: None,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Tenants {
    pub(crate) tenants: Vec<TenantView>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewKey {
    /// Of `admin`, `deploy`, `invoke`, `read`; at most those of the key that asks.
    #[schema(value_type = Vec<String>)]
    pub(crate) scopes: Scopes,
    #[serde(default)]
    pub(crate) label: String,
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schema(value_type = Option<String>)]
    pub(crate) expires_at: Option<OffsetDateTime>,
    /// Limits, each 1 or more: at most those of the key that asks.
    requests_per_minute: Option<u32>,
    concurrent_tasks: Option<u32>,
    cpu_ms_per_minute: Option<u32>,
    cpu_ms_per_day: Option<u32>,
    stored_bytes_per_day: Option<u64>,
}

#[derive(Deserialize, Default, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewOperatorKey {
    #[serde(default)]
    pub(crate) label: String,
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schema(value_type = Option<String>)]
    pub(crate) expires_at: Option<OffsetDateTime>,
}

#[derive(Deserialize, Default, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RecoveryKey {
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schema(value_type = Option<String>)]
    pub(crate) expires_at: Option<OffsetDateTime>,
}

impl NewKey {
    pub(crate) fn limits(&self) -> Result<KeyLimits, Problem> {
        let &Self {
            requests_per_minute,
            concurrent_tasks,
            cpu_ms_per_minute,
            cpu_ms_per_day,
            stored_bytes_per_day,
            ..
        } = self;
        let wish = LimitsView {
            requests_per_minute,
            concurrent_tasks,
            cpu_ms_per_minute,
            cpu_ms_per_day,
            stored_bytes_per_day,
        };
        wish.limits()
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyView {
    pub(crate) id: String,
    /// The key itself, shown this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    #[schema(value_type = Vec<String>)]
    pub(crate) scopes: Scopes,
    pub(crate) label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_four: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) revoked_at: Option<String>,
    #[serde(flatten)]
    pub(crate) limits: LimitsView,
}

impl From<KeyRecord> for KeyView {
    fn from(record: KeyRecord) -> Self {
        Self {
            id: record.id,
            key: None,
            scopes: record.scopes,
            label: record.label,
            last_four: Some(record.last_four),
            created_at: Some(timestamp::format(record.created_at)),
            expires_at: record.expires_at.map(timestamp::format),
            revoked_at: record.revoked_at.map(timestamp::format),
            limits: record.limits.into(),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Keys {
    pub(crate) keys: Vec<KeyView>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewIssuer {
    /// As tokens name it in `iss`.
    pub(crate) issuer: String,
    /// What tokens may name in `aud`; none: the tenant's own addresses.
    #[serde(default)]
    pub(crate) audiences: Vec<String>,
    /// Its public keys (RFC 7517); or give `jwksUrl`.
    #[schema(value_type = Option<Object>)]
    pub(crate) jwks: Option<Raw>,
    /// Where its public keys are served.
    pub(crate) jwks_url: Option<String>,
    /// The most that its tokens may do: `invoke`, `read`, `deploy`, `admin`; at most those of the key that asks.
    #[schema(value_type = Vec<String>)]
    pub(crate) scopes: Scopes,
    /// Limits of each subject, each 1 or more: at most those of the key that asks.
    requests_per_minute: Option<u32>,
    concurrent_tasks: Option<u32>,
    cpu_ms_per_minute: Option<u32>,
    cpu_ms_per_day: Option<u32>,
    stored_bytes_per_day: Option<u64>,
}

impl NewIssuer {
    pub(crate) fn limits(&self) -> Result<KeyLimits, Problem> {
        let &Self {
            requests_per_minute,
            concurrent_tasks,
            cpu_ms_per_minute,
            cpu_ms_per_day,
            stored_bytes_per_day,
            ..
        } = self;
        let wish = LimitsView {
            requests_per_minute,
            concurrent_tasks,
            cpu_ms_per_minute,
            cpu_ms_per_day,
            stored_bytes_per_day,
        };
        wish.limits()
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewKeySet {
    #[schema(value_type = Object)]
    pub(crate) jwks: Raw,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssuerView {
    pub(crate) id: String,
    pub(crate) issuer: String,
    pub(crate) audiences: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) jwks: Option<Raw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) jwks_url: Option<String>,
    #[schema(value_type = Vec<String>)]
    pub(crate) scopes: Scopes,
    pub(crate) created_at: String,
    pub(crate) created_by: String,
    #[serde(flatten)]
    pub(crate) limits: LimitsView,
}

impl From<IssuerRecord> for IssuerView {
    fn from(record: IssuerRecord) -> Self {
        Self {
            id: record.id,
            issuer: record.issuer,
            audiences: record.audiences,
            jwks: record.jwks,
            jwks_url: record.jwks_url,
            scopes: record.scopes,
            created_at: timestamp::format(record.created_at),
            created_by: record.created_by,
            limits: record.limits.into(),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Issuers {
    pub(crate) issuers: Vec<IssuerView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Deployed {
    pub(crate) name: String,
    pub(crate) version: i32,
    pub(crate) hash: String,
    /// False: this very code was already active.
    pub(crate) created: bool,
    pub(crate) language: String,
    pub(crate) visibility: String,
    #[schema(value_type = Object)]
    pub(crate) requested: Grants,
    /// What the version that was replaced had been granted.
    #[schema(value_type = Object)]
    pub(crate) before: Grants,
    #[schema(value_type = Object)]
    pub(crate) granted: Grants,
    pub(crate) url: String,
    #[schema(value_type = Object)]
    pub(crate) manifest: Value,
    pub(crate) took_ms: u64,
    /// Active pipelines that the new version does not suit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

impl Deployed {
    pub(crate) fn new(report: DeployReport, tenant_url: &str) -> Self {
        Self {
            url: format!("{tenant_url}/{}", report.name),
            name: report.name.to_string(),
            version: report.version,
            hash: report.hash.to_hex(),
            created: report.created,
            language: report.language,
            visibility: report.granted.visibility.as_str().to_owned(),
            requested: report.requested,
            before: report.before,
            granted: report.granted,
            manifest: serde_json::to_value(&report.manifest).unwrap_or_default(),
            took_ms: u64::try_from(report.took.as_millis()).unwrap_or(u64::MAX),
            warnings: report.warnings,
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FunctionView {
    pub(crate) name: String,
    pub(crate) version: i32,
    pub(crate) hash: String,
    pub(crate) language: String,
    pub(crate) file_name: String,
    pub(crate) visibility: String,
    pub(crate) description: String,
    pub(crate) updated_at: String,
    pub(crate) url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) manifest: Option<Value>,
    /// What it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) requested: Option<Grants>,
    /// What it was granted of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) grants: Option<Grants>,
}

impl FunctionView {
    pub(crate) fn brief(skill: &Skill, tenant_url: &str) -> Self {
        Self {
            name: skill.name.to_string(),
            version: skill.version,
            hash: skill.hash.to_hex(),
            language: skill.language.clone(),
            file_name: skill.file_name.clone(),
            visibility: skill.grants.visibility.as_str().to_owned(),
            description: skill.manifest.description.clone(),
            updated_at: timestamp::format(skill.updated_at),
            url: format!("{tenant_url}/{}", skill.name),
            manifest: None,
            requested: None,
            grants: None,
        }
    }

    pub(crate) fn whole(skill: &Skill, tenant_url: &str) -> Self {
        Self {
            manifest: serde_json::to_value(&skill.manifest).ok(),
            requested: Some(skill.manifest.requested()),
            grants: Some(skill.grants.clone()),
            ..Self::brief(skill, tenant_url)
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Functions {
    pub(crate) functions: Vec<FunctionView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VersionView {
    pub(crate) version: i32,
    pub(crate) hash: String,
    pub(crate) language: String,
    pub(crate) file_name: String,
    pub(crate) size: i32,
    pub(crate) created_at: String,
    pub(crate) created_by: String,
    pub(crate) active: bool,
}

impl From<VersionRow> for VersionView {
    fn from(row: VersionRow) -> Self {
        Self {
            version: row.version,
            hash: row.hash.to_hex(),
            language: row.language,
            file_name: row.file_name,
            size: row.size,
            created_at: timestamp::format(row.created_at),
            created_by: row.created_by,
            active: row.active,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Versions {
    pub(crate) versions: Vec<VersionView>,
}

#[derive(Deserialize, ToSchema, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rollback {
    /// Absent: the one before the active one.
    #[serde(default)]
    pub(crate) version: Option<i32>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct RolledBack {
    pub(crate) name: String,
    pub(crate) version: i32,
    /// Active pipelines that this version does not suit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Deleted {
    pub(crate) name: String,
    /// Active pipelines that miss it.
    pub(crate) warnings: Vec<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct LogView {
    pub(crate) task: String,
    /// Who follows is shown some lines again: leave out the (task, record) that are known.
    pub(crate) record: u32,
    pub(crate) skill: String,
    pub(crate) version: i32,
    pub(crate) at: String,
    #[schema(value_type = String)]
    pub(crate) level: pleat_domain::LogLevel,
    pub(crate) message: String,
}

impl From<LogEntry> for LogView {
    fn from(entry: LogEntry) -> Self {
        Self {
            task: entry.task.to_string(),
            record: entry.record,
            skill: entry.skill.to_string(),
            version: entry.version,
            at: timestamp::format(entry.at),
            level: entry.level,
            message: entry.message,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Logs {
    pub(crate) entries: Vec<LogView>,
    /// Ask with `after` set to it for what follows.
    pub(crate) cursor: Option<String>,
}
