//! What one caller uses, held against its own limits: a key, or one subject of an issuer of tokens. As arithmetic: who
//! holds the clock and the counts is elsewhere.

use std::time::Duration;

use time::{Date, OffsetDateTime, Time};

use crate::quota::{Bucket, KeyLimits, Limit, Rate, Window};
use crate::usage::CallerUsage;

/// How long a caller that uses nothing is remembered. What it used today is in the database.
const IDLE: Duration = Duration::from_secs(600);

/// A moment, by the clocks that limits are held against.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Since the node began: a clock that nobody sets.
    pub since_start: Duration,
    pub utc: OffsetDateTime,
}

impl Moment {
    pub fn since_epoch(self) -> Duration {
        let nanos = u64::try_from(self.utc.unix_timestamp_nanos()).unwrap_or_default();
        Duration::from_nanos(nanos)
    }

    pub const fn day(self) -> Date {
        self.utc.date()
    }

    pub fn until_tomorrow(self) -> Duration {
        let tomorrow = self.day().next_day().map(|next| next.with_time(Time::MIDNIGHT).assume_utc());
        let rest = tomorrow.and_then(|tomorrow| Duration::try_from(tomorrow - self.utc).ok());
        rest.unwrap_or(Duration::from_secs(1))
    }
}

/// Which limit stands in the way, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denied {
    pub limit: Limit,
    pub most: u64,
    pub wait: Duration,
}

/// How the limits are shared out.
#[derive(Debug, Clone, Copy)]
pub struct Shares {
    /// Of what is counted by the minute or at once, a node has one of so many equal parts.
    pub nodes: u32,
    /// How long the windows are in which CPU time is counted.
    pub minute: Duration,
}

impl Shares {
    pub fn part(self, most: u64) -> u64 {
        (most / u64::from(self.nodes.max(1))).max(1)
    }
}

#[derive(Debug, Clone, Default)]
pub struct CallerCount {
    requests: Bucket,
    running: u64,
    /// Microseconds.
    cpu: Window,
    today: Option<(Date, CallerUsage)>,
    unwritten: Vec<(Date, CallerUsage)>,
    /// The days are counted, because there are limits on them.
    has_days: bool,
    /// The database was asked what was used today before this node knew the caller.
    is_read: bool,
    used_at: Duration,
}

impl CallerCount {
    pub fn request(&mut self, limits: &KeyLimits, shares: Shares, now: Moment) -> Result<(), Denied> {
        self.used_at = now.since_start;
        let Some(most) = limits.requests_per_minute.map(u64::from) else { return Ok(()) };
        let taken = self.requests.take(now.since_start, Rate::per_minute(most, None, shares.nodes));
        taken.map_err(|wait| Denied { limit: Limit::KeyRequests, most, wait })
    }

    /// One more task runs, if it may. It is over with [`CallerCount::end`].
    pub fn begin(&mut self, limits: &KeyLimits, shares: Shares, now: Moment, soon: Duration) -> Result<(), Denied> {
        self.may_spend(limits, shares, now)?;
        if let Some(most) = limits.concurrent_tasks.map(u64::from)
            && self.running >= shares.part(most)
        {
            return Err(Denied { limit: Limit::KeyConcurrentTasks, most, wait: soon });
        }
        self.running += 1;
        Ok(())
    }

    pub fn end(&mut self) {
        self.running = self.running.saturating_sub(1);
    }

    /// Whether CPU time and bytes are left.
    pub fn may_spend(&mut self, limits: &KeyLimits, shares: Shares, now: Moment) -> Result<(), Denied> {
        self.used_at = now.since_start;
        self.has_days = limits.has_days();
        if let Some(most) = limits.cpu_ms_per_minute.map(u64::from) {
            let micros = shares.part(most).saturating_mul(1_000);
            if let Some(wait) = self.cpu.exhausted(now.since_epoch(), shares.minute, micros) {
                return Err(Denied { limit: Limit::KeyCpuPerMinute, most, wait });
            }
        }
        self.day_spent(Limit::KeyCpuPerDay, limits.cpu_ms_per_day.map(u64::from), now, |used| used.cpu_us / 1_000)?;
        self.day_spent(Limit::KeyStoredBytesPerDay, limits.stored_bytes_per_day, now, |used| used.stored_bytes)
    }

    fn day_spent(
        &self,
        limit: Limit,
        most: Option<u64>,
        now: Moment,
        of: impl Fn(&CallerUsage) -> u64,
    ) -> Result<(), Denied> {
        match (most, &self.today) {
            (Some(most), Some((day, used))) if *day == now.day() && of(used) >= most => {
                Err(Denied { limit, most, wait: now.until_tomorrow() })
            }
            _ => Ok(()),
        }
    }

    pub fn add(&mut self, used: CallerUsage, shares: Shares, now: Moment) {
        self.used_at = now.since_start;
        self.cpu.add(now.since_epoch(), shares.minute, used.cpu_us);
        if !self.has_days {
            return;
        }
        match &mut self.today {
            Some((day, today)) if *day == now.day() => *today += used,
            other => *other = Some((now.day(), used)),
        }
        self.add_unwritten(now.day(), used);
    }

    fn add_unwritten(&mut self, day: Date, used: CallerUsage) {
        match self.unwritten.iter_mut().find(|(known, _)| *known == day) {
            Some((_, sum)) => *sum += used,
            None => self.unwritten.push((day, used)),
        }
    }

    /// What is to be written now, by day. Of a caller that the database was not asked about there is a nothing for today.
    pub fn take_unwritten(&mut self, now: Moment) -> Vec<(Date, CallerUsage)> {
        if self.has_days && !self.is_read && self.unwritten.is_empty() {
            return vec![(now.day(), CallerUsage::default())];
        }
        std::mem::take(&mut self.unwritten)
    }

    /// It could not be written: the next try takes it along.
    pub fn put_back(&mut self, day: Date, used: CallerUsage) {
        self.add_unwritten(day, used);
    }

    /// What the database has for a day, other nodes' counts included.
    pub fn set_written(&mut self, day: Date, mut written: CallerUsage, now: Moment) {
        if day == now.day() {
            let since = self.unwritten.iter().find(|(known, _)| *known == day);
            since.into_iter().for_each(|(_, used)| written += *used);
            self.today = Some((day, written));
            self.is_read = true;
        }
    }

    /// It need not be remembered: it has used nothing for a while, and nothing is owed.
    pub fn is_idle(&self, now: Moment) -> bool {
        self.running == 0
            && self.unwritten.is_empty()
            && self.requests.is_full(now.since_start)
            && now.since_start.saturating_sub(self.used_at) >= IDLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    const SHARES: Shares = Shares { nodes: 1, minute: Duration::from_secs(60) };

    fn at(seconds: u64) -> Moment {
        let utc = datetime!(2026-11-17 12:00 UTC) + Duration::from_secs(seconds);
        Moment { since_start: Duration::from_secs(seconds), utc }
    }

    const fn used(cpu_ms: u64, stored_bytes: u64) -> CallerUsage {
        CallerUsage { cpu_us: cpu_ms * 1_000, stored_bytes }
    }

    #[test]
    fn a_minute_and_a_day_are_held_apart() {
        let limits = KeyLimits { cpu_ms_per_minute: Some(10), cpu_ms_per_day: Some(25), ..KeyLimits::NONE };
        let mut count = CallerCount::default();
        let mut spend = |seconds: u64| {
            let may = count.may_spend(&limits, SHARES, at(seconds)).map_err(|denied| denied.limit);
            count.add(used(10, 0), SHARES, at(seconds));
            may
        };
        assert_eq!([spend(0), spend(1), spend(60)], [Ok(()), Err(Limit::KeyCpuPerMinute), Ok(())]);
        assert_eq!(spend(120), Err(Limit::KeyCpuPerDay));
        assert_eq!(spend(12 * 60 * 60), Ok(()), "another day");
    }

    #[test]
    fn what_other_nodes_wrote_counts() {
        let limits = KeyLimits { stored_bytes_per_day: Some(100), ..KeyLimits::NONE };
        let mut count = CallerCount::default();
        assert_eq!(count.may_spend(&limits, SHARES, at(0)), Ok(()));
        assert_eq!(count.take_unwritten(at(0)), [(at(0).day(), used(0, 0))], "the database is asked");
        count.add(used(0, 40), SHARES, at(1));
        count.set_written(at(1).day(), used(0, 70), at(1));
        let denied = count.may_spend(&limits, SHARES, at(1)).unwrap_err();
        assert_eq!((denied.limit, denied.most), (Limit::KeyStoredBytesPerDay, 100));
        assert_eq!(denied.wait, Duration::from_secs(12 * 60 * 60 - 1));
        assert_eq!(count.take_unwritten(at(1)), [(at(1).day(), used(0, 40))]);
        assert!(count.take_unwritten(at(1)).is_empty());
    }

    #[test]
    fn who_runs_nothing_and_owes_nothing_is_forgotten_after_a_while() {
        let limits = KeyLimits { concurrent_tasks: Some(1), cpu_ms_per_day: Some(10), ..KeyLimits::NONE };
        let mut count = CallerCount::default();
        count.begin(&limits, SHARES, at(0), Duration::ZERO).unwrap();
        let again = count.begin(&limits, SHARES, at(0), Duration::ZERO).unwrap_err();
        assert_eq!(again.limit, Limit::KeyConcurrentTasks);
        assert!(!count.is_idle(at(10_000)), "it runs");
        count.end();
        count.add(used(1, 0), SHARES, at(0));
        assert!(!count.is_idle(at(10_000)), "it owes");
        count.take_unwritten(at(0));
        assert!(!count.is_idle(at(599)));
        assert!(count.is_idle(at(600)));
    }
}
