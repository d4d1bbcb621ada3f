//! Who compiles next: so many at once, and behind them a line of bounded length in which tenants take turns.
//!
//! A compilation may take half a minute of CPU time. The last free place is therefore for who holds none: however much
//! one tenant deploys, another finds a place, or is the next to get one.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pleat_domain::turns::Turns;
use tokio::sync::oneshot;

use crate::config::CompileLimits;
use crate::error::PrepareError;
use crate::gate::Party;

pub(super) struct Line {
    places: usize,
    longest: usize,
    patience: Duration,
    state: Mutex<State>,
}

struct State {
    free: usize,
    held: HashMap<Party, usize>,
    waiting: Turns<Party, Waiter>,
    next: u64,
}

struct Waiter {
    number: u64,
    grant: oneshot::Sender<()>,
}

impl Line {
    pub(super) fn new(limits: &CompileLimits) -> Self {
        let places = limits.concurrency.max(1);
        let state = State { free: places, held: HashMap::new(), waiting: Turns::new(), next: 0 };
        Self { places, longest: limits.queue, patience: limits.wait, state: Mutex::new(state) }
    }

    /// A place, now or after a bounded wait.
    pub(super) async fn enter(&self, party: Party) -> Result<Place<'_>, PrepareError> {
        let mut waiting = {
            let mut state = self.state();
            // Who comes later does not overtake its own; others that wait could not go either.
            if state.waiting.len_of(party) == 0 && state.may(party) {
                state.give(party);
                return Ok(Place { line: self, party });
            }
            // No party fills the line alone.
            if state.waiting.len() >= self.longest || state.waiting.len_of(party) >= self.longest.div_ceil(2) {
                return Err(PrepareError::Crowded);
            }
            let (grant, granted) = oneshot::channel();
            let number = state.next;
            state.next += 1;
            state.waiting.push(party, Waiter { number, grant });
            Waiting { line: self, party, number, granted, is_over: false }
        };
        let granted = tokio::time::timeout(self.patience, &mut waiting.granted).await;
        match granted {
            Ok(Ok(())) => {
                waiting.is_over = true;
                Ok(Place { line: self, party })
            }
            _ => Err(PrepareError::Crowded),
        }
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.state().free == self.places
    }

    /// How many compile, and how many wait to.
    pub(super) fn used(&self) -> (usize, usize) {
        let state = self.state();
        (self.places - state.free, state.waiting.len())
    }

    fn give_back(&self, party: Party) {
        let mut state = self.state();
        state.take_back(party);
        while let Some((next, waiter)) = state.pop() {
            state.give(next);
            // Who waits leaves the line before it stops listening.
            let _ = waiter.grant.send(());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn may(&self, party: Party) -> bool {
        self.free > 1 || (self.free == 1 && !self.held.contains_key(&party))
    }

    fn pop(&mut self) -> Option<(Party, Waiter)> {
        let mut waiting = std::mem::take(&mut self.waiting);
        let next = waiting.pop_where(|party, _| self.may(party));
        self.waiting = waiting;
        next
    }

    fn give(&mut self, party: Party) {
        self.free -= 1;
        *self.held.entry(party).or_default() += 1;
    }

    fn take_back(&mut self, party: Party) {
        self.free += 1;
        if let Some(held) = self.held.get_mut(&party) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(&party);
            }
        }
    }
}

/// The right to one compilation, given back when it is dropped.
pub(super) struct Place<'a> {
    line: &'a Line,
    party: Party,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.line.give_back(self.party);
    }
}

/// A place in the line, left when whoever waits does.
struct Waiting<'a> {
    line: &'a Line,
    party: Party,
    number: u64,
    granted: oneshot::Receiver<()>,
    is_over: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let number = self.number;
        let left = self.line.state().waiting.remove(self.party, |waiter| waiter.number == number).is_some();
        // Who is no longer in line was let in, and did not notice.
        if !left {
            self.line.give_back(self.party);
        }
    }
}
