//! The limits of a caller, as keys and issuers of tokens have them.

use pleat_domain::KeyLimits;
use serde::Serialize;
use utoipa::ToSchema;

use crate::problem::Problem;

/// What the caller may use, within what its tenant may.
#[derive(Serialize, ToSchema, Clone, Copy)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LimitsView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requests_per_minute: Option<u32>,
    /// Tasks that run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) concurrent_tasks: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_ms_per_minute: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_ms_per_day: Option<u32>,
    /// Inputs, results and uploads together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stored_bytes_per_day: Option<u64>,
}

impl LimitsView {
    /// What was asked for, if all of it is within reason.
    pub(crate) fn limits(self) -> Result<KeyLimits, Problem> {
        let counts = [
            ("requestsPerMinute", self.requests_per_minute),
            ("concurrentTasks", self.concurrent_tasks),
            ("cpuMsPerMinute", self.cpu_ms_per_minute),
            ("cpuMsPerDay", self.cpu_ms_per_day),
        ];
        for (name, most) in counts {
            if most.is_some_and(|most| !(1..=1_000_000_000).contains(&most)) {
                return Err(Problem::invalid(format!("`{name}` must be 1 to 1000000000")));
            }
        }
        if self.stored_bytes_per_day.is_some_and(|most| !(1..=1_000_000_000_000_000).contains(&most)) {
            return Err(Problem::invalid("`storedBytesPerDay` must be 1 to 1000000000000000"));
        }
        Ok(KeyLimits {
            requests_per_minute: self.requests_per_minute,
            concurrent_tasks: self.concurrent_tasks,
            cpu_ms_per_minute: self.cpu_ms_per_minute,
            cpu_ms_per_day: self.cpu_ms_per_day,
            stored_bytes_per_day: self.stored_bytes_per_day,
        })
    }
}

impl From<KeyLimits> for LimitsView {
    fn from(limits: KeyLimits) -> Self {
        Self {
            requests_per_minute: limits.requests_per_minute,
            concurrent_tasks: limits.concurrent_tasks,
            cpu_ms_per_minute: limits.cpu_ms_per_minute,
            cpu_ms_per_day: limits.cpu_ms_per_day,
            stored_bytes_per_day: limits.stored_bytes_per_day,
        }
    }
}
