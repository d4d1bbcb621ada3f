//! Reading a tenant's tasks and events. Writing them is the writers' work, with one exception: ending a task that
//! waits for its caller, which no node holds.

use pleat_domain::event::StatusChange;
use pleat_domain::{Caller, Event, EventBody, Failure, Task, TaskId, TaskState};
use sqlx::{PgConnection, Postgres, QueryBuilder};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::StoreError;
use crate::rows::{EventRow, TASK_COLUMNS, TaskRow};
use crate::tenant_store::TenantStore;
use crate::wake::Wake;

/// A send that was recorded under an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    pub task: TaskId,
    pub fingerprint: Vec<u8>,
    /// The last event of the task before it was sent.
    pub after: u32,
}

impl TenantStore {
    /// A task; with `owner`, only if it is that caller's.
    pub async fn task(&self, id: TaskId, owner: Option<&Caller>) -> Result<Option<Task>, StoreError> {
        let row = sqlx::query_as::<_, TaskRow>(
            "SELECT id, skill, version, context_id, parent_id, caller, door, alias, state, failure, ask, input,
                    history, artifacts, attempt, turn, last_seq, cpu_us, wall_us, created_at, updated_at, step, run,
                    guard
             FROM pleat_task($1, $2, $3, $4)",
        )
        .bind(self.tenant.as_uuid())
        .bind(id.as_uuid())
        .bind(owner.map(Caller::as_str))
        .bind(self.oldest())
        .fetch_optional(self.readers())
        .await?;
        row.map(TaskRow::task).transpose()
    }

    /// The task for which this caller chose that id.
    pub async fn task_by_alias(&self, caller: &Caller, alias: &str) -> Result<Option<TaskId>, StoreError> {
        let found: Option<Uuid> = sqlx::query_scalar("SELECT * FROM pleat_alias($1, $2, $3, $4)")
            .bind(self.tenant.as_uuid())
            .bind(caller.as_str())
            .bind(alias)
            .bind(self.oldest())
            .fetch_optional(self.readers())
            .await?;
        Ok(found.map(TaskId::from_uuid))
    }

    /// Stored events with a sequence above `seq`, in order. None are stored for a task whose `last_seq` is 0.
    pub async fn events_after(&self, id: TaskId, seq: u32, limit: u32) -> Result<Vec<Event>, StoreError> {
        let rows = sqlx::query_as::<_, EventRow>("SELECT seq, at, body FROM pleat_events($1, $2, $3, $4, $5)")
            .bind(self.tenant.as_uuid())
            .bind(id.as_uuid())
            .bind(i32::try_from(seq).unwrap_or(i32::MAX))
            .bind(i32::try_from(limit).unwrap_or(i32::MAX))
            .bind(self.oldest())
            .fetch_all(self.readers())
            .await?;
        Ok(rows.into_iter().map(EventRow::event).collect())
    }

    /// Cancels a task that waits for input or authorization, with its event; `false` when it does not wait (any more).
    pub async fn cancel_idle(&self, id: TaskId) -> Result<bool, StoreError> {
        self.end_idle(id, StatusChange::to(TaskState::Canceled)).await
    }

    /// The same for one that fails.
    pub async fn fail_idle(&self, id: TaskId, failure: Failure) -> Result<bool, StoreError> {
        self.end_idle(id, StatusChange { failure: Some(failure), ..StatusChange::to(TaskState::Failed) }).await
    }

    async fn end_idle(&self, id: TaskId, change: StatusChange) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        let Some(task) = self.waiting(&mut transaction, id).await? else {
            return Ok(false);
        };
        // Readers may have seen events that were derived from the row: from here on they are stored, unchanged.
        let mut events = if task.last_seq == 0 { task.derived_events() } else { Vec::new() };
        let seq = events.last().map_or(task.last_seq, |event| event.seq) + 1;
        let at = OffsetDateTime::now_utc();
        events.push(Event { seq, at, body: EventBody::Status(change.clone()) });
        self.end_with(&mut transaction, id, &change, &events).await?;
        transaction.commit().await?;
        self.store.bell().changed(std::iter::once(id));
        Ok(true)
    }

    /// Asks whichever node runs this task to stop it. The wish is durable: a node that takes it over honours it too.
    pub async fn request_cancel(&self, id: TaskId) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query("INSERT INTO task_cancels (tenant_id, task_id) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(self.tenant.as_uuid())
            .bind(id.as_uuid())
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        self.store.announce(Wake::Cancels(vec![id]));
        Ok(())
    }

    /// What this caller has sent under that idempotency key.
    pub async fn sent(&self, caller: &Caller, key: &str) -> Result<Option<Sent>, StoreError> {
        let found = sqlx::query_as::<_, (Uuid, Vec<u8>, i32)>(
            "SELECT task_id, fingerprint, after_seq FROM pleat_sent($1, $2, $3, $4)",
        )
        .bind(self.tenant.as_uuid())
        .bind(caller.as_str())
        .bind(key)
        .bind(self.oldest())
        .fetch_optional(self.readers())
        .await?;
        Ok(found.map(|(task, fingerprint, after)| Sent {
            task: TaskId::from_uuid(task),
            fingerprint,
            after: u32::try_from(after).unwrap_or(0),
        }))
    }

    async fn waiting(&self, connection: &mut PgConnection, id: TaskId) -> Result<Option<Task>, StoreError> {
        let mut query = QueryBuilder::<Postgres>::new("SELECT ");
        query.push(TASK_COLUMNS).push(" FROM tasks WHERE tenant_id = ").push_bind(self.tenant.as_uuid());
        query.push(" AND id = ").push_bind(id.as_uuid()).push(" AND id >= ").push_bind(self.oldest());
        query.push(" AND state IN (2, 3) FOR UPDATE");
        let row = query.build_query_as::<TaskRow>().fetch_optional(connection).await?;
        row.map(TaskRow::task).transpose()
    }

    async fn end_with(
        &self,
        connection: &mut PgConnection,
        id: TaskId,
        change: &StatusChange,
        events: &[Event],
    ) -> Result<(), StoreError> {
        let seqs: Vec<i32> = events.iter().map(|event| i32::try_from(event.seq).unwrap_or(i32::MAX)).collect();
        let times: Vec<OffsetDateTime> = events.iter().map(|event| event.at).collect();
        let texts: Vec<String> =
            events.iter().map(|event| String::from(pleat_domain::json::raw(&event.body).get())).collect();
        sqlx::query(
            "WITH ended AS (
                 UPDATE tasks SET state = $3, ask = NULL, updated_at = $4, last_seq = $5, failure = $9::text::json
                 WHERE tenant_id = $1 AND id = $2 RETURNING tenant_id, id
             )
             INSERT INTO task_events (tenant_id, task_id, seq, at, body)
             SELECT t.tenant_id, t.id, e.seq, e.at, e.body::json
             FROM ended t, UNNEST($6::int[], $7::timestamptz[], $8::text[]) AS e(seq, at, body)",
        )
        .bind(self.tenant.as_uuid())
        .bind(id.as_uuid())
        .bind(change.state.to_code())
        .bind(times.last())
        .bind(seqs.last())
        .bind(&seqs)
        .bind(&times)
        .bind(texts)
        .bind(change.failure.as_ref().map(|failure| String::from(pleat_domain::json::raw(failure).get())))
        .execute(connection)
        .await?;
        Ok(())
    }
}
