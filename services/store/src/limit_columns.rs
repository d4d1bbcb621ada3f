//! The limits of callers as columns: keys and issuers of tokens have the same.

use pleat_domain::KeyLimits;
use sqlx::FromRow;

#[derive(FromRow)]
pub(crate) struct LimitColumns {
    requests_per_minute: Option<i32>,
    concurrent_tasks: Option<i32>,
    cpu_ms_per_minute: Option<i32>,
    cpu_ms_per_day: Option<i32>,
    stored_bytes_per_day: Option<i64>,
}

impl LimitColumns {
    pub(crate) fn limits(self) -> KeyLimits {
        KeyLimits {
            requests_per_minute: self.requests_per_minute.map(i32::unsigned_abs),
            concurrent_tasks: self.concurrent_tasks.map(i32::unsigned_abs),
            cpu_ms_per_minute: self.cpu_ms_per_minute.map(i32::unsigned_abs),
            cpu_ms_per_day: self.cpu_ms_per_day.map(i32::unsigned_abs),
            stored_bytes_per_day: self.stored_bytes_per_day.map(i64::unsigned_abs),
        }
    }
}

/// Larger than any limit that is asked for.
pub(crate) fn stored(most: u32) -> i32 {
    i32::try_from(most).unwrap_or(i32::MAX)
}

pub(crate) fn stored_bytes(most: u64) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}
