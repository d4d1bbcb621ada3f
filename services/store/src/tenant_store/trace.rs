//! The calls that a task has made, the calls that those have made, and the steps of a run.

use pleat_domain::{Reason, Task, TaskId, TaskState, limits};
use time::OffsetDateTime;

use crate::error::StoreError;
use crate::rows::{TASK_COLUMNS, TaskRow};
use crate::tenant_store::TenantStore;

/// Steps that are read at once.
const PAGE: usize = 200;

impl TenantStore {
    /// The attempts at steps of this run that are recorded, oldest first, however many.
    pub async fn steps_of(&self, run: TaskId) -> Result<Vec<Task>, StoreError> {
        let query = format!(
            "SELECT {TASK_COLUMNS} FROM tasks
             WHERE tenant_id = $1 AND parent_id = $2 AND id > $3 AND id >= $4 AND step IS NOT NULL
             ORDER BY id LIMIT $5"
        );
        let mut steps: Vec<Task> = Vec::new();
        loop {
            let last = steps.last().map_or(run, |step| step.id);
            let mut transaction = self.begin().await?;
            let rows = sqlx::query_as::<_, TaskRow>(sqlx::AssertSqlSafe(query.clone()))
                .bind(self.tenant.as_uuid())
                .bind(run.as_uuid())
                .bind(last.as_uuid())
                .bind(self.oldest())
                .bind(i64::try_from(PAGE).unwrap_or(i64::MAX))
                .fetch_all(&mut *transaction)
                .await?;
            transaction.commit().await?;
            let more = rows.len() == PAGE;
            for row in rows {
                steps.push(row.task()?);
            }
            if !more {
                return Ok(steps);
            }
        }
    }

    /// Whether anything below this task has come to an end of its own since then. What ended with its node has not.
    pub async fn moved_since(&self, id: TaskId, moment: OffsetDateTime) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        let moved = sqlx::query_scalar(
            "WITH RECURSIVE below AS (
                 SELECT id, state, failure, updated_at, 1 AS depth FROM tasks
                 WHERE tenant_id = $1 AND parent_id = $2 AND id > $2
                 UNION ALL
                 SELECT t.id, t.state, t.failure, t.updated_at, b.depth + 1 FROM tasks t JOIN below b ON t.parent_id = b.id
                 WHERE t.tenant_id = $1 AND t.id > $2 AND b.depth < $3
             )
             SELECT EXISTS (SELECT FROM below WHERE state = ANY ($4) AND updated_at > $5
                 AND (failure ->> 'reason') IS DISTINCT FROM $6)",
        )
        .bind(self.tenant.as_uuid())
        .bind(id.as_uuid())
        .bind(i32::try_from(limits::CALL_DEPTH).unwrap_or(i32::MAX))
        .bind([TaskState::Completed, TaskState::Failed, TaskState::Rejected].map(TaskState::to_code))
        .bind(moment)
        .bind(Reason::NodeLost.as_str())
        .fetch_one(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(moved)
    }

    /// All tasks below this one, oldest first, at most `limit`.
    pub async fn descendants(&self, id: TaskId, limit: u32) -> Result<Vec<Task>, StoreError> {
        let mut transaction = self.begin().await?;
        // A child is younger than its parent, which leaves out the partitions before it.
        let query = format!(
            "WITH RECURSIVE below AS (
                 SELECT id, 1 AS depth FROM tasks WHERE tenant_id = $1 AND parent_id = $2 AND id > $2
                 UNION ALL
                 SELECT t.id, b.depth + 1 FROM tasks t JOIN below b ON t.parent_id = b.id
                 WHERE t.tenant_id = $1 AND t.id > $2 AND b.depth < $3
             )
             SELECT {TASK_COLUMNS} FROM tasks
             WHERE tenant_id = $1 AND id > $2 AND id >= $4 AND id IN (SELECT id FROM below) ORDER BY id LIMIT $5"
        );
        let rows = sqlx::query_as::<_, TaskRow>(sqlx::AssertSqlSafe(query))
            .bind(self.tenant.as_uuid())
            .bind(id.as_uuid())
            .bind(i32::try_from(limits::CALL_DEPTH).unwrap_or(i32::MAX))
            .bind(self.oldest())
            .bind(i64::from(limit))
            .fetch_all(&mut *transaction)
            .await?;
        transaction.commit().await?;
        rows.into_iter().map(TaskRow::task).collect()
    }
}
