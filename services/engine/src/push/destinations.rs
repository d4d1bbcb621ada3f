//! What one destination is asked to bear: so many requests at once and so many a second, whoever wants them.
//!
//! Whoever waits here holds nothing that others need, so that a receiver that hangs delays its own notifications only.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::hub::lock;

/// Requests of this node at once, to whichever destinations.
const ALL: usize = 128;
/// Destinations that are remembered, and for how long after their last request.
const KNOWN: u64 = 100_000;
const REMEMBERED: Duration = Duration::from_secs(600);
/// Requests that may go out without a pause after a quiet time.
const BURST: u32 = 20;

pub(super) struct Destinations {
    at_once: usize,
    interval: Duration,
    known: moka::sync::Cache<String, Arc<Destination>>,
    all: Arc<Semaphore>,
}

struct Destination {
    slots: Arc<Semaphore>,
    /// When the next request would be due at an even pace.
    due: Mutex<Instant>,
}

/// The right to send one request; given back when it is dropped.
pub(super) struct Berth {
    _destination: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl Destinations {
    pub(super) fn new(at_once: usize, per_second: u32) -> Self {
        Self {
            at_once: at_once.max(1),
            interval: Duration::from_secs(1) / per_second.max(1),
            known: moka::sync::Cache::builder().max_capacity(KNOWN).time_to_idle(REMEMBERED).build(),
            all: Arc::new(Semaphore::new(ALL)),
        }
    }

    /// `None`: not within this time.
    pub(super) async fn enter(&self, name: &str, patience: Duration) -> Option<Berth> {
        tokio::time::timeout(patience, self.wait(name)).await.ok().flatten()
    }

    async fn wait(&self, name: &str) -> Option<Berth> {
        let fresh = || {
            let slots = Arc::new(Semaphore::new(self.at_once));
            Arc::new(Destination { slots, due: Mutex::new(Instant::now()) })
        };
        let destination = self.known.get_with_by_ref(name, fresh);
        let slot = Arc::clone(&destination.slots).acquire_owned().await.ok()?;
        tokio::time::sleep_until(destination.turn(self.interval)).await;
        let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Berth { _destination: slot, _all: all })
    }
}

impl Destination {
    /// When one more request may go out; counts it.
    fn turn(&self, interval: Duration) -> Instant {
        let mut due = lock(&self.due);
        let now = Instant::now();
        let mine = (*due).max(now);
        *due = mine + interval;
        mine.checked_sub(interval * BURST).unwrap_or(now)
    }
}
