//! A gate with a number of tickets, handed out one party after the other.
//!
//! While nobody waits, taking a ticket and giving it back are one atomic operation each: a call of 20 µs does not
//! notice. The lock is for those that have to wait, and for who lets them in.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures::task::AtomicWaker;
use pleat_domain::turns::Turns;

/// Whose call it is. Calls of one party take turns among themselves; a party as a whole takes turns with the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Party(pub u128);

/// Free tickets are counted in the low half, waiting calls in the high half.
const FREE: u64 = 1;
const WAITING: u64 = 1 << 32;

pub(crate) struct Gate {
    /// Waiting calls are counted under the lock only, and while there are any, no ticket is free.
    counts: AtomicU64,
    waiting: Mutex<Turns<Party, Arc<Waiter>>>,
}

#[derive(Default)]
struct Waiter {
    granted: AtomicBool,
    waker: AtomicWaker,
}

impl Gate {
    pub(crate) fn new(tickets: u32) -> Arc<Self> {
        Arc::new(Self { counts: AtomicU64::new(u64::from(tickets.max(1)) * FREE), waiting: Mutex::default() })
    }

    fn try_take(&self) -> bool {
        let taken = |counts| (counts > 0 && counts < WAITING).then(|| counts - FREE);
        self.counts.fetch_update(Ordering::AcqRel, Ordering::Relaxed, taken).is_ok()
    }

    /// `None`: a ticket came free just now, and is taken.
    fn line_up(&self, party: Party) -> Option<Arc<Waiter>> {
        let mut waiting = self.lock();
        if self.try_take() {
            return None;
        }
        // Between the two, a ticket may still have come back: then it is free although somebody waits.
        let before = self.counts.fetch_add(WAITING, Ordering::AcqRel);
        if before > 0 && before < WAITING {
            self.counts.fetch_sub(WAITING + FREE, Ordering::AcqRel);
            return None;
        }
        let waiter = Arc::new(Waiter::default());
        waiting.push(party, Arc::clone(&waiter));
        Some(waiter)
    }

    fn give_back(&self) {
        let freed = |counts| (counts < WAITING).then(|| counts + FREE);
        if self.counts.fetch_update(Ordering::AcqRel, Ordering::Relaxed, freed).is_ok() {
            return;
        }
        let mut waiting = self.lock();
        match waiting.pop() {
            Some((_, next)) => {
                self.counts.fetch_sub(WAITING, Ordering::AcqRel);
                drop(waiting);
                next.granted.store(true, Ordering::Release);
                next.waker.wake();
            }
            // They all left before the lock was ours.
            None => drop(self.counts.fetch_add(FREE, Ordering::AcqRel)),
        }
    }

    /// Puts who has a ticket at the end of its line and lets the next one in. `None`: nobody waits, the ticket stays.
    fn swap(&self, party: Party, waker: &Waker) -> Option<Arc<Waiter>> {
        if self.counts.load(Ordering::Acquire) < WAITING {
            return None;
        }
        let mut waiting = self.lock();
        if waiting.is_empty() {
            return None;
        }
        let waiter = Arc::new(Waiter::default());
        waiter.waker.register(waker);
        // One more waits and one fewer: the counts stay as they are.
        waiting.push(party, Arc::clone(&waiter));
        let next = waiting.pop();
        drop(waiting);
        if let Some((_, next)) = next {
            next.granted.store(true, Ordering::Release);
            next.waker.wake();
        }
        Some(waiter)
    }

    fn leave(&self, party: Party, waiter: &Arc<Waiter>) {
        let mut waiting = self.lock();
        let left = waiting.remove(party, |other| Arc::ptr_eq(other, waiter)).is_some();
        if left {
            self.counts.fetch_sub(WAITING, Ordering::AcqRel);
        }
        drop(waiting);
        // Who is no longer in line has been let in.
        if !left {
            self.give_back();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Turns<Party, Arc<Waiter>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One call at a gate: outside, in line, or with a ticket, which it gives back when it ends.
pub(crate) struct Turn {
    gate: Arc<Gate>,
    party: Party,
    place: Place,
}

enum Place {
    Outside,
    InLine(Arc<Waiter>),
    Inside,
}

impl Turn {
    pub(crate) fn new(gate: &Arc<Gate>, party: Party) -> Self {
        Self { gate: Arc::clone(gate), party, place: Place::Outside }
    }

    /// Ready when the call has a ticket.
    pub(crate) fn poll_ready(&mut self, context: &Context<'_>) -> Poll<()> {
        if matches!(self.place, Place::Outside) {
            let waiter = if self.gate.try_take() { None } else { self.gate.line_up(self.party) };
            self.place = waiter.map_or(Place::Inside, Place::InLine);
        }
        if let Place::InLine(waiter) = &self.place {
            waiter.waker.register(context.waker());
            if !waiter.granted.load(Ordering::Acquire) {
                return Poll::Pending;
            }
            self.place = Place::Inside;
        }
        Poll::Ready(())
    }

    /// Lets the next one in and lines up again, at once: a call that lined up only when it is polled again would find
    /// that others have had several turns meanwhile.
    pub(crate) fn take_turns(&mut self, context: &Context<'_>) {
        if matches!(self.place, Place::Inside)
            && let Some(waiter) = self.gate.swap(self.party, context.waker())
        {
            self.place = Place::InLine(waiter);
        }
    }

    /// Lets the next one in, and stays outside.
    pub(crate) fn give_way(&mut self) {
        match std::mem::replace(&mut self.place, Place::Outside) {
            Place::Outside => {}
            Place::InLine(waiter) => self.gate.leave(self.party, &waiter),
            Place::Inside => self.gate.give_back(),
        }
    }

    /// Goes to another gate, without a ticket there yet.
    pub(crate) fn change_to(&mut self, gate: &Arc<Gate>) {
        self.give_way();
        self.gate = Arc::clone(gate);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.give_way();
    }
}
