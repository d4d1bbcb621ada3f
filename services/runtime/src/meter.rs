//! CPU time of one call, read where a poll begins and ends.
//!
//! Epoch ticks alone would meter a 20 µs call as nothing and charge for the time in which the machine ran something
//! else. The ticks only decide when to look at the meter.
//!
//! Two clocks: the thread's CPU clock is exact, but each reading is a system call, and two of them are a twentieth of
//! a short call. Until a call has run into its first tick it is metered by the monotonic clock, which costs nothing
//! and errs, rarely and by little, against the guest.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Shared between the future that runs the guest and the epoch callback inside it. Both are on the thread that polls
/// at the moment, so relaxed ordering is enough: handing a task to another thread synchronises.
#[derive(Default)]
pub(crate) struct Meter {
    used: AtomicU64,
    poll_began: AtomicU64,
    /// The clock of the poll under way.
    exact: AtomicBool,
    ticked: AtomicBool,
    /// Whether the last poll ended at a tick.
    interrupted: AtomicBool,
}

/// What the meter says at a tick.
pub(crate) struct Tick {
    /// Of the whole call.
    pub(crate) used: Duration,
    /// Of the poll under way.
    pub(crate) poll: Duration,
    /// No poll before this one has met a tick.
    pub(crate) is_first: bool,
}

impl Meter {
    /// CPU time so far and that of the poll under way, called inside of it at an epoch tick.
    pub(crate) fn tick(&self) -> Tick {
        self.ticked.store(true, Relaxed);
        let exact = self.exact.load(Relaxed);
        let now = nanos(exact).saturating_sub(self.poll_began.load(Relaxed));
        let used = Duration::from_nanos(self.used.load(Relaxed) + now);
        Tick { used, poll: Duration::from_nanos(now), is_first: !exact }
    }

    /// The poll under way ends here, because it is the turn of others.
    pub(crate) fn interrupt(&self) {
        self.interrupted.store(true, Relaxed);
    }

    /// Whether the guest gave way at a tick and would go on at once, rather than wait for something.
    pub(crate) fn wants_more(&self) -> bool {
        self.interrupted.load(Relaxed)
    }

    /// CPU time of the polls that have ended.
    pub(crate) fn used(&self) -> Duration {
        Duration::from_nanos(self.used.load(Relaxed))
    }

    /// Runs `work` and charges it.
    pub(crate) async fn measure<F: Future>(&self, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|context| {
            let exact = self.ticked.load(Relaxed);
            self.exact.store(exact, Relaxed);
            self.interrupted.store(false, Relaxed);
            let began = nanos(exact);
            self.poll_began.store(began, Relaxed);
            let poll = work.as_mut().poll(context);
            self.used.fetch_add(nanos(exact).saturating_sub(began), Relaxed);
            poll
        })
        .await
    }
}

fn nanos(exact: bool) -> u64 {
    let time = clock_gettime(if exact { ClockId::ThreadCPUTime } else { ClockId::Monotonic });
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or_default())
}
