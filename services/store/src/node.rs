//! This node's proof of life.
//!
//! Only the database's clock counts. A node that could not prove its life in time gets a new epoch, so that what it
//! held before is no longer its own, exactly as if it had been restarted. It notices before the others do, and by
//! itself: see [`Standing::Lapsed`].

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::StoreError;

/// A running node. Every start of the program is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(Uuid);

impl NodeId {
    pub const fn as_uuid(&self) -> Uuid {
        self.0
    }

    #[cfg(test)]
    pub(crate) const fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

/// What tasks are leased to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Epoch {
    pub(crate) node: Uuid,
    pub(crate) epoch: i64,
}

/// What a node may believe of its lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// What is leased under this epoch is its own.
    Held { epoch: i64 },
    /// It could not prove its life for too long: the others may be about to take over what it runs. The next proof
    /// begins another epoch.
    Lapsed,
}

/// This node's lease as it is now.
pub(crate) struct Lease {
    node: NodeId,
    /// How long a node is taken for alive after its last beat. The same on every node.
    length: Duration,
    standing: watch::Sender<Standing>,
    beaten: watch::Sender<Instant>,
    /// The last epoch, also while the lease is lapsed.
    epoch: watch::Sender<i64>,
    others: AtomicUsize,
    /// All nodes that live, as of the last beat.
    living: watch::Sender<Vec<Uuid>>,
}

impl Lease {
    /// Takes a new node's place among the running ones.
    pub(crate) async fn take(pool: &PgPool, length: Duration) -> Result<Self, StoreError> {
        let lease = Self {
            node: NodeId(Uuid::now_v7()),
            length,
            standing: watch::Sender::new(Standing::Lapsed),
            beaten: watch::Sender::new(Instant::now()),
            epoch: watch::Sender::new(0),
            others: AtomicUsize::new(0),
            living: watch::Sender::new(Vec::new()),
        };
        lease.beat(pool).await?;
        Ok(lease)
    }

    pub(crate) const fn node(&self) -> NodeId {
        self.node
    }

    pub(crate) const fn length(&self) -> Duration {
        self.length
    }

    /// In seconds, as the statements take it.
    pub(crate) const fn seconds(&self) -> f64 {
        self.length.as_secs_f64()
    }

    pub(crate) fn current(&self) -> Epoch {
        Epoch { node: self.node.0, epoch: *self.epoch.borrow() }
    }

    /// Whether the other nodes still take this one for alive, as far as it can know.
    pub(crate) fn is_fresh(&self) -> bool {
        *self.standing.borrow() != Standing::Lapsed && self.beaten.borrow().elapsed() < self.fresh()
    }

    pub(crate) fn standing(&self) -> watch::Receiver<Standing> {
        self.standing.subscribe()
    }

    /// How many other nodes live, as of the last beat.
    pub(crate) fn others(&self) -> usize {
        self.others.load(Ordering::Relaxed)
    }

    /// The nodes that live, this one among them, as of the last beat.
    pub(crate) fn living(&self) -> Vec<Uuid> {
        self.living.borrow().clone()
    }

    /// A node has made itself known between two beats.
    pub(crate) fn greeted(&self) {
        self.others.fetch_max(1, Ordering::Relaxed);
    }

    /// Shorter than the lease: this node knows before the others do.
    fn fresh(&self) -> Duration {
        self.length * 4 / 5
    }

    /// Too late, swept away, or given up by itself: the next epoch begins.
    async fn beat(&self, pool: &PgPool) -> Result<(), StoreError> {
        let (sent, before) = (Instant::now(), *self.epoch.borrow());
        let lapsed = !self.is_fresh();
        let proof = sqlx::query_as::<_, (i64, Vec<Uuid>)>(
            "INSERT INTO nodes AS n (id, epoch) VALUES ($1, $2 + 1)
             ON CONFLICT (id) DO UPDATE SET beat_at = now(),
                 epoch = CASE WHEN $3 OR n.beat_at < now() - make_interval(secs => $4) THEN n.epoch + 1 ELSE n.epoch END
             RETURNING epoch,
                 ARRAY(SELECT o.id FROM nodes o WHERE o.id <> $1 AND o.beat_at > now() - make_interval(secs => $4))",
        )
        .bind(self.node.0)
        .bind(before)
        .bind(lapsed)
        .bind(self.seconds())
        .fetch_one(pool);
        // A beat that comes too late is none: better to try another.
        let proof = tokio::time::timeout(self.length / 2, proof).await;
        let (epoch, mut living) = proof.map_err(|_| StoreError::from(sqlx::Error::PoolTimedOut))??;
        if before != 0 && before != epoch {
            tracing::error!(node.epoch = epoch, "this node was out of touch too long; its running tasks are lost");
        }
        self.others.store(living.len(), Ordering::Relaxed);
        living.push(self.node.0);
        self.living.send_replace(living);
        self.epoch.send_replace(epoch);
        if self.hold(epoch, lapsed) {
            self.beaten.send_replace(sent);
        }
        Ok(())
    }

    /// `false`: the lease lapsed while the beat was on its way, and its epoch is over. The next beat begins another.
    fn hold(&self, epoch: i64, lapsed_before: bool) -> bool {
        let mut held = true;
        self.standing.send_if_modified(|now| {
            held = lapsed_before || *now != Standing::Lapsed;
            let standing = if held { Standing::Held { epoch } } else { Standing::Lapsed };
            std::mem::replace(now, standing) != standing
        });
        held
    }

    fn lapse(&self) {
        self.standing.send_if_modified(|now| std::mem::replace(now, Standing::Lapsed) != Standing::Lapsed);
    }

    /// Leaves: what is still leased to this node is lost from now on.
    pub(crate) async fn give_up(&self, pool: &PgPool) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM nodes WHERE id = $1").bind(self.node.0).execute(pool).await?;
        Ok(())
    }
}

pub(crate) async fn beat_loop(lease: Arc<Lease>, pool: PgPool, stop: CancellationToken) {
    let mut ticks = Ticks::new(lease.length / 5, stop);
    while ticks.next().await {
        if let Err(error) = lease.beat(&pool).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "this node could not prove that it lives");
        }
    }
}

/// Says when the lease has lapsed. Apart from the beat, which may be waiting for a database that does not answer.
pub(crate) async fn lapse_loop(lease: Arc<Lease>, stop: CancellationToken) {
    let mut beaten = lease.beaten.subscribe();
    loop {
        let deadline = *beaten.borrow_and_update() + lease.fresh();
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            _ = beaten.changed() => continue,
            () = tokio::time::sleep_until(deadline) => {}
        }
        tracing::error!("this node could not prove that it lives; it stops what it runs and takes no work");
        lease.lapse();
        tokio::select! {
            () = stop.cancelled() => return,
            _ = beaten.changed() => {}
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
