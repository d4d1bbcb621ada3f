//! Following a task: what is durable first, then what becomes durable, in order, once each.
//!
//! A reader is never given memory of its own: it asks for what follows the last event it has, from the running task's
//! ring if it still holds that, else from the database.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use pleat_domain::{Event, Task, TaskId, TenantId};
use pleat_store::TenantStore;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::hub::Live;

/// The events of a task, ending with the one that ends its turn.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<Arc<Event>, EngineError>> + Send>>;

/// How often a task that runs elsewhere is looked at.
const POLL: Duration = Duration::from_millis(250);
/// Events read at once.
const PAGE: u32 = 200;

impl Engine {
    /// Everything after `after`, then on until the turn ends.
    pub(crate) fn follow(&self, tenant: TenantId, id: TaskId, after: u32, live: Option<Arc<Live>>) -> EventStream {
        let engine = self.clone();
        let store = self.inner.store.tenant(tenant);
        Box::pin(async_stream::try_stream! {
            let mut seq = after;
            let mut live = live.or_else(|| engine.inner.hub.get(tenant, id));
            loop {
                let step = match &live {
                    Some(live) => live_step(live, &store, id, seq).await?,
                    None => stored_step(&store, id, seq).await?,
                };
                for event in step.events {
                    seq = event.seq;
                    yield event;
                }
                if step.ended {
                    break;
                }
                if live.is_none() {
                    live = engine.inner.hub.get(tenant, id);
                    if live.is_none() && step.idle {
                        tokio::time::sleep(POLL).await;
                    }
                }
            }
        })
    }
}

struct Step {
    events: Vec<Arc<Event>>,
    /// Nothing follows what is in here.
    ended: bool,
    /// There was nothing to read.
    idle: bool,
}

async fn live_step(live: &Live, store: &TenantStore, id: TaskId, seq: u32) -> Result<Step, EngineError> {
    let mut committed = live.watch();
    let now = *committed.wait_for(|now| now.seq > seq || now.ended).await.map_err(|_| EngineError::TaskNotFound)?;
    let events = match live.after(seq) {
        Some(events) => events,
        None => stored(store, id, seq).await?,
    };
    let reached = events.last().map_or(seq, |event| event.seq);
    Ok(Step { ended: now.ended && reached >= now.seq, idle: false, events })
}

async fn stored_step(store: &TenantStore, id: TaskId, seq: u32) -> Result<Step, EngineError> {
    // The task is read before its events: what the row says has ended is then complete.
    let task = store.task(id, None).await?.ok_or(EngineError::TaskNotFound)?;
    let settled = task.state.is_terminal() || task.state.is_interrupted();
    if task.last_seq == 0 && settled {
        let events = task.derived_events().into_iter().filter(|event| event.seq > seq).map(Arc::new).collect();
        return Ok(Step { events, ended: true, idle: false });
    }
    let events = stored(store, id, seq).await?;
    let reached = events.last().map_or(seq, |event| event.seq);
    Ok(Step { ended: settled && reached >= task.last_seq, idle: events.is_empty(), events })
}

async fn stored(store: &TenantStore, id: TaskId, seq: u32) -> Result<Vec<Arc<Event>>, EngineError> {
    Ok(store.events_after(id, seq, PAGE).await?.into_iter().map(Arc::new).collect())
}

/// What a subscriber of a finished task gets to see of it.
pub(crate) fn is_settled(task: &Task) -> bool {
    task.state.is_terminal() || task.state.is_interrupted()
}
