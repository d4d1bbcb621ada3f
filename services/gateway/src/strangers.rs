//! The rate limit per client address of requests without a valid key, drawn before any work is done for them.
//!
//! One slot per address in a table of fixed size: nothing that strangers send makes it grow. Addresses that share a slot by
//! chance share its rate; where an address falls is random in each process.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use axum::response::Response;
use http::{HeaderMap, StatusCode};
use pleat_engine::Engine;

use crate::client_address::{AddressBlock, ClientAddress};
use crate::extract;
use crate::problem::Problem;

const SLOTS: usize = 1 << 16;

/// What strangers may send.
#[derive(Debug, Clone, Copy)]
pub struct StrangerLimits {
    /// Of one address. 0: as many as they like.
    pub per_minute: u64,
    pub burst: u64,
}

impl Default for StrangerLimits {
    fn default() -> Self {
        Self { per_minute: 12_000, burst: 6_000 }
    }
}

/// A leaky bucket for each slot (GCRA): the time, in nanoseconds, at which it is empty again.
pub(crate) struct Strangers {
    limits: StrangerLimits,
    slots: Box<[AtomicU64]>,
    hasher: RandomState,
    start: Instant,
    /// Nanoseconds that one request takes up.
    interval: u64,
    burst: u64,
}

/// A request that has passed; its outcome may still count.
pub(crate) struct Admitted {
    /// Counted when the key it came with turns out to be none.
    unpaid: Option<AddressBlock>,
}

impl Strangers {
    pub(crate) fn new(limits: StrangerLimits) -> Self {
        let unlimited = limits.per_minute == 0;
        let interval = 60_000_000_000_u64.checked_div(limits.per_minute).unwrap_or_default();
        let slots = (0..if unlimited { 0 } else { SLOTS }).map(|_| AtomicU64::new(0)).collect();
        let burst = interval.saturating_mul(limits.burst.max(1) - 1);
        Self { limits, slots, hasher: RandomState::new(), start: Instant::now(), interval, burst }
    }

    /// Requests without a key are counted now. Those with one are counted if it is not good; once the address has used up
    /// its requests, they pass only with a key or token that was good before on this node.
    pub(crate) fn admit(
        &self,
        engine: &Engine,
        client: Option<ClientAddress>,
        headers: &HeaderMap,
    ) -> Result<Admitted, Problem> {
        let Some(client) = client.filter(|_| !self.slots.is_empty()) else { return Ok(Admitted { unpaid: None }) };
        let block = client.block();
        let counted = match extract::bearer(headers) {
            Ok(Some(key)) => match self.wait(block) {
                Some(wait) if !engine.has_seen(key) => Err(wait),
                _ => return Ok(Admitted { unpaid: Some(block) }),
            },
            _ => self.take(block),
        };
        match counted {
            Ok(()) => Ok(Admitted { unpaid: None }),
            Err(wait) => {
                metrics::counter!("pleat_strangers_refused_total").increment(1);
                Err(Problem::stranger_limit(self.limits.per_minute, wait))
            }
        }
    }

    /// `nowhere`: the request named no tenant and no site.
    pub(crate) fn settle(&self, admitted: &Admitted, nowhere: bool, response: &Response) {
        if let Some(block) = admitted.unpaid.filter(|_| nowhere || response.status() == StatusCode::UNAUTHORIZED) {
            // One that is over the limit already stays there.
            let _ = self.take(block);
        }
    }

    fn take(&self, block: AddressBlock) -> Result<(), Duration> {
        let Some(slot) = self.slot(block) else { return Ok(()) };
        let now = self.now();
        let taken = slot.fetch_update(Relaxed, Relaxed, |empty_at| {
            let empty_at = empty_at.max(now);
            (empty_at - now <= self.burst).then(|| empty_at + self.interval)
        });
        taken.map(drop).map_err(|empty_at| Duration::from_nanos(empty_at.saturating_sub(now + self.burst)))
    }

    /// How long until the next request would be admitted. `None`: it would be now.
    fn wait(&self, block: AddressBlock) -> Option<Duration> {
        let full_until = self.slot(block)?.load(Relaxed).saturating_sub(self.burst);
        full_until.checked_sub(self.now()).filter(|wait| *wait > 0).map(Duration::from_nanos)
    }

    fn slot(&self, block: AddressBlock) -> Option<&AtomicU64> {
        let hash = usize::try_from(self.hasher.hash_one(block) & (SLOTS as u64 - 1)).unwrap_or_default();
        self.slots.get(hash)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(last: u8) -> AddressBlock {
        ClientAddress([192, 0, 2, last].into()).block()
    }

    #[test]
    fn burst_is_admitted_and_the_next_request_waits() {
        let strangers = Strangers::new(StrangerLimits { per_minute: 60, burst: 3 });
        for _ in 0..3 {
            assert_eq!(strangers.wait(block(1)), None);
            assert_eq!(strangers.take(block(1)), Ok(()));
        }
        let wait = strangers.take(block(1)).unwrap_err();
        assert!(wait > Duration::from_millis(500) && wait <= Duration::from_secs(1), "{wait:?}");
        assert!(strangers.wait(block(1)).is_some());
        assert_eq!(strangers.take(block(2)), Ok(()), "another address has its own");
    }

    #[test]
    fn rate_of_zero_is_no_limit() {
        let strangers = Strangers::new(StrangerLimits { per_minute: 0, burst: 0 });
        assert!((0..100_000).all(|_| strangers.take(block(1)).is_ok()));
        assert!(strangers.slots.is_empty());
    }
}
