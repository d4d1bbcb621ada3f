//! Whether threads that run only where nobody else wants to run get to run at all.
//!
//! They tell it themselves: what they used of the processor is less than a part of the time that they had something to
//! do. While they are starved, nobody has to find out again; after a while it is tried anew.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Put aside for this long at a stretch: others are not only passing by.
const TOO_LONG: Duration = Duration::from_millis(50);
/// How long it is taken to last.
const LASTS: Duration = Duration::from_secs(5);

pub(super) struct Starved {
    began: Instant,
    /// In milliseconds from the beginning.
    until: AtomicU64,
}

impl Starved {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), until: AtomicU64::new(0) }
    }

    /// A thread had something to do for `wall`, and the processor for `cpu` of that.
    pub(super) fn ran(&self, wall: Duration, cpu: Duration) {
        if wall.saturating_sub(cpu) > TOO_LONG {
            self.until.store(self.now() + millis(LASTS), Relaxed);
        }
    }

    pub(super) fn is_so(&self) -> bool {
        let until = self.until.load(Relaxed);
        until > 0 && self.now() < until
    }

    fn now(&self) -> u64 {
        millis(self.began.elapsed())
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
