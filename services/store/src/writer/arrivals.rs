//! Waiting for a number of commits at once, where waking up for each of them would be most of the work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

#[derive(Default)]
pub(super) struct Arrivals {
    /// How many the writer still waits for; 0 where it does not.
    missing: AtomicUsize,
    complete: Notify,
}

impl Arrivals {
    /// A commit is in the queue.
    pub(super) fn one(&self) {
        let fewer = |missing: usize| missing.checked_sub(1);
        if self.missing.fetch_update(Ordering::AcqRel, Ordering::Relaxed, fewer) == Ok(1) {
            self.complete.notify_one();
        }
    }

    /// Returns when as many more have come, or the time is up. One that comes just as this begins or ends may be counted
    /// or not: a batch goes a moment earlier or later, and takes whatever is in the queue.
    pub(super) async fn at_least(&self, missing: usize, patience: Duration) {
        self.missing.store(missing, Ordering::Release);
        if tokio::time::timeout(patience, self.complete.notified()).await.is_err() {
            self.missing.store(0, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_one_wakes_and_none_before() {
        let arrivals = Arrivals::default();
        arrivals.one();
        let mut waiting = Box::pin(arrivals.at_least(2, Duration::from_secs(1)));
        assert!(futures::poll!(&mut waiting).is_pending());
        arrivals.one();
        assert!(futures::poll!(&mut waiting).is_pending());
        arrivals.one();
        assert!(futures::poll!(&mut waiting).is_ready());
    }

    #[tokio::test]
    async fn the_time_ends_it_and_leaves_nothing_for_the_next() {
        let arrivals = Arrivals::default();
        arrivals.at_least(1, Duration::from_millis(1)).await;
        arrivals.one();
        let mut waiting = Box::pin(arrivals.at_least(1, Duration::from_secs(1)));
        assert!(futures::poll!(&mut waiting).is_pending());
    }
}
