//! Ends tasks that nobody will finish: their node is lost, or their time is up. Changes nothing that is final.

use std::time::Duration;

use pleat_domain::event::StatusChange;
use pleat_domain::{EventBody, Failure, Reason, TaskState, json};
use sqlx::{AssertSqlSafe, PgPool};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::StoreError;
use crate::node::Ticks;

const SWEEP: Duration = Duration::from_secs(3);
/// Rows that one statement ends at most.
const PORTION: u64 = 500;

/// Leased to a node that gave no sign of life for 10 s, or to an epoch that is over.
const LOST: &str = "SELECT t.tenant_id, t.id FROM tasks t WHERE t.state IN (0, 1) AND $3::uuid IS NULL AND NOT EXISTS (
    SELECT FROM nodes n
    WHERE n.id = t.lease_owner AND n.epoch = t.lease_epoch AND n.beat_at > now() - interval '10 seconds')";

const EXPIRED: &str = "SELECT t.tenant_id, t.id FROM tasks t WHERE t.id < $3::uuid AND t.state IN (0, 1, 2, 3)";

pub(crate) async fn sweep_loop(pool: PgPool, stop: CancellationToken) {
    let mut ticks = Ticks::new(SWEEP, stop);
    while ticks.next().await {
        match sweep(&pool).await {
            Ok(0) => {}
            Ok(lost) => tracing::warn!(tasks = lost, "tasks of a lost node were ended"),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "lost tasks could not be looked for");
            }
        }
    }
}

/// Ends the tasks of nodes that are gone; answers how many.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, StoreError> {
    let failure = Failure::new(Reason::NodeLost, "the node that ran this task was lost; send it again");
    let ended = end_all(pool, LOST, &failure, None).await?;
    sqlx::query("DELETE FROM nodes WHERE beat_at < now() - interval '1 hour'").execute(pool).await?;
    Ok(ended)
}

/// Ends the tasks below `bound` that are not final; answers how many.
pub(crate) async fn expire(pool: &PgPool, bound: Uuid) -> Result<u64, StoreError> {
    let failure = Failure::new(Reason::Expired, "the task was not final when its time was up; send it again");
    end_all(pool, EXPIRED, &failure, Some(bound)).await
}

async fn end_all(
    pool: &PgPool,
    chosen: &'static str,
    failure: &Failure,
    bound: Option<Uuid>,
) -> Result<u64, StoreError> {
    let mut ended = 0;
    loop {
        let some = end_some(pool, chosen, failure, bound).await?;
        ended += some;
        if some < PORTION {
            return Ok(ended);
        }
    }
}

/// A task without stored events gets none now: they follow from its row.
async fn end_some(
    pool: &PgPool,
    chosen: &'static str,
    failure: &Failure,
    bound: Option<Uuid>,
) -> Result<u64, StoreError> {
    let change = StatusChange { state: TaskState::Failed, failure: Some(failure.clone()), ask: None };
    let statement = format!(
        "WITH chosen AS ({chosen} LIMIT {PORTION} FOR UPDATE OF t SKIP LOCKED),
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
         SELECT count(*) FROM ended"
    );
    let ended: i64 = sqlx::query_scalar(AssertSqlSafe(statement))
        .bind(json::raw(failure).get())
        .bind(json::raw(&EventBody::Status(change)).get())
        .bind(bound)
        .fetch_one(pool)
        .await?;
    Ok(ended.unsigned_abs())
}
