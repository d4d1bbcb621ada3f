//! Following a task: what is durable first, then what becomes durable, in order, once each.
//!
//! A reader is never given memory of its own: it asks for what follows the last event it has, from the running task's
//! ring if it still holds that, else from the database.

use std::pin::Pin;
use std::sync::Arc;

use futures::Stream;
use pleat_domain::{Event, TaskId, TenantId};
use pleat_store::TenantStore;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::hub::{Live, Phase};

/// The events of a task, ending with the one that ends its turn.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<Arc<Event>, EngineError>> + Send>>;

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
            let mut follower = None;
            loop {
                let step = match &live {
                    Some(live) => live_step(live, &store, id, seq).await?,
                    None => {
                        follower.get_or_insert_with(|| engine.inner.news.follow(id)).looking();
                        stored_step(&store, id, seq).await?
                    }
                };
                for event in step.events {
                    seq = event.seq;
                    yield event;
                }
                match step.then {
                    Then::End => break,
                    Then::More => {}
                    Then::Elsewhere => live = engine.inner.hub.get(tenant, id),
                    Then::Wait => {
                        live = engine.inner.hub.get(tenant, id);
                        if let (None, Some(follower)) = (&live, &mut follower) {
                            follower.wait(&engine).await?;
                        }
                    }
                }
            }
        })
    }
}

struct Step {
    events: Vec<Arc<Event>>,
    then: Then,
}

enum Then {
    /// Nothing follows.
    End,
    /// More may be there already.
    More,
    /// It does not run here any more.
    Elsewhere,
    /// There was nothing to read.
    Wait,
}

async fn live_step(live: &Live, store: &TenantStore, id: TaskId, seq: u32) -> Result<Step, EngineError> {
    let mut committed = live.watch();
    let news = committed.wait_for(|now| now.seq > seq || now.phase != Phase::Running).await;
    let now = *news.map_err(|_| EngineError::TaskNotFound)?;
    let events = match live.after(seq) {
        Some(events) => events,
        None => stored(store, id, seq).await?,
    };
    let reached = events.last().map_or(seq, |event| event.seq);
    let then = match now.phase {
        Phase::Ended if reached >= now.seq => Then::End,
        Phase::Moved if reached >= now.seq => Then::Elsewhere,
        _ => Then::More,
    };
    Ok(Step { events, then })
}

async fn stored_step(store: &TenantStore, id: TaskId, seq: u32) -> Result<Step, EngineError> {
    // The task is read before its events: what the row says has ended is then complete.
    let task = store.task(id, None).await?.ok_or(EngineError::TaskNotFound)?;
    let settled = task.state.is_terminal() || task.state.is_interrupted();
    if task.last_seq == 0 && settled {
        let events = task.derived_events().into_iter().filter(|event| event.seq > seq).map(Arc::new).collect();
        return Ok(Step { events, then: Then::End });
    }
    let events = stored(store, id, seq).await?;
    let reached = events.last().map_or(seq, |event| event.seq);
    let then = if settled && reached >= task.last_seq {
        Then::End
    } else if events.is_empty() {
        Then::Wait
    } else {
        Then::More
    };
    Ok(Step { events, then })
}

async fn stored(store: &TenantStore, id: TaskId, seq: u32) -> Result<Vec<Arc<Event>>, EngineError> {
    Ok(store.events_after(id, seq, PAGE).await?.into_iter().map(Arc::new).collect())
}
