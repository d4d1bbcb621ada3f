//! Rows of the audit log as they are shown.

use pleat_domain::{Raw, timestamp};
use pleat_engine::{AuditPage, AuditRow};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditLog {
    /// The latest first.
    entries: Vec<AuditView>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditView {
    id: String,
    /// By the clock of the database.
    at: String,
    /// Absent for a row of the platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<String>,
    actor: AuditActor,
    /// Such as `key.revoke`.
    action: String,
    target: AuditTarget,
    /// `done` or `denied`.
    outcome: String,
    /// What changed; never the value of a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    details: Option<Raw>,
    #[serde(skip_serializing_if = "AuditOrigin::is_empty")]
    client: AuditOrigin,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AuditActor {
    /// `key`, `token`, `operator`, `local` (a command on the node) or `system`.
    kind: String,
    /// Id of the key, or `issuer:subject` of the token.
    id: String,
    label: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AuditTarget {
    kind: String,
    name: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditOrigin {
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<String>,
}

impl AuditOrigin {
    const fn is_empty(&self) -> bool {
        self.address.is_none() && self.request_id.is_none() && self.user_agent.is_none()
    }
}

impl From<AuditPage> for AuditLog {
    fn from(page: AuditPage) -> Self {
        Self { entries: page.rows.into_iter().map(AuditView::from).collect(), next_cursor: page.next }
    }
}

impl From<AuditRow> for AuditView {
    fn from(row: AuditRow) -> Self {
        Self {
            id: row.id.simple().to_string(),
            at: timestamp::format(row.at),
            tenant: row.tenant,
            actor: AuditActor { kind: row.actor_kind, id: row.actor, label: row.actor_label },
            action: row.action,
            target: AuditTarget { kind: row.target_kind, name: row.target },
            outcome: row.outcome,
            details: row.details.map(|details| details.0),
            client: AuditOrigin { address: row.client_address, request_id: row.request_id, user_agent: row.user_agent },
        }
    }
}
