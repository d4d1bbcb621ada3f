//! Opening and closing a node's store. What it holds is reached from here; the queries are elsewhere.

use std::sync::Arc;
use std::time::Duration;

use pleat_domain::{TaskId, TenantId};
use sqlx::{Connection, PgPool};
use time::OffsetDateTime;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::claim::{self, Claimed, Unreadable};
use crate::config::StoreConfig;
use crate::connect::{self, Role};
use crate::error::StoreError;
use crate::maintenance::{Keeper, Maintenance};
use crate::migrate;
use crate::node::{self, Lease, NodeId, Standing};
use crate::tenant_store::TenantStore;
use crate::wake::{Bell, Wake};
use crate::writer::Writer;

/// How long the writers may take to write what is queued when the store closes.
const FLUSH: Duration = Duration::from_secs(30);

/// Connections for the beat, the sweep and cancels, the maintenance, the usage and the receivers of notifications, so
/// that none waits for another.
const KEEPERS: u32 = 5;

/// A node's store. Clones share everything; the loops end with [`Store::close`], or with the last clone.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    readers: PgPool,
    keeper: Keeper,
    lease: Arc<Lease>,
    unreadable: Unreadable,
    bell: Arc<Bell>,
    writer: Writer,
    tracker: TaskTracker,
    stop: CancellationToken,
    _stop_on_drop: DropGuard,
}

/// What waits and what is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Operations that wait for the writers, and their payload.
    pub queued: usize,
    pub queued_bytes: usize,
    /// Connections for reads.
    pub idle: usize,
    pub used: usize,
}

impl Store {
    /// Connects, brings the schema up to date, takes a lease, and starts the loops.
    pub async fn open(config: StoreConfig) -> Result<Self, StoreError> {
        let options = connect::options(&config.url)?;
        let mut owner = connect::owner(&options).await?;
        migrate::run(&mut owner).await?;
        owner.close().await?;
        let readers = connect::pool(&options, Role::App, config.readers.max(1)).await?;
        let keepers = connect::pool(&options, Role::Writer, KEEPERS).await?;
        let keeper = Keeper {
            options,
            pool: keepers,
            retention: config.retention,
            versions: config.versions,
            audit_days: config.audit_days,
        };
        keeper.maintain(OffsetDateTime::now_utc()).await?;
        let lease = Arc::new(Lease::take(&keeper.pool, config.lease).await?);

        let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
        let bell = Bell::start(&keeper.options, &lease, &tracker, &stop);
        let writer = Writer::start(&config, &keeper.options, &lease, &bell, &tracker, &stop);
        tracker.spawn(node::beat_loop(lease.clone(), keeper.pool.clone(), stop.clone()));
        tracker.spawn(node::lapse_loop(lease.clone(), stop.clone()));
        tracker.spawn(keeper.clone().run(stop.clone()));
        let _stop_on_drop = stop.clone().drop_guard();
        let unreadable = Unreadable::default();
        let shared = Shared { readers, keeper, lease, unreadable, bell, writer, tracker, stop, _stop_on_drop };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Stops the loops, writes what is queued, and leaves the nodes. Later commits are refused.
    pub async fn close(&self) {
        self.shared.stop.cancel();
        self.shared.tracker.close();
        if tokio::time::timeout(FLUSH, self.shared.tracker.wait()).await.is_err() {
            tracing::error!("the writers did not finish in time; unacknowledged tasks are lost");
        }
        if let Err(error) = self.sign_off().await {
            tracing::warn!(error = &error as &dyn std::error::Error, "this node could not sign off");
        }
        self.shared.keeper.pool.close().await;
        self.shared.readers.close().await;
    }

    async fn sign_off(&self) -> Result<(), StoreError> {
        let pool = &self.shared.keeper.pool;
        self.shared.lease.give_up(pool).await?;
        self.shared.bell.say_farewell(pool).await
    }

    /// This node, as tasks are leased to it.
    pub fn node(&self) -> NodeId {
        self.shared.lease.node()
    }

    /// `false`: this node could not prove for a while that it lives, and others may already have ended its tasks.
    pub fn lease_is_fresh(&self) -> bool {
        self.shared.lease.is_fresh()
    }

    /// The lease as it changes.
    pub fn standing(&self) -> watch::Receiver<Standing> {
        self.shared.lease.standing()
    }

    /// Under which tasks are leased to this node now.
    pub fn epoch(&self) -> i64 {
        self.shared.lease.current().epoch
    }

    /// How long a node is taken for alive after its last sign of life.
    pub fn lease(&self) -> Duration {
        self.shared.lease.length()
    }

    /// How many other nodes live, as of the last beat.
    pub fn other_nodes(&self) -> usize {
        self.shared.lease.others()
    }

    /// What the other nodes say has changed, from now on.
    pub fn heard(&self) -> broadcast::Receiver<Wake> {
        self.shared.bell.heard()
    }

    /// Tells the other nodes, soon and after everything that was committed before.
    pub fn announce(&self, wake: Wake) {
        self.shared.bell.announce(wake);
    }

    /// Leases some of the tasks that nobody holds any more to this node, which must then run or end them.
    pub async fn claim_lost(&self) -> Result<Vec<Claimed>, StoreError> {
        claim::lost(&self.shared.keeper.pool, &self.shared.lease, &self.shared.unreadable).await
    }

    /// A claimed task as it is now; `None` when it is no longer this node's.
    pub async fn claim_again(&self, tenant: TenantId, task: TaskId) -> Result<Option<Claimed>, StoreError> {
        claim::again(&self.shared.keeper.pool, &self.shared.lease, tenant, task).await
    }

    /// Gives up a task that this node holds and will not finish: any node may claim it.
    pub async fn release(&self, tenant: TenantId, task: TaskId) -> Result<(), StoreError> {
        claim::release(&self.shared.keeper.pool, &self.shared.lease, tenant, task).await?;
        self.announce(Wake::Sweep);
        Ok(())
    }

    /// Which of these somebody has asked to cancel.
    pub async fn canceled_among(&self, tasks: &[TaskId]) -> Result<Vec<TaskId>, StoreError> {
        let ids: Vec<Uuid> = tasks.iter().map(TaskId::as_uuid).collect();
        let found = sqlx::query_scalar("SELECT task_id FROM task_cancels WHERE task_id = ANY($1)")
            .bind(ids)
            .fetch_all(&self.shared.keeper.pool)
            .await?;
        Ok(found.into_iter().map(TaskId::from_uuid).collect())
    }

    pub async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(self.readers()).await?;
        Ok(())
    }

    /// How many connections there are at most for reads and for the control API.
    pub fn connections(&self) -> usize {
        self.shared.readers.options().get_max_connections() as usize
    }

    /// How busy it is now.
    pub fn load(&self) -> Load {
        let (queued, queued_bytes) = self.shared.writer.waiting();
        let (open, idle) = (self.shared.readers.size() as usize, self.shared.readers.num_idle());
        Load { queued, queued_bytes, idle, used: open.saturating_sub(idle) }
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

    pub(crate) fn own_lease(&self) -> &Lease {
        &self.shared.lease
    }

    pub(crate) fn bell(&self) -> &Bell {
        &self.shared.bell
    }

    /// How long tasks are kept.
    pub fn retention(&self) -> Duration {
        self.shared.keeper.retention
    }
}
