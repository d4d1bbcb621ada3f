//! Ends tasks whose time is up. Changes nothing that is final.

use pleat_domain::event::StatusChange;
use pleat_domain::{EventBody, Failure, Reason, TaskState, json};
use sqlx::PgPool;
use uuid::Uuid;

use crate::error::StoreError;

/// Rows that one statement ends at most.
const PORTION: u64 = 500;

/// Ends the tasks below `bound` that are not final; answers how many.
pub(crate) async fn expire(pool: &PgPool, bound: Uuid) -> Result<u64, StoreError> {
    let mut ended = 0;
    loop {
        let some = expire_some(pool, bound).await?;
        ended += some;
        if some < PORTION {
            return Ok(ended);
        }
    }
}

/// A task without stored events gets none now: they follow from its row.
async fn expire_some(pool: &PgPool, bound: Uuid) -> Result<u64, StoreError> {
    let failure = Failure::new(Reason::Expired, "the task was not final when its time was up; send it again");
    let change = StatusChange { failure: Some(failure.clone()), ..StatusChange::to(TaskState::Failed) };
    let ended: i64 = sqlx::query_scalar(
        "WITH chosen AS (
             SELECT t.tenant_id, t.id FROM tasks t WHERE t.id < $3 AND t.state IN (0, 1, 2, 3)
             LIMIT $4 FOR UPDATE OF t SKIP LOCKED
         ),
         ended AS (
             UPDATE tasks t SET state = 5, failure = $1::text::json, ask = NULL, updated_at = now(),
                 last_seq = CASE WHEN t.last_seq = 0 THEN 0 ELSE 1 + greatest(t.last_seq,
                     (SELECT max(e.seq) FROM task_events e WHERE e.task_id = chosen.id)) END
             FROM chosen WHERE t.tenant_id = chosen.tenant_id AND t.id = chosen.id
             RETURNING t.tenant_id, t.id, t.last_seq
         ),
         told AS (
             INSERT INTO task_events (tenant_id, task_id, seq, at, body)
             SELECT tenant_id, id, last_seq, now(), $2::text::json FROM ended WHERE last_seq > 0
         )
         SELECT count(*) FROM ended",
    )
    .bind(json::raw(&failure).get())
    .bind(json::raw(&EventBody::Status(change)).get())
    .bind(bound)
    .bind(i64::try_from(PORTION).unwrap_or(i64::MAX))
    .fetch_one(pool)
    .await?;
    Ok(ended.unsigned_abs())
}
