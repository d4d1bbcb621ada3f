//! The clocks of guests: whole milliseconds only, so that they are of no use for measuring neighbours.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

const TICK: Duration = Duration::from_millis(1);
const TICK_NANOS: u64 = 1_000_000;

pub(crate) struct CoarseWall;

impl HostWallClock for CoarseWall {
    fn resolution(&self) -> Duration {
        TICK
    }

    fn now(&self) -> Duration {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Duration::from_millis(u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Counts from its making: a call learns nothing about the machine's uptime.
pub(crate) struct CoarseMonotonic {
    start: Instant,
}

impl CoarseMonotonic {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl HostMonotonicClock for CoarseMonotonic {
    fn resolution(&self) -> u64 {
        TICK_NANOS
    }

    fn now(&self) -> u64 {
        let millis = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        millis.saturating_mul(TICK_NANOS)
    }
}
