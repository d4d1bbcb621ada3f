//! Guardrail policies of a tenant, and what its guardrails found.

use pleat_domain::{SkillName, TaskId, TenantId};
use sqlx::{FromRow, PgConnection, Postgres, QueryBuilder};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::StoreError;
use crate::store::Store;
use crate::tenant_store::TenantStore;
use crate::wake::Wake;

/// A policy as it was sent.
#[derive(Debug, Clone, FromRow)]
pub struct PolicyRow {
    /// Empty for the tenant's default.
    pub skill: String,
    pub policy: String,
    pub updated_at: OffsetDateTime,
    pub updated_by: String,
}

/// Something that a guardrail found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingRow {
    /// By time.
    pub id: Uuid,
    pub tenant: TenantId,
    /// `None`: the call was refused before it became a task.
    pub task: Option<TaskId>,
    pub skill: String,
    pub caller: String,
    pub door: String,
    pub side: String,
    pub check: String,
    pub rule: String,
    pub action: String,
    pub severity: String,
    pub mode: String,
    pub pointer: String,
    pub hash: String,
    pub placeholder: Option<String>,
}

/// Which findings to list.
#[derive(Debug, Clone, Default)]
pub struct FindingFilter {
    pub task: Option<TaskId>,
    pub skill: Option<String>,
    pub check: Option<String>,
    pub action: Option<String>,
    pub since: Option<OffsetDateTime>,
    pub before: Option<Uuid>,
    pub limit: u32,
}

const SELECT: &str = "SELECT id, tenant_id, task_id, skill, caller, door, side, kind, rule, action, severity, mode, \
     pointer, hash, placeholder FROM guard_findings WHERE tenant_id = ";

/// How long findings are kept: longer than the tasks they are of.
pub(crate) const KEPT_DAYS: i64 = 30;

impl TenantStore {
    pub async fn set_policy(&self, skill: Option<&SkillName>, policy: &str, by: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        self.raise_generation(&mut transaction).await?;
        sqlx::query(
            "INSERT INTO guard_policies (tenant_id, skill, policy, updated_by) VALUES ($1, $2, $3, $4)
             ON CONFLICT (tenant_id, skill) DO UPDATE SET policy = excluded.policy, updated_at = now(),
                 updated_by = excluded.updated_by",
        )
        .bind(self.tenant.as_uuid())
        .bind(named(skill))
        .bind(policy)
        .bind(by)
        .execute(&mut *transaction)
        .await?;
        self.record(&mut transaction).await?;
        transaction.commit().await?;
        self.store.announce(Wake::Catalog(self.tenant));
        Ok(())
    }

    /// `false`: there was none.
    pub async fn delete_policy(&self, skill: Option<&SkillName>) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        self.raise_generation(&mut transaction).await?;
        let done = sqlx::query("DELETE FROM guard_policies WHERE tenant_id = $1 AND skill = $2")
            .bind(self.tenant.as_uuid())
            .bind(named(skill))
            .execute(&mut *transaction)
            .await?;
        if done.rows_affected() > 0 {
            self.record(&mut transaction).await?;
        }
        transaction.commit().await?;
        self.store.announce(Wake::Catalog(self.tenant));
        Ok(done.rows_affected() > 0)
    }

    /// The default first.
    pub async fn policies(&self) -> Result<Vec<PolicyRow>, StoreError> {
        let mut transaction = self.begin().await?;
        let rows = self.read_policies(&mut transaction).await?;
        transaction.commit().await?;
        Ok(rows)
    }

    pub(super) async fn read_policies(&self, connection: &mut PgConnection) -> Result<Vec<PolicyRow>, StoreError> {
        let statement = "SELECT skill, policy, updated_at, updated_by FROM guard_policies
             WHERE tenant_id = $1 ORDER BY skill";
        Ok(sqlx::query_as(statement).bind(self.tenant.as_uuid()).fetch_all(connection).await?)
    }

    /// Of these tasks, oldest first. What is found of a task is younger than it.
    pub async fn findings_of(&self, tasks: &[TaskId], limit: u32) -> Result<Vec<FindingRow>, StoreError> {
        let ids: Vec<Uuid> = tasks.iter().map(TaskId::as_uuid).collect();
        let mut query = QueryBuilder::<Postgres>::new(SELECT);
        query.push_bind(self.tenant.as_uuid()).push(" AND id >= ").push_bind(ids.iter().min().copied());
        query.push(" AND task_id = ANY(").push_bind(ids).push(") ORDER BY id LIMIT ");
        query.push_bind(i64::from(limit));
        self.found(query).await
    }

    /// The latest first.
    pub async fn findings(&self, filter: &FindingFilter) -> Result<Vec<FindingRow>, StoreError> {
        let mut query = QueryBuilder::<Postgres>::new(SELECT);
        query.push_bind(self.tenant.as_uuid());
        if let Some(task) = filter.task {
            query.push(" AND task_id = ").push_bind(task.as_uuid());
        }
        let words = [("skill", &filter.skill), ("kind", &filter.check), ("action", &filter.action)];
        for (column, word) in words {
            if let Some(word) = word {
                query.push(" AND ").push(column).push(" = ").push_bind(word.as_str());
            }
        }
        if let Some(since) = filter.since {
            query.push(" AND id >= ").push_bind(crate::partitions::bound(since));
        }
        if let Some(before) = filter.before {
            query.push(" AND id < ").push_bind(before);
        }
        query.push(" ORDER BY id DESC LIMIT ").push_bind(i64::from(filter.limit));
        self.found(query).await
    }

    async fn found(&self, mut query: QueryBuilder<Postgres>) -> Result<Vec<FindingRow>, StoreError> {
        let mut transaction = self.begin().await?;
        let rows = query.build_query_as::<StoredFinding>().fetch_all(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(rows.into_iter().map(StoredFinding::row).collect())
    }
}

impl Store {
    /// All of them or none. What is there already stays as it is.
    pub async fn add_findings(&self, rows: &[FindingRow]) -> Result<(), StoreError> {
        let texts = |of: fn(&FindingRow) -> &str| -> Vec<&str> { rows.iter().map(of).collect() };
        sqlx::query(
            "INSERT INTO guard_findings (tenant_id, id, task_id, skill, caller, door, side, kind, rule, action,
               severity, mode, pointer, hash, placeholder)
             SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
               $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[])
             ON CONFLICT (tenant_id, id) DO NOTHING",
        )
        .bind(rows.iter().map(|row| row.tenant.as_uuid()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.id).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.task.map(|task| task.as_uuid())).collect::<Vec<_>>())
        .bind(texts(|row| &row.skill))
        .bind(texts(|row| &row.caller))
        .bind(texts(|row| &row.door))
        .bind(texts(|row| &row.side))
        .bind(texts(|row| &row.check))
        .bind(texts(|row| &row.rule))
        .bind(texts(|row| &row.action))
        .bind(texts(|row| &row.severity))
        .bind(texts(|row| &row.mode))
        .bind(texts(|row| &row.pointer))
        .bind(texts(|row| &row.hash))
        .bind(rows.iter().map(|row| row.placeholder.as_deref()).collect::<Vec<_>>())
        .execute(self.keepers())
        .await?;
        Ok(())
    }
}

fn named(skill: Option<&SkillName>) -> &str {
    skill.map_or("", SkillName::as_str)
}

#[derive(FromRow)]
struct StoredFinding {
    id: Uuid,
    tenant_id: Uuid,
    task_id: Option<Uuid>,
    skill: String,
    caller: String,
    door: String,
    side: String,
    kind: String,
    rule: String,
    action: String,
    severity: String,
    mode: String,
    pointer: String,
    hash: String,
    placeholder: Option<String>,
}

impl StoredFinding {
    fn row(self) -> FindingRow {
        FindingRow {
            id: self.id,
            tenant: TenantId::from_row(self.tenant_id),
            task: self.task_id.map(TaskId::from_uuid),
            skill: self.skill,
            caller: self.caller,
            door: self.door,
            side: self.side,
            check: self.kind,
            rule: self.rule,
            action: self.action,
            severity: self.severity,
            mode: self.mode,
            pointer: self.pointer,
            hash: self.hash,
            placeholder: self.placeholder,
        }
    }
}
