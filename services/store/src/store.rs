//! Opening and closing a node's store. What it holds is reached from here; the queries are elsewhere.

use std::sync::Arc;
use std::time::Duration;

use pleat_domain::TenantId;
use sqlx::{Connection, PgPool};
use time::OffsetDateTime;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::config::StoreConfig;
use crate::connect::{self, Role};
use crate::ending;
use crate::error::StoreError;
use crate::maintenance::{Keeper, Maintenance};
use crate::migrate;
use crate::node::{self, Lease, NodeId};
use crate::tenant_store::TenantStore;
use crate::writer::Writer;

/// How long the writers may take to write what is queued when the store closes.
const FLUSH: Duration = Duration::from_secs(30);

/// Connections for the beat, the sweep, the maintenance and the usage, so that none waits for another.
const KEEPERS: u32 = 4;

/// A node's store. Clones share everything; the loops end with [`Store::close`], or with the last clone.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    readers: PgPool,
    keeper: Keeper,
    lease: Arc<Lease>,
    writer: Writer,
    tracker: TaskTracker,
    stop: CancellationToken,
    _stop_on_drop: DropGuard,
}

impl Store {
    /// Connects, brings the schema up to date, takes a lease, ends what lost nodes left behind, and starts the loops.
    pub async fn open(config: StoreConfig) -> Result<Self, StoreError> {
        let options = connect::options(&config.url)?;
        let mut owner = connect::owner(&options).await?;
        migrate::run(&mut owner).await?;
        owner.close().await?;
        let readers = connect::pool(&options, Role::App, config.readers.max(1)).await?;
        let keepers = connect::pool(&options, Role::Writer, KEEPERS).await?;
        let keeper = Keeper { options, pool: keepers, retention: config.retention };
        keeper.maintain(OffsetDateTime::now_utc()).await?;
        let lease = Arc::new(Lease::take(&keeper.pool).await?);
        ending::sweep(&keeper.pool).await?;

        let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
        let writer = Writer::start(&config, &keeper.options, &lease, &tracker, &stop);
        tracker.spawn(node::beat_loop(lease.clone(), keeper.pool.clone(), stop.clone()));
        tracker.spawn(ending::sweep_loop(keeper.pool.clone(), stop.clone()));
        tracker.spawn(keeper.clone().run(stop.clone()));
        let _stop_on_drop = stop.clone().drop_guard();
        Ok(Self { shared: Arc::new(Shared { readers, keeper, lease, writer, tracker, stop, _stop_on_drop }) })
    }

    /// Stops the loops, writes what is queued, and leaves the nodes. Later commits are refused.
    pub async fn close(&self) {
        self.shared.stop.cancel();
        self.shared.tracker.close();
        if tokio::time::timeout(FLUSH, self.shared.tracker.wait()).await.is_err() {
            tracing::error!("the writers did not finish in time; unacknowledged tasks are lost");
        }
        if let Err(error) = self.shared.lease.give_up(&self.shared.keeper.pool).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "this node could not sign off");
        }
        self.shared.keeper.pool.close().await;
        self.shared.readers.close().await;
    }

    /// This node, as tasks are leased to it.
    pub fn node(&self) -> NodeId {
        self.shared.lease.node()
    }

    /// `false`: this node could not prove for a while that it lives, and others may already have ended its tasks.
    pub fn lease_is_fresh(&self) -> bool {
        self.shared.lease.is_fresh()
    }

    pub async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(self.readers()).await?;
        Ok(())
    }

    /// The tenant-scoped handle.
    pub fn tenant(&self, tenant: TenantId) -> TenantStore {
        TenantStore::new(self.clone(), tenant)
    }

    pub fn writer(&self) -> &Writer {
        &self.shared.writer
    }

    /// One round of maintenance as of `now`; a loop does it every ten minutes.
    pub async fn maintain(&self, now: OffsetDateTime) -> Result<Maintenance, StoreError> {
        self.shared.keeper.maintain(now).await
    }

    pub(crate) fn readers(&self) -> &PgPool {
        &self.shared.readers
    }

    /// Sees all tenants, but only what nodes write.
    pub(crate) fn keepers(&self) -> &PgPool {
        &self.shared.keeper.pool
    }

    pub(crate) fn retention(&self) -> Duration {
        self.shared.keeper.retention
    }
}
