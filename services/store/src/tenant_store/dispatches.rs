//! Calls of a tenant that went to external agents.

use pleat_domain::{TaskId, TenantId};
use sqlx::FromRow;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::StoreError;
use crate::store::Store;
use crate::tenant_store::TenantStore;

/// How long they are kept: as long as findings, which are looked at with them.
pub(crate) const KEPT_DAYS: i64 = 30;

/// One call, with the fields of the hook bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchRow {
    /// By time.
    pub id: Uuid,
    pub tenant: TenantId,
    pub task: TaskId,
    pub verb: String,
    pub legacy_alias: Option<String>,
    pub agent_card_id: Option<String>,
    pub agent_url: String,
    pub skill_id: String,
    pub session_id: String,
    pub caller: String,
    pub outcome: String,
    pub error_code: Option<String>,
    pub error_message: Option<String>,
    pub duration_ms: i64,
    pub emitted_at: OffsetDateTime,
}

impl TenantStore {
    /// The latest first.
    pub async fn dispatches(&self, limit: u32) -> Result<Vec<DispatchRow>, StoreError> {
        let mut transaction = self.begin().await?;
        let rows: Vec<Stored> = sqlx::query_as(
            "SELECT id, tenant_id, task_id, verb, legacy_alias, agent_card_id, agent_url, skill_id, session_id, caller,
                 outcome, error_code, error_message, duration_ms, emitted_at
             FROM dispatches WHERE tenant_id = $1 ORDER BY id DESC LIMIT $2",
        )
        .bind(self.tenant.as_uuid())
        .bind(i64::from(limit))
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows.into_iter().map(Stored::row).collect())
    }
}

impl Store {
    /// All of them or none. What is there already stays as it is.
    pub async fn add_dispatches(&self, rows: &[DispatchRow]) -> Result<(), StoreError> {
        let texts = |of: fn(&DispatchRow) -> &str| -> Vec<&str> { rows.iter().map(of).collect() };
        let some = |of: fn(&DispatchRow) -> Option<&str>| -> Vec<Option<&str>> { rows.iter().map(of).collect() };
        sqlx::query(
            "INSERT INTO dispatches (tenant_id, id, task_id, verb, legacy_alias, agent_card_id, agent_url, skill_id,
               session_id, caller, outcome, error_code, error_message, duration_ms, emitted_at)
             SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
               $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[],
               $15::timestamptz[])
             ON CONFLICT (tenant_id, id) DO NOTHING",
        )
        .bind(rows.iter().map(|row| row.tenant.as_uuid()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.id).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.task.as_uuid()).collect::<Vec<_>>())
        .bind(texts(|row| &row.verb))
        .bind(some(|row| row.legacy_alias.as_deref()))
        .bind(some(|row| row.agent_card_id.as_deref()))
        .bind(texts(|row| &row.agent_url))
        .bind(texts(|row| &row.skill_id))
        .bind(texts(|row| &row.session_id))
        .bind(texts(|row| &row.caller))
        .bind(texts(|row| &row.outcome))
        .bind(some(|row| row.error_code.as_deref()))
        .bind(some(|row| row.error_message.as_deref()))
        .bind(rows.iter().map(|row| row.duration_ms).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.emitted_at).collect::<Vec<_>>())
        .execute(self.keepers())
        .await?;
        Ok(())
    }
}

#[derive(FromRow)]
struct Stored {
    id: Uuid,
    tenant_id: Uuid,
    task_id: Uuid,
    verb: String,
    legacy_alias: Option<String>,
    agent_card_id: Option<String>,
    agent_url: String,
    skill_id: String,
    session_id: String,
    caller: String,
    outcome: String,
    error_code: Option<String>,
    error_message: Option<String>,
    duration_ms: i64,
    emitted_at: OffsetDateTime,
}

impl Stored {
    fn row(self) -> DispatchRow {
        DispatchRow {
            id: self.id,
            tenant: TenantId::from_row(self.tenant_id),
            task: TaskId::from_uuid(self.task_id),
            verb: self.verb,
            legacy_alias: self.legacy_alias,
            agent_card_id: self.agent_card_id,
            agent_url: self.agent_url,
            skill_id: self.skill_id,
            session_id: self.session_id,
            caller: self.caller,
            outcome: self.outcome,
            error_code: self.error_code,
            error_message: self.error_message,
            duration_ms: self.duration_ms,
            emitted_at: self.emitted_at,
        }
    }
}
