//! What one destination is asked to bear: so many requests at once, so many requests and bytes a second, whoever wants
//! them; and little until it has accepted one. A tenant has a rate of bytes of its own, over all destinations.
//!
//! Whoever waits here holds nothing that others need, so that a receiver that hangs delays its own notifications only.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use uuid::Uuid;

use super::follow::PushTimes;
use crate::hub::lock;

/// Requests of this node at once, to whichever destinations.
const ALL: usize = 128;
/// Destinations that are remembered, and for how long after their last request.
const KNOWN: u64 = 100_000;
const REMEMBERED: Duration = Duration::from_secs(24 * 60 * 60);
/// Requests that may go out without a pause after a quiet time.
const BURST: u32 = 20;
/// Bytes of so many seconds may go out without a pause after a quiet time.
const BYTE_BURST: Duration = Duration::from_secs(4);
/// The time that attempts at an unverified destination are counted over.
const WINDOW: Duration = Duration::from_secs(60 * 60);

pub(super) struct Destinations {
    times: PushTimes,
    known: moka::sync::Cache<String, Arc<Destination>>,
    tenants: moka::sync::Cache<Uuid, Arc<Mutex<Instant>>>,
    all: Arc<Semaphore>,
}

struct Destination {
    slots: Arc<Semaphore>,
    /// When the next request would be due at an even pace.
    due: Mutex<Instant>,
    /// When all bytes that were sent would be gone at an even pace.
    bytes_due: Mutex<Instant>,
    trust: Mutex<Trust>,
}

/// Whether a destination wants notifications at all: it has accepted one with a 2xx.
struct Trust {
    verified: bool,
    since: Instant,
    attempts: u32,
    bytes: usize,
}

/// What an unverified destination still takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Send,
    /// Not so many bytes within this hour, unless it accepts what is under way.
    Later(Duration),
    /// It has accepted none of as many attempts as it may have within an hour.
    Refused,
}

/// The right to send one request; given back when it is dropped.
pub(super) struct Berth {
    times: PushTimes,
    destination: Arc<Destination>,
    tenant: Arc<Mutex<Instant>>,
    _destination: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl Destinations {
    pub(super) fn new(times: PushTimes) -> Self {
        let cache = || moka::sync::Cache::builder().max_capacity(KNOWN).time_to_idle(REMEMBERED);
        let tenants = moka::sync::Cache::builder().max_capacity(KNOWN).time_to_idle(REMEMBERED).build();
        Self { times, known: cache().build(), tenants, all: Arc::new(Semaphore::new(ALL)) }
    }

    /// `None`: not within this time.
    pub(super) async fn enter(&self, name: &str, tenant: Uuid, patience: Duration) -> Option<Berth> {
        tokio::time::timeout(patience, self.wait(name, tenant)).await.ok().flatten()
    }

    async fn wait(&self, name: &str, tenant: Uuid) -> Option<Berth> {
        let interval = Duration::from_secs(1) / self.times.per_second.max(1);
        let destination = self.known.get_with_by_ref(name, || Arc::new(Destination::new(self.times.at_once)));
        let tenant = self.tenants.get_with(tenant, || Arc::new(Mutex::new(Instant::now())));
        let slot = Arc::clone(&destination.slots).acquire_owned().await.ok()?;
        tokio::time::sleep_until(destination.turn(interval)).await;
        for bytes_due in [&destination.bytes_due, &*tenant] {
            let due = *lock(bytes_due);
            tokio::time::sleep_until(due.checked_sub(BYTE_BURST).unwrap_or(due)).await;
        }
        let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Berth { times: self.times, destination, tenant, _destination: slot, _all: all })
    }
}

impl Destination {
    fn new(at_once: usize) -> Self {
        let now = Instant::now();
        Self {
            slots: Arc::new(Semaphore::new(at_once.max(1))),
            due: Mutex::new(now),
            bytes_due: Mutex::new(now),
            trust: Mutex::new(Trust::new(now)),
        }
    }

    /// When one more request may go out; counts it.
    fn turn(&self, interval: Duration) -> Instant {
        let mut due = lock(&self.due);
        let now = Instant::now();
        let mine = (*due).max(now);
        *due = mine + interval;
        mine.checked_sub(interval * BURST).unwrap_or(now)
    }
}

impl Berth {
    /// Whether a body of this size may go out now; counts it, every attempt anew.
    pub(super) fn admit(&self, bytes: usize) -> Admission {
        let times = &self.times;
        let admission = lock(&self.destination.trust).admit(bytes, times, Instant::now());
        if admission == Admission::Send {
            spend(&self.destination.bytes_due, bytes, times.bytes_per_second);
            spend(&self.tenant, bytes, times.tenant_bytes_per_second);
        }
        admission
    }

    /// The destination has accepted a notification.
    pub(super) fn accepted(&self) {
        lock(&self.destination.trust).verified = true;
    }
}

impl Trust {
    const fn new(now: Instant) -> Self {
        Self { verified: false, since: now, attempts: 0, bytes: 0 }
    }

    fn admit(&mut self, bytes: usize, times: &PushTimes, now: Instant) -> Admission {
        if self.verified {
            return Admission::Send;
        }
        let age = now.saturating_duration_since(self.since);
        if age >= WINDOW {
            *self = Self::new(now);
        }
        if self.attempts >= times.unverified_attempts {
            return Admission::Refused;
        }
        // The first one always passes: without it nothing is ever verified.
        if self.attempts > 0 && self.bytes.saturating_add(bytes) > times.unverified_bytes {
            return Admission::Later(if age < Duration::from_secs(30) { Duration::from_secs(1) } else { WINDOW / 60 });
        }
        self.attempts += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        Admission::Send
    }
}

fn spend(due: &Mutex<Instant>, bytes: usize, per_second: usize) {
    let time = Duration::from_secs_f64(bytes as f64 / per_second.max(1) as f64);
    let mut due = lock(due);
    *due = (*due).max(Instant::now()) + time;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(change: impl FnOnce(&mut PushTimes)) -> PushTimes {
        let mut times = PushTimes::default();
        change(&mut times);
        times
    }

    async fn berth(all: &Destinations, name: &str, tenant: u8, patience: Duration) -> Option<Berth> {
        all.enter(name, Uuid::from_bytes([tenant; 16]), patience).await
    }

    #[test]
    fn unverified_destination_takes_so_many_attempts_in_an_hour_and_any_number_when_it_has_accepted_one() {
        let (times, now) = (times(|times| times.unverified_attempts = 3), Instant::now());
        let mut trust = Trust::new(now);
        assert_eq!([(); 3].map(|()| trust.admit(10, &times, now)), [Admission::Send; 3]);
        assert_eq!(trust.admit(10, &times, now + WINDOW / 2), Admission::Refused);
        assert_eq!(trust.admit(10, &times, now + WINDOW), Admission::Send);
        trust.verified = true;
        assert_eq!([(); 10].map(|()| trust.admit(10, &times, now + WINDOW)), [Admission::Send; 10]);
    }

    #[test]
    fn unverified_destination_takes_so_many_bytes_in_an_hour_and_one_notification_in_any_case() {
        let (times, now) = (times(|times| times.unverified_bytes = 100), Instant::now());
        let mut trust = Trust::new(now);
        assert_eq!(trust.admit(200, &times, now), Admission::Send);
        assert!(matches!(trust.admit(1, &times, now), Admission::Later(_)));
        trust.verified = true;
        assert_eq!(trust.admit(1, &times, now), Admission::Send);
    }

    #[tokio::test]
    async fn destination_is_known_over_all_tenants() {
        let all = Destinations::new(times(|times| times.unverified_attempts = 1));
        let patience = Duration::from_secs(10);
        assert_eq!(berth(&all, "https://a", 1, patience).await.unwrap().admit(10), Admission::Send);
        assert_eq!(berth(&all, "https://a", 2, patience).await.unwrap().admit(10), Admission::Refused);
        let other = berth(&all, "https://b", 1, patience).await.unwrap();
        assert_eq!(other.admit(10), Admission::Send);
        other.accepted();
        assert_eq!(berth(&all, "https://b", 2, patience).await.unwrap().admit(10), Admission::Send);
    }

    #[tokio::test]
    async fn bytes_to_a_destination_and_of_a_tenant_have_a_rate() {
        let all =
            Destinations::new(times(|times| (times.bytes_per_second, times.tenant_bytes_per_second) = (10, 1_000)));
        let (soon, later) = (Duration::from_millis(20), Duration::from_secs(10));
        // A minute's worth, of which four seconds' may go at once.
        berth(&all, "https://a", 1, later).await.unwrap().admit(600);
        assert!(berth(&all, "https://a", 2, soon).await.is_none());
        assert!(berth(&all, "https://b", 1, later).await.is_some());
        berth(&all, "https://c", 3, later).await.unwrap().admit(60_000);
        assert!(berth(&all, "https://d", 3, soon).await.is_none(), "the tenant's rate holds for all destinations");
        assert!(berth(&all, "https://d", 4, later).await.is_some());
    }
}
