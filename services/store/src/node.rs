//! This node's proof of life.
//!
//! Only the database's clock counts. A node that could not prove its life in time gets a new epoch, so that what it
//! held before is no longer its own, exactly as if it had been restarted.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::StoreError;

const BEAT: Duration = Duration::from_secs(2);
/// Shorter than the lease of 10 s that the statements below give a node: it knows before the others do.
const FRESH: Duration = Duration::from_secs(8);

/// A running node. Every start of the program is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(Uuid);

impl NodeId {
    pub const fn as_uuid(&self) -> Uuid {
        self.0
    }
}

/// What tasks are leased to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Epoch {
    pub(crate) node: Uuid,
    pub(crate) epoch: i64,
}

/// This node's lease as it is now.
pub(crate) struct Lease {
    node: NodeId,
    epoch: AtomicI64,
    beaten: watch::Sender<Instant>,
}

impl Lease {
    /// Takes a new node's place among the running ones.
    pub(crate) async fn take(pool: &PgPool) -> Result<Self, StoreError> {
        let lease =
            Self { node: NodeId(Uuid::now_v7()), epoch: AtomicI64::new(0), beaten: watch::Sender::new(Instant::now()) };
        lease.beat(pool).await?;
        Ok(lease)
    }

    pub(crate) const fn node(&self) -> NodeId {
        self.node
    }

    pub(crate) fn current(&self) -> Epoch {
        Epoch { node: self.node.0, epoch: self.epoch.load(Ordering::Relaxed) }
    }

    /// Whether the other nodes still take this one for alive, as far as it can know.
    pub(crate) fn is_fresh(&self) -> bool {
        self.beaten.borrow().elapsed() < FRESH
    }

    /// Too late, or swept away: the next epoch begins.
    async fn beat(&self, pool: &PgPool) -> Result<(), StoreError> {
        let sent = Instant::now();
        let epoch: i64 = sqlx::query_scalar(
            "INSERT INTO nodes AS n (id, epoch) VALUES ($1, $2 + 1)
             ON CONFLICT (id) DO UPDATE SET beat_at = now(),
                 epoch = CASE WHEN n.beat_at < now() - interval '10 seconds' THEN n.epoch + 1 ELSE n.epoch END
             RETURNING epoch",
        )
        .bind(self.node.0)
        .bind(self.epoch.load(Ordering::Relaxed))
        .fetch_one(pool)
        .await?;
        let before = self.epoch.swap(epoch, Ordering::Relaxed);
        if before != 0 && before != epoch {
            tracing::error!(node.epoch = epoch, "this node was out of touch too long; its running tasks are lost");
        }
        self.beaten.send_replace(sent);
        Ok(())
    }

    /// Leaves: what is still leased to this node is lost from now on.
    pub(crate) async fn give_up(&self, pool: &PgPool) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM nodes WHERE id = $1").bind(self.node.0).execute(pool).await?;
        Ok(())
    }
}

pub(crate) async fn beat_loop(lease: Arc<Lease>, pool: PgPool, stop: CancellationToken) {
    let mut ticks = Ticks::new(BEAT, stop);
    while ticks.next().await {
        if let Err(error) = lease.beat(&pool).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "this node could not prove that it lives");
        }
    }
}

/// The times at which a loop does its work, until it is told to stop.
pub(crate) struct Ticks {
    interval: Interval,
    stop: CancellationToken,
}

impl Ticks {
    pub(crate) fn new(period: Duration, stop: CancellationToken) -> Self {
        let mut interval = tokio::time::interval_at(Instant::now() + period, period);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { interval, stop }
    }

    /// `false`: stop.
    pub(crate) async fn next(&mut self) -> bool {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => false,
            _ = self.interval.tick() => true,
        }
    }
}
