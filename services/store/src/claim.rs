//! Taking over what a lost node left behind. What becomes of a task is not decided here: claiming only moves its lease.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pleat_domain::{Raw, Task, TaskId, TenantId};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, FromRow, PgConnection, PgPool, Row};
use uuid::Uuid;

use crate::error::StoreError;
use crate::node::Lease;
use crate::rows::TaskRow;

/// Tasks that one statement claims at most.
const PORTION: i64 = 100;

/// A task that was not final, and is leased to this node now.
#[derive(Debug, Clone)]
pub struct Claimed {
    pub tenant: TenantId,
    /// `last_seq` is that of its last stored event.
    pub task: Task,
    /// What its function kept from the turn before.
    pub kept: Option<Raw>,
    /// Somebody has asked for its end.
    pub canceled: bool,
    /// The node that had it gave it back.
    pub given_back: bool,
}

/// Tasks that this node cannot read, mostly because a newer one wrote them. They are left to nodes that can, and must not
/// stand in the way of those that can be read here.
#[derive(Default)]
pub(crate) struct Unreadable(Mutex<HashSet<Uuid>>);

impl Unreadable {
    /// So many are never there at once; what is forgotten is found again.
    const MOST: usize = 10_000;

    fn ids(&self) -> Vec<Uuid> {
        self.lock().iter().copied().collect()
    }

    fn add(&self, ids: &[Uuid]) {
        let mut known = self.lock();
        if known.len() + ids.len() > Self::MOST {
            known.clear();
        }
        known.extend(ids);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Uuid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Leased to a node that gave no sign of life for the length of a lease, to an epoch that is over, or to nobody. They are
/// found first and locked then, if nobody has claimed them in between: of a row that has changed, Postgres checks the
/// conditions on the row itself again, but not what `NOT EXISTS` says of other tables.
const LOST: &str = "SELECT t.tenant_id, t.id, t.lease_owner AS before
    FROM (SELECT l.tenant_id, l.id, l.lease_owner, l.lease_epoch FROM tasks l WHERE l.state IN (0, 1) AND l.id <> ALL ($5) AND NOT EXISTS (
              SELECT FROM nodes n
              WHERE n.id = l.lease_owner AND n.epoch = l.lease_epoch AND n.beat_at > now() - make_interval(secs => $3))
          LIMIT $4) found
    JOIN tasks t ON t.tenant_id = found.tenant_id AND t.id = found.id
    WHERE t.state IN (0, 1) AND t.lease_owner IS NOT DISTINCT FROM found.lease_owner
        AND t.lease_epoch IS NOT DISTINCT FROM found.lease_epoch
    FOR UPDATE OF t SKIP LOCKED";

/// One that this node holds: to read again where its events end.
const OWN: &str = "SELECT t.tenant_id, t.id, t.lease_owner AS before FROM tasks t WHERE t.tenant_id = $3 AND t.id = $4
    AND t.state IN (0, 1) AND t.lease_owner = $1 AND t.lease_epoch = $2 FOR UPDATE OF t";

/// Some of the tasks that nobody holds any more.
pub(crate) async fn lost(pool: &PgPool, lease: &Lease, unreadable: &Unreadable) -> Result<Vec<Claimed>, StoreError> {
    loop {
        let own = lease.current();
        // What cannot be read is let go again before anybody sees that it was claimed: nothing here would end it.
        let mut transaction = pool.begin().await?;
        let rows = sqlx::query(AssertSqlSafe(statement(LOST)))
            .bind(own.node)
            .bind(own.epoch)
            .bind(lease.seconds())
            .bind(PORTION)
            .bind(unreadable.ids())
            .fetch_all(&mut *transaction)
            .await?;
        let (mut tasks, mut bad) = (Vec::with_capacity(rows.len()), Vec::new());
        for row in &rows {
            match claimed(row) {
                Ok(claimed) => tasks.push(claimed),
                Err(error) => {
                    let id: Uuid = row.try_get("id")?;
                    let task = TaskId::from_uuid(id);
                    tracing::error!(task.id = %task, error = &error as &dyn std::error::Error, "a lost task cannot be read");
                    bad.push(id);
                }
            }
        }
        let_go(&mut transaction, own.node, &bad).await?;
        transaction.commit().await?;
        unreadable.add(&bad);
        if !tasks.is_empty() || rows.is_empty() {
            return Ok(tasks);
        }
    }
}

async fn let_go(connection: &mut PgConnection, node: Uuid, tasks: &[Uuid]) -> Result<(), StoreError> {
    if !tasks.is_empty() {
        sqlx::query("UPDATE tasks SET lease_owner = $1 WHERE id = ANY ($2) AND lease_owner = $3")
            .bind(Uuid::nil())
            .bind(tasks)
            .bind(node)
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// The same task once more, if it is still this node's.
pub(crate) async fn again(
    pool: &PgPool,
    lease: &Lease,
    tenant: TenantId,
    task: TaskId,
) -> Result<Option<Claimed>, StoreError> {
    let own = lease.current();
    let row = sqlx::query(AssertSqlSafe(statement(OWN)))
        .bind(own.node)
        .bind(own.epoch)
        .bind(tenant.as_uuid())
        .bind(task.as_uuid())
        .fetch_optional(pool)
        .await?;
    row.as_ref().map(claimed).transpose()
}

/// Gives a task back that this node will not finish, under whichever of its epochs: it is lost from now on.
pub(crate) async fn release(pool: &PgPool, lease: &Lease, tenant: TenantId, task: TaskId) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE tasks SET lease_owner = $4
         WHERE tenant_id = $1 AND id = $2 AND lease_owner = $3 AND state IN (0, 1)",
    )
    .bind(tenant.as_uuid())
    .bind(task.as_uuid())
    .bind(lease.node().as_uuid())
    .bind(Uuid::nil())
    .execute(pool)
    .await?;
    Ok(())
}

/// A running task's row does not follow its events: where they end is in their own table.
fn statement(chosen: &'static str) -> String {
    format!(
        "WITH chosen AS ({chosen})
         UPDATE tasks t SET lease_owner = $1, lease_epoch = $2,
             last_seq = CASE WHEN t.last_seq = 0 THEN 0 ELSE greatest(t.last_seq,
                 (SELECT max(e.seq) FROM task_events e WHERE e.task_id = chosen.id)) END
         FROM chosen WHERE t.tenant_id = chosen.tenant_id AND t.id = chosen.id
         RETURNING t.tenant_id, EXISTS (SELECT FROM task_cancels c WHERE c.task_id = t.id) AS canceled,
             chosen.before = '00000000-0000-0000-0000-000000000000' AS given_back,
             t.id, t.skill, t.version, t.context_id, t.parent_id, t.caller, t.door, t.alias, t.state, t.failure, t.ask,
             t.input, t.history, t.artifacts, t.attempt, t.turn, t.last_seq, t.cpu_us, t.wall_us, t.created_at,
             t.updated_at, t.step, t.run, t.guard"
    )
}

fn claimed(row: &PgRow) -> Result<Claimed, StoreError> {
    let tenant = TenantId::from_row(row.try_get("tenant_id")?);
    let (canceled, given_back) = (row.try_get("canceled")?, row.try_get("given_back")?);
    let row = TaskRow::from_row(row)?;
    let kept = row.kept();
    Ok(Claimed { tenant, task: row.task()?, kept, canceled, given_back })
}
