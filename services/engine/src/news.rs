//! Tasks that run elsewhere and are followed here: whoever waits is woken when another node says that they changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pleat_domain::{Task, TaskId, TenantId};
use tokio::sync::watch;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::hub::lock;

/// How long nobody waits without looking: a notice may be lost.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

/// The same for a task that waits for its caller, which may take hours.
pub(crate) const IDLE: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(crate) struct News {
    followed: Mutex<HashMap<TaskId, watch::Sender<()>>>,
}

impl News {
    pub(crate) fn follow(self: &Arc<Self>, id: TaskId) -> Follower {
        let receiver = lock(&self.followed).entry(id).or_insert_with(|| watch::Sender::new(())).subscribe();
        Follower { news: Arc::clone(self), id, receiver }
    }

    pub(crate) fn changed(&self, ids: &[TaskId]) {
        let followed = lock(&self.followed);
        ids.iter().filter_map(|id| followed.get(id)).for_each(|sender| sender.send_replace(()));
    }

    /// Notices may have been missed.
    pub(crate) fn all_changed(&self) {
        lock(&self.followed).values().for_each(|sender| sender.send_replace(()));
    }
}

/// Somebody who waits for news of a task. Look after `looking`, then wait: nothing falls in between.
pub(crate) struct Follower {
    news: Arc<News>,
    id: TaskId,
    receiver: watch::Receiver<()>,
}

impl Follower {
    pub(crate) fn looking(&mut self) {
        self.receiver.mark_unchanged();
    }

    /// Until there may be something new. A node that stops keeps nobody waiting.
    pub(crate) async fn wait(&mut self, engine: &Engine) -> Result<(), EngineError> {
        self.wait_for(engine, LOOK).await
    }

    pub(crate) async fn wait_for(&mut self, engine: &Engine, patience: Duration) -> Result<(), EngineError> {
        tokio::select! {
            biased;
            () = engine.inner.stopping.cancelled() => Err(EngineError::ShuttingDown),
            _ = self.receiver.changed() => Ok(()),
            () = tokio::time::sleep(patience) => Ok(()),
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut followed = lock(&self.news.followed);
        if followed.get(&self.id).is_some_and(|sender| sender.receiver_count() <= 1) {
            followed.remove(&self.id);
        }
    }
}

impl Engine {
    /// A task that runs elsewhere, when its turn is over.
    pub(crate) async fn settled(&self, tenant: TenantId, id: TaskId) -> Result<Arc<Task>, EngineError> {
        let store = self.inner.store.tenant(tenant);
        let mut follower = self.inner.news.follow(id);
        loop {
            follower.looking();
            let task = store.task(id, None).await?.ok_or(EngineError::TaskNotFound)?;
            if task.state.is_terminal() || task.state.is_interrupted() {
                return Ok(Arc::new(task));
            }
            follower.wait(self).await?;
        }
    }
}
