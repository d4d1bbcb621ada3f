//! This node among the others: it hears what they change, stands by its lease, and takes over what they lose.

use std::sync::Weak;
use std::time::Duration;

use pleat_domain::{TaskId, TenantId};
use pleat_store::{Standing, Wake};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::MissedTickBehavior;

use crate::engine::{Engine, Inner};
use crate::error::EngineError;
use crate::hub::Interrupt;
use crate::tidy;

/// How often the wishes to cancel are looked at, should a notice be lost.
const LOOK: Duration = Duration::from_secs(1);

/// Starts the loops. They hold no engine, so that the last one's end is theirs.
pub(crate) fn attend(engine: &Engine) {
    let inner = &engine.inner;
    let (closed, weak, store) = (&inner.closed, std::sync::Arc::downgrade(inner), &inner.store);
    let chores = [
        closed.clone().run_until_cancelled_owned(Box::pin(hear(weak.clone(), store.heard())) as Chore),
        closed.clone().run_until_cancelled_owned(Box::pin(stand(weak.clone(), store.standing())) as Chore),
        closed.clone().run_until_cancelled_owned(Box::pin(sweep(weak.clone(), store.lease())) as Chore),
        closed.clone().run_until_cancelled_owned(Box::pin(look(weak.clone())) as Chore),
        closed.clone().run_until_cancelled_owned(Box::pin(tidy::keep_tidy(weak)) as Chore),
    ];
    chores.into_iter().for_each(|chore| drop(inner.chores.spawn(chore)));
}

type Chore = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

fn engine(weak: &Weak<Inner>) -> Option<Engine> {
    weak.upgrade().map(|inner| Engine { inner })
}

async fn hear(weak: Weak<Inner>, mut heard: tokio::sync::broadcast::Receiver<Wake>) {
    loop {
        let wake = match heard.recv().await {
            Ok(wake) => wake,
            Err(RecvError::Lagged(_)) => Wake::Look,
            Err(RecvError::Closed) => return,
        };
        let Some(engine) = engine(&weak) else { return };
        engine.woken(wake).await;
    }
}

/// A node whose lease is gone stops what it runs: others run it.
async fn stand(weak: Weak<Inner>, mut standing: tokio::sync::watch::Receiver<Standing>) {
    while standing.changed().await.is_ok() {
        let Some(engine) = engine(&weak) else { return };
        let now = *standing.borrow_and_update();
        engine.inner.hub.stop_where(|live| (Standing::Held { epoch: live.epoch } != now).then_some(Interrupt::Fenced));
    }
}

/// About three times within a lease, and when a node says that it leaves.
async fn sweep(weak: Weak<Inner>, lease: Duration) {
    let mut ticks = tokio::time::interval(lease * 3 / 10);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let Some(asked) = weak.upgrade().map(|inner| std::sync::Arc::clone(&inner.sweep)) else { return };
        tokio::select! {
            _ = ticks.tick() => {}
            () = asked.notified() => {}
        }
        let Some(engine) = engine(&weak) else { return };
        if let Err(error) = engine.rescue().await {
            tracing::warn!(error = &error as &dyn std::error::Error, "lost tasks could not be looked for");
        }
    }
}

async fn look(weak: Weak<Inner>) {
    let mut ticks = tokio::time::interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(engine) = engine(&weak) else { return };
        let running: Vec<TaskId> = engine.inner.hub.ids().into_iter().chain(engine.inner.held.ids()).collect();
        if running.is_empty() || engine.inner.store.other_nodes() == 0 {
            continue;
        }
        match engine.inner.store.canceled_among(&running).await {
            Ok(canceled) => engine.cancel_those(&canceled),
            Err(error) => tracing::debug!(error = &error as &dyn std::error::Error, "cancels could not be looked for"),
        }
    }
}

impl Engine {
    async fn woken(&self, wake: Wake) {
        let inner = &self.inner;
        match wake {
            Wake::Tasks(ids) => inner.news.changed(&ids),
            Wake::Cancels(ids) => self.cancel_those(&ids),
            Wake::Catalog(tenant) => inner.catalogs.forget(tenant),
            Wake::Key(id) => inner.keys.forget(&id),
            Wake::Session(id) => inner.sessions.forget(id),
            Wake::Tenant(tenant, slug) => {
                inner.tenants.invalidate(&slug);
                inner.absent_tenants.forget(&slug);
                inner.catalogs.forget(tenant);
                if matches!(inner.store.key_tenant(tenant).await, Ok(None)) {
                    inner.hub.stop_tenant(tenant);
                }
            }
            Wake::Sweep => inner.sweep.notify_one(),
            Wake::Look => {
                inner.news.all_changed();
                inner.catalogs.all_changed();
                inner.sweep.notify_one();
            }
        }
    }

    /// Those of them that are here.
    fn cancel_those(&self, ids: &[TaskId]) {
        self.inner.hub.cancel(ids);
        self.inner.held.cancel(ids);
    }

    /// Everything that keeps a node from taking work, whatever the work is.
    pub(crate) fn open_for_work(&self) -> Result<(), EngineError> {
        if self.inner.stopping.is_cancelled() {
            return Err(EngineError::ShuttingDown);
        }
        if !self.inner.store.lease_is_fresh() {
            return Err(EngineError::OutOfTouch);
        }
        Ok(())
    }

    /// Lets go of a task that this node holds and will not end. Tried until the database takes it: nothing else would
    /// find a task that a living node holds and does not run.
    pub(crate) async fn give_back(&self, tenant: TenantId, id: TaskId) {
        while let Err(error) = self.inner.store.release(tenant, id).await {
            // A node that ends gives everything back at once.
            if !error.is_transient() || self.inner.stopping.is_cancelled() {
                tracing::warn!(task.id = %id, error = &error as &dyn std::error::Error, "a task was not given back");
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Resolves when the node is told to stop.
    pub async fn draining(&self) {
        self.inner.stopping.cancelled().await;
    }

    /// Told to stop: running calls are finished, new ones are refused.
    pub fn is_draining(&self) -> bool {
        self.inner.stopping.is_cancelled()
    }

    /// Whether this node's lease is good: otherwise it refuses work.
    pub fn holds_lease(&self) -> bool {
        self.inner.store.lease_is_fresh()
    }

    /// How many nodes of the installation live, this one included.
    pub fn living_nodes(&self) -> usize {
        self.inner.store.other_nodes() + 1
    }
}
