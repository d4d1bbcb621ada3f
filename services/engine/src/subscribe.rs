//! Following a task: what is durable first, then what becomes durable, in order, once each.
//!
//! A reader is never given memory of its own: it asks for what follows the last event it has, from the running task's
//! ring if it still holds that, else from the database.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt};
use pleat_domain::{Event, TaskId, TaskState, TenantId};
use pleat_store::TenantStore;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::hub::{Live, Phase};
use crate::news::{IDLE, LOOK};

/// The events of a task, ending with the one that ends its turn, or the task.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<Arc<Event>, EngineError>> + Send>>;

/// Where a stream of events ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// With the turn: at a state that is final, or that waits for the caller.
    TurnEnds,
    /// With the task: what waits for its caller is waited for.
    TaskEnds,
}

impl Until {
    const fn ends_at(self, state: TaskState) -> bool {
        state.is_terminal() || (matches!(self, Self::TurnEnds) && state.is_interrupted())
    }
}

/// Up to the first event that ends a turn.
pub fn one_turn(events: EventStream) -> EventStream {
    Box::pin(futures::stream::unfold((events, false), |(mut events, over)| async move {
        if over {
            return None;
        }
        let event = events.next().await?;
        let over = event.as_ref().is_ok_and(|event| event.ends_turn());
        Some((event, (events, over)))
    }))
}

/// Events read at once.
pub(crate) const PAGE: u32 = 200;

impl Engine {
    /// Everything after `after`, then on until the end.
    pub(crate) fn follow(
        &self,
        tenant: TenantId,
        id: TaskId,
        after: u32,
        live: Option<Arc<Live>>,
        until: Until,
    ) -> EventStream {
        let engine = self.clone();
        let store = self.inner.store.tenant(tenant);
        Box::pin(async_stream::try_stream! {
            let mut seq = after;
            let mut live = live.or_else(|| engine.inner.hub.get(tenant, id));
            let mut follower = None;
            loop {
                let step = match &live {
                    Some(live) => live_step(live, &store, id, seq, until).await?,
                    None => {
                        follower.get_or_insert_with(|| engine.inner.news.follow(id)).looking();
                        stored_step(&store, id, seq, until).await?
                    }
                };
                for event in step.events {
                    seq = event.seq;
                    yield event;
                }
                match step.then {
                    Then::End => break,
                    Then::More => {}
                    Then::Elsewhere => {
                        let same = |next: &Arc<Live>| live.as_ref().is_some_and(|live| Arc::ptr_eq(live, next));
                        let next = engine.inner.hub.get(tenant, id).filter(|next| !same(next));
                        live = next;
                    }
                    Then::Wait(patience) => {
                        live = engine.inner.hub.get(tenant, id);
                        if let (None, Some(follower)) = (&live, &mut follower) {
                            follower.wait_for(&engine, patience).await?;
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
    /// There was nothing to read, and may be nothing for so long.
    Wait(Duration),
}

async fn live_step(live: &Live, store: &TenantStore, id: TaskId, seq: u32, until: Until) -> Result<Step, EngineError> {
    let _reading = live.reading();
    let mut committed = live.watch();
    let news = committed.wait_for(|now| now.seq > seq || now.phase != Phase::Running).await;
    let now = *news.map_err(|_| EngineError::TaskNotFound)?;
    let events = match live.after(seq) {
        Some(events) => events,
        None => stored(store, id, seq).await?,
    };
    let reached = events.last().map_or(seq, |event| event.seq);
    let then = match now.phase {
        Phase::Ended if reached >= now.seq && until.ends_at(ended(live)) => Then::End,
        Phase::Ended if reached >= now.seq => Then::Elsewhere,
        Phase::Moved if reached >= now.seq => Then::Elsewhere,
        _ => Then::More,
    };
    Ok(Step { events, then })
}

/// The state that the turn of a live task has ended in.
fn ended(live: &Live) -> TaskState {
    live.finished().map_or(TaskState::Failed, |task| task.state)
}

async fn stored_step(store: &TenantStore, id: TaskId, seq: u32, until: Until) -> Result<Step, EngineError> {
    // The task is read before its events: what the row says has ended is then complete.
    let task = store.task(id, None).await?.ok_or(EngineError::TaskNotFound)?;
    let settled = task.state.is_terminal() || task.state.is_interrupted();
    if task.last_seq == 0 && settled {
        let events = task.derived_events().into_iter().filter(|event| event.seq > seq).map(Arc::new).collect();
        let then = if until.ends_at(task.state) { Then::End } else { Then::Wait(IDLE) };
        return Ok(Step { events, then });
    }
    let events = stored(store, id, seq).await?;
    let reached = events.last().map_or(seq, |event| event.seq);
    let then = if settled && reached >= task.last_seq {
        if until.ends_at(task.state) { Then::End } else { Then::Wait(IDLE) }
    } else if events.is_empty() {
        Then::Wait(LOOK)
    } else {
        Then::More
    };
    Ok(Step { events, then })
}

async fn stored(store: &TenantStore, id: TaskId, seq: u32) -> Result<Vec<Arc<Event>>, EngineError> {
    Ok(store.events_after(id, seq, PAGE).await?.into_iter().map(Arc::new).collect())
}
