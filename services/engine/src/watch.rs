//! Watching a task over all of its turns, wherever they run: for those who are told that it has changed, and look
//! themselves.

use std::pin::Pin;

use futures::{Stream, StreamExt};
use pleat_domain::{TaskId, Tenant};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::subscribe::Until;

/// One item for each change; ends when the task is final, or cannot be watched any further.
pub type Changes = Pin<Box<dyn Stream<Item = ()> + Send>>;

impl Engine {
    /// The changes from now on. Whether the caller may see the task has been asked before.
    pub fn watch_task(&self, tenant: &Tenant, id: TaskId) -> Changes {
        let (engine, tenant) = (self.clone(), tenant.id);
        Box::pin(async_stream::stream! {
            let store = engine.inner.store.tenant(tenant);
            let mut follower = engine.inner.news.follow(id);
            let Ok(Some(task)) = store.task(id, None).await else { return };
            let (mut seq, mut last) = (task.last_seq, (task.turn, task.state));
            if task.state.is_terminal() {
                return;
            }
            loop {
                let mut events = engine.follow(tenant, id, seq, None, Until::TurnEnds);
                while let Some(Ok(event)) = events.next().await {
                    seq = event.seq;
                    yield ();
                }
                follower.looking();
                let Ok(Some(now)) = store.task(id, None).await else { return };
                if (now.turn, now.state) != last {
                    last = (now.turn, now.state);
                    yield ();
                }
                if now.state.is_terminal() || matches!(follower.wait(&engine).await, Err(EngineError::ShuttingDown)) {
                    return;
                }
            }
        })
    }
}
