//! Watching a task over all of its turns, wherever they run: for those who are told that it has changed, and look
//! themselves.

use std::pin::Pin;
use std::sync::Arc;

use futures::{FutureExt, Stream, StreamExt};
use pleat_domain::{Event, Task, TaskId, TaskState, Tenant};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::subscribe::Until;

/// Numbers that grow with the changes of a task, the same at every node: first the one of the task as it is, then one for
/// each change, or for several that come together. Ends when the task is final, or cannot be watched any further.
pub type Changes = Pin<Box<dyn Stream<Item = i64> + Send>>;

impl Engine {
    /// Whether the caller may see the task has been asked before.
    pub fn watch_task(&self, tenant: &Arc<Tenant>, id: TaskId) -> Changes {
        let (engine, tenant) = (self.clone(), Arc::clone(tenant));
        Box::pin(async_stream::stream! {
            let store = engine.tenant_store(&tenant);
            let mut follower = engine.inner.news.follow(id);
            let Ok(Some(task)) = store.task(id, None).await else { return };
            let Ok(task) = engine.snapshot(&tenant, task).await else { return };
            let (mut seq, mut mark) = (task.last_seq, mark(task.last_seq, task.state));
            yield mark;
            if task.state.is_terminal() {
                return;
            }
            loop {
                let mut events = engine.follow(tenant.id, id, seq, None, Until::TurnEnds);
                while let Some(Ok(mut event)) = events.next().await {
                    while let Some(Some(Ok(next))) = events.next().now_or_never() {
                        event = next;
                    }
                    (seq, mark) = (event.seq, of_event(&event));
                    yield mark;
                }
                follower.looking();
                let Ok(Some(now)) = store.task(id, None).await else { return };
                let state = now.state;
                // Of a task that runs, its events tell more than its row.
                let at = if state.is_terminal() || state.is_interrupted() { of_row(&now) } else { mark };
                if at > mark {
                    mark = at;
                    yield mark;
                }
                if state.is_terminal() || matches!(follower.wait(&engine).await, Err(EngineError::ShuttingDown)) {
                    return;
                }
            }
        })
    }

    /// The number of a task as it is.
    pub async fn mark_of(&self, tenant: &Tenant, task: Task) -> Result<i64, EngineError> {
        let now = self.snapshot(tenant, task).await?;
        Ok(mark(now.last_seq, now.state))
    }
}

/// A task may end without an event, when its time is up.
fn mark(seq: u32, state: TaskState) -> i64 {
    (i64::from(seq) << 1) | i64::from(state.is_terminal())
}

fn of_event(event: &Event) -> i64 {
    mark(event.seq, event.state().unwrap_or(TaskState::Working))
}

fn of_row(task: &Task) -> i64 {
    let derived = || task.derived_events().last().map_or(0, |event| event.seq);
    mark(if task.last_seq == 0 { derived() } else { task.last_seq }, task.state)
}
