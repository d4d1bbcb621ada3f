//! CPU time of one call: the thread's CPU clock, read where a poll begins and ends.
//!
//! Epoch ticks alone would meter a 20 µs call as nothing and charge for the time in which the machine ran something
//! else. The ticks only decide when to look at the meter.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Shared between the future that runs the guest and the epoch callback inside it. Both are on the thread that polls
/// at the moment, so relaxed ordering is enough: handing a task to another thread synchronises.
#[derive(Default)]
pub(crate) struct Meter {
    used: AtomicU64,
    poll_began: AtomicU64,
}

impl Meter {
    /// CPU time so far; inside a poll, up to this moment.
    pub(crate) fn running(&self) -> Duration {
        let now = thread_nanos().saturating_sub(self.poll_began.load(Relaxed));
        Duration::from_nanos(self.used.load(Relaxed) + now)
    }

    /// CPU time of the polls that have ended.
    pub(crate) fn used(&self) -> Duration {
        Duration::from_nanos(self.used.load(Relaxed))
    }

    /// Runs `work` and charges it.
    pub(crate) async fn measure<F: Future>(&self, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|context| {
            let began = thread_nanos();
            self.poll_began.store(began, Relaxed);
            let poll = work.as_mut().poll(context);
            self.used.fetch_add(thread_nanos().saturating_sub(began), Relaxed);
            poll
        })
        .await
    }
}

fn thread_nanos() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or_default())
}
