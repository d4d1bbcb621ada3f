//! Places that all tenants share: instance slots, which a sleeping guest holds on to, and turns at the database for what
//! guests keep there.
//!
//! A tenant has its share at most, asleep or awake. While a quarter of the slots or more is free, it may use all of
//! its share; the last quarter is for tenants that hold less than half of an equal part, so that who comes late still
//! finds something. Who finds nothing waits, one tenant after the other, for a bounded time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pleat_domain::TenantId;
use pleat_domain::turns::Turns;
use tokio::sync::oneshot;

use crate::error::EngineError;
use crate::hub::lock;

/// The most that one call takes: a component has at most so many memories.
const WIDEST: u32 = 4;

pub(crate) struct Slots {
    capacity: u32,
    queue: usize,
    state: Mutex<State>,
}

struct State {
    free: u32,
    held: HashMap<TenantId, u32>,
    waiting: Turns<TenantId, Waiter>,
    next: u64,
}

struct Waiter {
    number: u64,
    places: u32,
    /// What its tenant may hold.
    share: u32,
    grant: oneshot::Sender<Slot>,
}

/// The right to one call in the sandbox, given back when it is dropped.
pub(crate) struct Slot {
    slots: Arc<Slots>,
    tenant: TenantId,
    places: u32,
}

/// How full the sandbox is, as admission sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotUse {
    pub capacity: usize,
    pub held: usize,
    /// Calls that wait for one.
    pub waiting: usize,
}

impl Slots {
    /// A few of the pool's places are left for what is not a call: functions that describe themselves at deploy.
    pub(crate) fn new(pool: usize, queue: usize) -> Arc<Self> {
        Self::of(pool.saturating_sub((pool / 32).max(1)), queue)
    }

    /// All of them are handed out.
    pub(crate) fn of(capacity: usize, queue: usize) -> Arc<Self> {
        let capacity = u32::try_from(capacity).unwrap_or(u32::MAX).max(1);
        let state = State { free: capacity, held: HashMap::new(), waiting: Turns::new(), next: 0 };
        Arc::new(Self { capacity, queue, state: Mutex::new(state) })
    }

    /// Takes what a call needs, or waits for it.
    pub(crate) async fn take(
        self: &Arc<Self>,
        tenant: TenantId,
        places: u32,
        percent: u8,
        patience: Duration,
    ) -> Result<Slot, EngineError> {
        let share = self.share(percent);
        let places = places.clamp(1, share);
        let waiting = {
            let mut state = lock(&self.state);
            // Who comes later does not overtake its own; others that wait could not go either.
            let first = state.waiting.len_of(tenant) == 0;
            if first && self.may(&state, tenant, places, share) {
                state.give(tenant, places);
                return Ok(Slot { slots: Arc::clone(self), tenant, places });
            }
            // No tenant fills the queue alone.
            if state.waiting.len() >= self.queue || state.waiting.len_of(tenant) >= self.queue.div_ceil(2) {
                return Err(EngineError::Busy("instance slots"));
            }
            let (grant, granted) = oneshot::channel();
            let number = state.next;
            state.next += 1;
            state.waiting.push(tenant, Waiter { number, places, share, grant });
            Waiting { slots: self, tenant, number, granted }
        };
        waiting.wait(patience).await
    }

    pub(crate) fn used(&self) -> SlotUse {
        let state = lock(&self.state);
        let (capacity, free) = (self.capacity as usize, state.free as usize);
        SlotUse { capacity, held: capacity - free, waiting: state.waiting.len() }
    }

    fn share(&self, percent: u8) -> u32 {
        let share = u64::from(self.capacity) * u64::from(percent) / 100;
        u32::try_from(share).unwrap_or(u32::MAX).max(WIDEST).min(self.capacity)
    }

    fn may(&self, state: &State, tenant: TenantId, places: u32, share: u32) -> bool {
        let held = state.held.get(&tenant).copied().unwrap_or(0);
        let Some(left) = state.free.checked_sub(places) else { return false };
        if held.saturating_add(places) > share {
            return false;
        }
        let tenants = state.held.len() + usize::from(held == 0);
        let part = self.capacity / u32::try_from(2 * tenants).unwrap_or(u32::MAX).max(1);
        left >= self.capacity / 4 || held.saturating_add(places) <= part.max(1)
    }

    /// Takes places back and hands them on.
    fn give_back(self: &Arc<Self>, tenant: TenantId, places: u32) {
        let mut granted = Vec::new();
        {
            let mut state = lock(&self.state);
            state.take_back(tenant, places);
            while let Some((tenant, waiter)) = self.next(&mut state) {
                state.give(tenant, waiter.places);
                granted.push((Slot { slots: Arc::clone(self), tenant, places: waiter.places }, waiter.grant));
            }
        }
        // Outside the lock: a slot that nobody waits for any more is given back when it is dropped here.
        for (slot, grant) in granted {
            let _ = grant.send(slot);
        }
    }

    fn next(&self, state: &mut State) -> Option<(TenantId, Waiter)> {
        let mut waiting = std::mem::take(&mut state.waiting);
        let next = waiting.pop_where(|tenant, waiter| self.may(state, tenant, waiter.places, waiter.share));
        state.waiting = waiting;
        next
    }
}

impl State {
    fn give(&mut self, tenant: TenantId, places: u32) {
        self.free -= places;
        *self.held.entry(tenant).or_default() += places;
    }

    fn take_back(&mut self, tenant: TenantId, places: u32) {
        self.free += places;
        if let Some(held) = self.held.get_mut(&tenant) {
            *held -= places;
            if *held == 0 {
                self.held.remove(&tenant);
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let slots = Arc::clone(&self.slots);
        slots.give_back(self.tenant, self.places);
    }
}

/// A place in the queue, left when the caller does.
struct Waiting<'a> {
    slots: &'a Slots,
    tenant: TenantId,
    number: u64,
    granted: oneshot::Receiver<Slot>,
}

impl Waiting<'_> {
    async fn wait(mut self, patience: Duration) -> Result<Slot, EngineError> {
        match tokio::time::timeout(patience, &mut self.granted).await {
            Ok(Ok(slot)) => Ok(slot),
            _ => Err(EngineError::Busy("instance slots")),
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let number = self.number;
        drop(lock(&self.slots.state).waiting.remove(self.tenant, |waiter| waiter.number == number));
    }
}
