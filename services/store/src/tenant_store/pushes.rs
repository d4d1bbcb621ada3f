//! A tenant's push configurations and its delivery log. The way to a receiver comes sealed and goes sealed.

use pleat_domain::{Caller, Dialect, TaskId, limits};
use sqlx::{FromRow, Postgres, QueryBuilder};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::StoreError;
use crate::push::integer;
use crate::tenant_store::TenantStore;

/// A configuration to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushEntry {
    pub id: String,
    /// Who set it.
    pub caller: Caller,
    pub dialect: Dialect,
    /// Scheme, host and port.
    pub destination: String,
    pub sealed: Vec<u8>,
    /// Events up to this one are not told.
    pub delivered: u32,
}

/// A configuration as it is now.
#[derive(Debug, Clone)]
pub struct PushRow {
    pub task: TaskId,
    pub id: String,
    pub caller: Caller,
    pub dialect: Dialect,
    pub destination: String,
    pub sealed: Vec<u8>,
    pub created_at: OffsetDateTime,
    pub delivered: u32,
    pub attempts: u32,
    /// `None`: there is nothing left to do.
    pub next_at: Option<OffsetDateTime>,
    pub dead: bool,
    /// Why it is.
    pub ended: Option<String>,
}

/// What became of one event for one receiver.
#[derive(Debug, Clone)]
pub struct DeliveryRow {
    pub id: Uuid,
    pub task: TaskId,
    pub push: String,
    pub seq: u32,
    pub destination: String,
    /// `delivered`, `retrying` or `dead`.
    pub state: String,
    pub attempts: u32,
    pub status: Option<i32>,
    pub fault: Option<String>,
    pub took_ms: i32,
    pub first_at: OffsetDateTime,
    /// Of the last attempt.
    pub at: OffsetDateTime,
}

/// Which deliveries to list, the latest attempt first.
#[derive(Debug, Clone, Default)]
pub struct DeliveryFilter {
    pub task: Option<TaskId>,
    pub state: Option<String>,
    pub limit: u32,
    /// The last delivery of the page before: its `at` and id.
    pub before: Option<(OffsetDateTime, Uuid)>,
}

/// Which configurations to list, the youngest first.
#[derive(Debug, Clone, Default)]
pub struct PushFilter {
    pub task: Option<TaskId>,
    /// Only those that were given up.
    pub dead: bool,
    pub limit: u32,
    /// The last one of the page before: when it was made, its task and its id.
    pub before: Option<(OffsetDateTime, TaskId, String)>,
}

const COLUMNS: &str =
    "task_id, id, caller, dialect, destination, sealed, created_at, delivered, attempts, next_at, dead, ended";

impl TenantStore {
    /// Takes the place of one with the same id, whoever looks after that.
    pub async fn set_push(&self, task: TaskId, entry: &PushEntry) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        // What is counted stays true until it is committed.
        sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1::text, 27))")
            .bind(task.as_uuid())
            .execute(&mut *transaction)
            .await?;
        let done = sqlx::query(
            "INSERT INTO push_configs (tenant_id, task_id, id, caller, dialect, destination, sealed, delivered)
             SELECT $1, $2, $3, $4, $5, $6, $7, $8
             WHERE (SELECT count(*) FROM push_configs WHERE task_id = $2 AND id <> $3) < $9
             ON CONFLICT (task_id, id) DO UPDATE SET caller = excluded.caller, dialect = excluded.dialect,
                 destination = excluded.destination, sealed = excluded.sealed, delivered = excluded.delivered,
                 attempts = 0, next_at = now(), dead = false, ended = NULL, holder = NULL",
        )
        .bind(self.tenant.as_uuid())
        .bind(task.as_uuid())
        .bind(&entry.id)
        .bind(entry.caller.as_str())
        .bind(entry.dialect.as_str())
        .bind(&entry.destination)
        .bind(&entry.sealed)
        .bind(integer(entry.delivered))
        .bind(i64::try_from(limits::PUSHES).unwrap_or(i64::MAX))
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        if done.rows_affected() > 0 { Ok(()) } else { Err(StoreError::TooManyPushes { most: limits::PUSHES }) }
    }

    /// Those of one task, in the order in which they were set.
    pub async fn pushes(&self, task: TaskId) -> Result<Vec<PushRow>, StoreError> {
        let mut query = self.push_query();
        query.push(" AND task_id = ").push_bind(task.as_uuid()).push(" ORDER BY created_at, id");
        self.push_rows(query).await
    }

    pub async fn list_pushes(&self, filter: &PushFilter) -> Result<Vec<PushRow>, StoreError> {
        let mut query = self.push_query();
        if let Some(task) = filter.task {
            query.push(" AND task_id = ").push_bind(task.as_uuid());
        }
        if filter.dead {
            query.push(" AND dead");
        }
        if let Some((at, task, id)) = &filter.before {
            query.push(" AND (created_at, task_id, id) < (").push_bind(*at);
            query.push(", ").push_bind(task.as_uuid()).push(", ").push_bind(id.as_str()).push(")");
        }
        query.push(" ORDER BY created_at DESC, task_id DESC, id DESC LIMIT ").push_bind(i64::from(filter.limit));
        self.push_rows(query).await
    }

    /// `false`: there was none.
    pub async fn delete_push(&self, task: TaskId, id: &str) -> Result<bool, StoreError> {
        self.change_push("DELETE FROM push_configs WHERE tenant_id = $1 AND task_id = $2 AND id = $3", task, id).await
    }

    /// Goes on where it was given up, at once. `false`: there is none.
    pub async fn retry_push(&self, task: TaskId, id: &str) -> Result<bool, StoreError> {
        let statement = "UPDATE push_configs SET dead = false, ended = NULL, attempts = 0, next_at = now()
             WHERE tenant_id = $1 AND task_id = $2 AND id = $3";
        self.change_push(statement, task, id).await
    }

    /// Something has happened to a task that nobody follows for its receivers. `false`: it has none.
    pub async fn wake_pushes(&self, task: TaskId) -> Result<bool, StoreError> {
        Ok(sqlx::query_scalar("SELECT pleat_wake_pushes($1, $2)")
            .bind(self.tenant.as_uuid())
            .bind(task.as_uuid())
            .fetch_one(self.readers())
            .await?)
    }

    pub async fn deliveries(&self, filter: &DeliveryFilter) -> Result<Vec<DeliveryRow>, StoreError> {
        let mut query = QueryBuilder::<Postgres>::new(
            "SELECT task_id, id, push_id, seq, destination, state, attempts, status, fault, took_ms, first_at, at
             FROM push_deliveries WHERE tenant_id = ",
        );
        query.push_bind(self.tenant.as_uuid()).push(" AND task_id >= ").push_bind(self.oldest());
        if let Some(task) = filter.task {
            query.push(" AND task_id = ").push_bind(task.as_uuid());
        }
        if let Some(state) = &filter.state {
            query.push(" AND state = ").push_bind(state.as_str());
        }
        if let Some((at, id)) = filter.before {
            query.push(" AND (at, id) < (").push_bind(at).push(", ").push_bind(id).push(")");
        }
        query.push(" ORDER BY at DESC, id DESC LIMIT ").push_bind(i64::from(filter.limit));
        let mut transaction = self.begin().await?;
        let rows = query.build_query_as::<StoredDelivery>().fetch_all(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(rows.into_iter().map(StoredDelivery::row).collect())
    }

    fn push_query(&self) -> QueryBuilder<Postgres> {
        let mut query = QueryBuilder::new("SELECT ");
        query.push(COLUMNS).push(" FROM push_configs WHERE tenant_id = ").push_bind(self.tenant.as_uuid());
        query.push(" AND task_id >= ").push_bind(self.oldest());
        query
    }

    async fn push_rows(&self, mut query: QueryBuilder<Postgres>) -> Result<Vec<PushRow>, StoreError> {
        let mut transaction = self.begin().await?;
        let rows = query.build_query_as::<StoredPush>().fetch_all(&mut *transaction).await?;
        transaction.commit().await?;
        rows.into_iter().map(StoredPush::row).collect()
    }

    async fn change_push(&self, statement: &'static str, task: TaskId, id: &str) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        let done = sqlx::query(statement)
            .bind(self.tenant.as_uuid())
            .bind(task.as_uuid())
            .bind(id)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(done.rows_affected() > 0)
    }
}

#[derive(FromRow)]
struct StoredPush {
    task_id: Uuid,
    id: String,
    caller: String,
    dialect: String,
    destination: String,
    sealed: Vec<u8>,
    created_at: OffsetDateTime,
    delivered: i32,
    attempts: i32,
    next_at: Option<OffsetDateTime>,
    dead: bool,
    ended: Option<String>,
}

impl StoredPush {
    fn row(self) -> Result<PushRow, StoreError> {
        Ok(PushRow {
            task: TaskId::from_uuid(self.task_id),
            id: self.id,
            caller: Caller::from_stored(self.caller),
            dialect: Dialect::from_stored(&self.dialect).ok_or(StoreError::Corrupt { what: "dialect" })?,
            destination: self.destination,
            sealed: self.sealed,
            created_at: self.created_at,
            delivered: self.delivered.unsigned_abs(),
            attempts: self.attempts.unsigned_abs(),
            next_at: self.next_at,
            dead: self.dead,
            ended: self.ended,
        })
    }
}

#[derive(FromRow)]
struct StoredDelivery {
    task_id: Uuid,
    id: Uuid,
    push_id: String,
    seq: i32,
    destination: String,
    state: String,
    attempts: i32,
    status: Option<i32>,
    fault: Option<String>,
    took_ms: i32,
    first_at: OffsetDateTime,
    at: OffsetDateTime,
}

impl StoredDelivery {
    fn row(self) -> DeliveryRow {
        DeliveryRow {
            id: self.id,
            task: TaskId::from_uuid(self.task_id),
            push: self.push_id,
            seq: self.seq.unsigned_abs(),
            destination: self.destination,
            state: self.state,
            attempts: self.attempts.unsigned_abs(),
            status: self.status,
            fault: self.fault,
            took_ms: self.took_ms,
            first_at: self.first_at,
            at: self.at,
        }
    }
}
