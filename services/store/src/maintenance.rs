//! Retention: partitions ahead of time, unfinished tasks ended, old partitions dropped, aliases after them; usage is
//! kept longer.

use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::PgConnectOptions;
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use crate::ending;
use crate::error::StoreError;
use crate::node::Ticks;
use crate::partitions;
use crate::usage;

const PERIOD: Duration = Duration::from_secs(600);

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
}

/// What maintenance works with.
#[derive(Clone)]
pub(crate) struct Keeper {
    pub(crate) options: PgConnectOptions,
    pub(crate) pool: PgPool,
    pub(crate) retention: Duration,
}

impl Keeper {
    pub(crate) async fn maintain(&self, now: OffsetDateTime) -> Result<Maintenance, StoreError> {
        let limit = now - self.retention;
        let oldest = partitions::bound(limit);
        let created = partitions::ensure(&self.options, now).await?;
        // Before the partitions go: whoever still watches such a task learns how it ended.
        let expired = ending::expire(&self.pool, oldest).await?;
        let dropped = partitions::drop_before(&self.options, now, limit).await?;
        let aliases = sqlx::query("DELETE FROM task_aliases WHERE task_id < $1")
            .bind(oldest)
            .execute(&self.pool)
            .await?
            .rows_affected();
        sqlx::query("DELETE FROM usage WHERE day < $1::date - $2::int")
            .bind(now.date())
            .bind(usage::KEPT_DAYS)
            .execute(&self.pool)
            .await?;
        Ok(Maintenance { created, dropped, expired, aliases })
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
