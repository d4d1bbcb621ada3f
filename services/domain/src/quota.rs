//! Limits over time, as arithmetic: who holds the clock and the counts is elsewhere.

use std::time::Duration;

use serde::{Deserialize, Serialize};

const MINUTE: Duration = Duration::from_secs(60);

/// A limit that a tenant or a key has reached. The words are a contract with callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Requests,
    KeyRequests,
    AnonymousRequests,
    /// Keys that this node does not know, and tokens that are not good.
    Unproven,
    ConcurrentTasks,
    KeyConcurrentTasks,
    CpuPerMinute,
    KeyCpuPerMinute,
    CpuPerDay,
    KeyCpuPerDay,
    StoredBytesPerDay,
    KeyStoredBytesPerDay,
    Functions,
    SourceBytes,
    /// What calls hold of a node's memory.
    Memory,
    CompiledBytes,
    /// Open sessions of the Model Context Protocol.
    Sessions,
}

impl Limit {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests_per_minute",
            Self::KeyRequests => "key_requests_per_minute",
            Self::AnonymousRequests => "anonymous_requests_per_minute",
            Self::Unproven => "unproven_requests_per_minute",
            Self::ConcurrentTasks => "concurrent_tasks",
            Self::KeyConcurrentTasks => "key_concurrent_tasks",
            Self::CpuPerMinute => "cpu_ms_per_minute",
            Self::KeyCpuPerMinute => "key_cpu_ms_per_minute",
            Self::CpuPerDay => "cpu_ms_per_day",
            Self::KeyCpuPerDay => "key_cpu_ms_per_day",
            Self::StoredBytesPerDay => "stored_bytes_per_day",
            Self::KeyStoredBytesPerDay => "key_stored_bytes_per_day",
            Self::Functions => "functions",
            Self::SourceBytes => "source_bytes",
            Self::Memory => "memory_bytes",
            Self::CompiledBytes => "compiled_bytes",
            Self::Sessions => "sessions",
        }
    }

    /// What is used up, as a sentence without its end.
    pub fn sentence(self, most: u64) -> String {
        match self {
            Self::Requests => format!("this tenant may send {most} requests per minute"),
            Self::KeyRequests => format!("this key or token may send {most} requests per minute"),
            Self::AnonymousRequests => format!("callers without a key may send {most} requests per minute together"),
            Self::Unproven => format!("{most} requests per minute may come here with unknown keys or bad tokens"),
            Self::ConcurrentTasks => format!("this tenant may have {most} tasks running at once"),
            Self::KeyConcurrentTasks => format!("this key or token may have {most} tasks running at once"),
            Self::CpuPerMinute => format!("this tenant has used its {most} ms of CPU time for this minute"),
            Self::KeyCpuPerMinute => format!("this key or token has used its {most} ms of CPU time for this minute"),
            Self::CpuPerDay => format!("this tenant has used its {most} ms of CPU time for this day"),
            Self::KeyCpuPerDay => format!("this key or token has used its {most} ms of CPU time for this day"),
            Self::StoredBytesPerDay => format!("this tenant has stored its {most} bytes for this day"),
            Self::KeyStoredBytesPerDay => format!("this key or token has stored its {most} bytes for this day"),
            Self::Functions => format!("this tenant may have {most} functions"),
            Self::SourceBytes => format!("this tenant's functions may have {most} bytes of source in all"),
            Self::Memory => format!("this tenant's calls may hold {most} bytes of memory on one node"),
            Self::CompiledBytes => {
                format!("this tenant's active functions may have {most} bytes of compiled code in all")
            }
            Self::Sessions => format!("this tenant may have {most} sessions open at once"),
        }
    }
}

/// What one caller may use at most, within what its tenant may: a key, or each subject of an issuer of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KeyLimits {
    pub requests_per_minute: Option<u32>,
    pub concurrent_tasks: Option<u32>,
    pub cpu_ms_per_minute: Option<u32>,
    pub cpu_ms_per_day: Option<u32>,
    pub stored_bytes_per_day: Option<u64>,
}

impl KeyLimits {
    pub const NONE: Self = Self {
        requests_per_minute: None,
        concurrent_tasks: None,
        cpu_ms_per_minute: None,
        cpu_ms_per_day: None,
        stored_bytes_per_day: None,
    };

    /// The narrower of both, for a key that another one makes.
    pub fn within(self, other: Self) -> Self {
        fn narrower<T: Ord>(one: Option<T>, two: Option<T>) -> Option<T> {
            match (one, two) {
                (Some(one), Some(two)) => Some(one.min(two)),
                (one, two) => one.or(two),
            }
        }
        Self {
            requests_per_minute: narrower(self.requests_per_minute, other.requests_per_minute),
            concurrent_tasks: narrower(self.concurrent_tasks, other.concurrent_tasks),
            cpu_ms_per_minute: narrower(self.cpu_ms_per_minute, other.cpu_ms_per_minute),
            cpu_ms_per_day: narrower(self.cpu_ms_per_day, other.cpu_ms_per_day),
            stored_bytes_per_day: narrower(self.stored_bytes_per_day, other.stored_bytes_per_day),
        }
    }

    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// Something is counted by the day, which all nodes have to know.
    pub const fn has_days(&self) -> bool {
        self.cpu_ms_per_day.is_some() || self.stored_bytes_per_day.is_some()
    }
}

/// So many per minute, and so many of them at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    interval: Duration,
    tolerance: Duration,
}

impl Rate {
    /// `parts`: how many equal parts the rate is divided into, of which this is one. Without a burst, a tenth of what
    /// a minute has may come at once.
    pub fn per_minute(most: u64, burst: Option<u64>, parts: u32) -> Self {
        let parts = parts.max(1);
        let most = most.max(1);
        let burst = burst.unwrap_or(most / 10).div_euclid(u64::from(parts)).max(1);
        let interval = MINUTE.saturating_mul(parts).as_nanos() / u128::from(most);
        let interval = Duration::from_nanos(u64::try_from(interval).unwrap_or(u64::MAX).max(1));
        let tolerance = interval.saturating_mul(u32::try_from(burst).unwrap_or(u32::MAX));
        Self { interval, tolerance }
    }
}

/// Counts against a rate (the generic cell rate algorithm): one number, and no timer fills it up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bucket {
    /// When all that was taken has come back.
    full_at: Duration,
}

impl Bucket {
    /// All that was taken has come back.
    pub fn is_full(&self, now: Duration) -> bool {
        self.full_at <= now
    }

    /// Takes one, or says after what time there will be one.
    pub fn take(&mut self, now: Duration, rate: Rate) -> Result<(), Duration> {
        let full_at = self.full_at.max(now).saturating_add(rate.interval);
        let allowed = now.saturating_add(rate.tolerance);
        match full_at.checked_sub(allowed) {
            Some(wait) if !wait.is_zero() => Err(wait),
            _ => {
                self.full_at = full_at;
                Ok(())
            }
        }
    }
}

/// Counts within windows of one length, which begin and end for everybody at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct Window {
    index: u128,
    used: u64,
}

impl Window {
    pub fn add(&mut self, now: Duration, length: Duration, amount: u64) {
        let index = index(now, length);
        let before = if self.index == index { self.used } else { 0 };
        *self = Self { index, used: before.saturating_add(amount) };
    }

    /// If so much is used up already: after what time the next window begins.
    pub fn exhausted(&self, now: Duration, length: Duration, most: u64) -> Option<Duration> {
        let current = index(now, length);
        if self.index != current || self.used < most {
            return None;
        }
        let length = length.as_nanos().max(1);
        let rest = length - now.as_nanos() % length;
        Some(Duration::from_nanos(u64::try_from(rest).unwrap_or(u64::MAX)))
    }
}

fn index(now: Duration, length: Duration) -> u128 {
    now.as_nanos() / length.as_nanos().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn a_burst_passes_then_one_at_a_time() {
        let rate = Rate::per_minute(60, Some(3), 1);
        let mut bucket = Bucket::default();
        let now = seconds(100);
        assert_eq!([(); 3].map(|()| bucket.take(now, rate)), [Ok(()); 3]);
        assert_eq!(bucket.take(now, rate), Err(seconds(1)));
        assert_eq!(bucket.take(now + seconds(1), rate), Ok(()));
        assert_eq!(bucket.take(now + seconds(1), rate), Err(seconds(1)));
        assert_eq!([(); 3].map(|()| bucket.take(now + seconds(60), rate)), [Ok(()); 3]);
    }

    #[test]
    fn nodes_have_their_part_each() {
        let rate = Rate::per_minute(60, Some(4), 2);
        let mut bucket = Bucket::default();
        assert_eq!([(); 2].map(|()| bucket.take(seconds(1), rate)), [Ok(()); 2]);
        assert_eq!(bucket.take(seconds(1), rate), Err(seconds(2)));
    }

    #[test]
    fn the_smallest_rate_lets_one_pass() {
        let mut bucket = Bucket::default();
        let rate = Rate::per_minute(1, None, 3);
        assert_eq!(bucket.take(seconds(0), rate), Ok(()));
        assert_eq!(bucket.take(seconds(0), rate), Err(seconds(180)));
    }

    #[test]
    fn a_window_turns() {
        let mut window = Window::default();
        let minute = seconds(60);
        window.add(seconds(610), minute, 5);
        window.add(seconds(640), minute, 5);
        assert_eq!(window.exhausted(seconds(640), minute, 11), None);
        assert_eq!(window.exhausted(seconds(640), minute, 10), Some(seconds(20)));
        assert_eq!(window.exhausted(seconds(660), minute, 10), None);
        window.add(seconds(660), minute, 1);
        assert_eq!(window.exhausted(seconds(660), minute, 2), None);
    }

    #[test]
    fn a_key_made_by_a_limited_one_is_limited() {
        let narrow =
            KeyLimits { requests_per_minute: Some(60), stored_bytes_per_day: Some(5_000), ..KeyLimits::default() };
        let wish = KeyLimits { requests_per_minute: Some(600), concurrent_tasks: Some(4), ..KeyLimits::default() };
        let made = KeyLimits {
            requests_per_minute: Some(60),
            concurrent_tasks: Some(4),
            stored_bytes_per_day: Some(5_000),
            ..KeyLimits::default()
        };
        assert_eq!(wish.within(narrow), made);
        assert_eq!(KeyLimits::default().within(narrow), narrow);
    }
}
