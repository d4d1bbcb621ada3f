//! Retention: partitions ahead of time, unfinished tasks ended, old partitions dropped, aliases after them, and values
//! whose time is up; versions that nobody can need; usage is kept longer.

use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::PgConnectOptions;
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::caller_usage;
use crate::ending;
use crate::error::StoreError;
use crate::node::Ticks;
use crate::partitions;
use crate::sweep;
use crate::tenant_store::{dispatches, guards};
use crate::usage;

const PERIOD: Duration = Duration::from_secs(600);
/// Values taken away in one statement.
const SWEEP: i64 = 5_000;

/// What a round of maintenance did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Maintenance {
    /// Partitions made.
    pub created: usize,
    /// Partitions dropped.
    pub dropped: usize,
    /// Tasks that were not final when their time was up.
    pub expired: u64,
    /// Aliases whose task is gone.
    pub aliases: u64,
    /// Values of functions that have expired.
    pub values: u64,
    /// Versions that were switched off long ago.
    pub versions: u64,
    /// Sources that no version had any more.
    pub sources: u64,
}

/// What maintenance works with.
#[derive(Clone)]
pub(crate) struct Keeper {
    pub(crate) options: PgConnectOptions,
    pub(crate) pool: PgPool,
    pub(crate) retention: Duration,
    /// Versions that are kept of each function as a way back.
    pub(crate) versions: u32,
    /// Days that rows of the audit log are kept.
    pub(crate) audit_days: u32,
}

impl Keeper {
    pub(crate) async fn maintain(&self, now: OffsetDateTime) -> Result<Maintenance, StoreError> {
        let limit = now - self.retention;
        let oldest = partitions::bound(limit);
        let created = partitions::ensure(&self.options, now).await?;
        // Before the partitions go: whoever still watches such a task learns how it ended.
        let expired = ending::expire(&self.pool, oldest).await?;
        let dropped = partitions::drop_before(&self.options, now, limit).await?;
        let aliases = self.forget("DELETE FROM task_aliases WHERE task_id < $1", oldest).await?;
        self.forget("DELETE FROM task_keys WHERE task_id < $1", oldest).await?;
        self.forget("DELETE FROM task_cancels WHERE task_id < $1", oldest).await?;
        self.forget("DELETE FROM push_configs WHERE task_id < $1", oldest).await?;
        self.forget("DELETE FROM client_replies WHERE task_id < $1", oldest).await?;
        sqlx::query("DELETE FROM mcp_sessions WHERE expires_at <= now()").execute(&self.pool).await?;
        // A node that long gone is not coming back under the same name.
        sqlx::query("DELETE FROM nodes WHERE beat_at < now() - interval '1 hour'").execute(&self.pool).await?;
        sqlx::query("DELETE FROM usage WHERE day < $1::date - $2::int")
            .bind(now.date())
            .bind(usage::KEPT_DAYS)
            .execute(&self.pool)
            .await?;
        sqlx::query("DELETE FROM caller_usage WHERE day < $1::date - $2::int")
            .bind(now.date())
            .bind(caller_usage::KEPT_DAYS)
            .execute(&self.pool)
            .await?;
        let long_ago = partitions::bound(now - time::Duration::days(guards::KEPT_DAYS));
        self.forget("DELETE FROM guard_findings WHERE id < $1", long_ago).await?;
        let long_ago = partitions::bound(now - time::Duration::days(dispatches::KEPT_DAYS));
        self.forget("DELETE FROM dispatches WHERE id < $1", long_ago).await?;
        // By the database's clock, which is also the clock of the rows.
        sqlx::query("DELETE FROM audit_log WHERE at < now() - make_interval(days => $1)")
            .bind(i32::try_from(self.audit_days).unwrap_or(i32::MAX))
            .execute(&self.pool)
            .await?;
        let values = self.sweep_values().await?;
        let (versions, sources) = sweep::sweep(&self.pool, now, self.retention, self.versions).await?;
        Ok(Maintenance { created, dropped, expired, aliases, values, versions, sources })
    }

    /// Expired values are invisible at once; here they are taken away, and no longer count.
    async fn sweep_values(&self) -> Result<u64, StoreError> {
        let mut total = 0;
        loop {
            let gone: i64 = sqlx::query_scalar(
                "WITH gone AS (
                     DELETE FROM key_values v USING (
                         SELECT tenant_id, key FROM key_values WHERE expires_at <= now() LIMIT $1
                     ) e WHERE v.tenant_id = e.tenant_id AND v.key = e.key RETURNING v.tenant_id, v.size
                 ), sums AS (
                     SELECT tenant_id, sum(size)::bigint AS bytes FROM gone GROUP BY tenant_id
                 ), charged AS (
                     UPDATE key_value_usage u SET bytes = u.bytes - s.bytes FROM sums s WHERE u.tenant_id = s.tenant_id
                 )
                 SELECT count(*) FROM gone",
            )
            .bind(SWEEP)
            .fetch_one(&self.pool)
            .await?;
            total += gone.unsigned_abs();
            if gone < SWEEP {
                return Ok(total);
            }
        }
    }

    async fn forget(&self, statement: &'static str, oldest: Uuid) -> Result<u64, StoreError> {
        Ok(sqlx::query(statement).bind(oldest).execute(&self.pool).await?.rows_affected())
    }

    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut ticks = Ticks::new(PERIOD, stop);
        while ticks.next().await {
            match self.maintain(OffsetDateTime::now_utc()).await {
                Ok(done) => tracing::debug!(?done, "maintenance is done"),
                Err(error) => tracing::error!(error = &error as &dyn std::error::Error, "maintenance failed"),
            }
        }
    }
}
