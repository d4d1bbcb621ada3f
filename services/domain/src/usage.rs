//! What was used, counted: by tenant, skill and day.

use std::ops::AddAssign;

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Usage {
    /// Turns of tasks, however they ended.
    pub calls: u64,
    /// Of these, the ones that failed.
    pub failures: u64,
    pub cpu_us: u64,
    pub wall_us: u64,
    pub input_bytes: u64,
    pub output_bytes: u64,
    /// Of sources that were deployed.
    pub upload_bytes: u64,
}

impl Usage {
    /// What a plan's bytes per day are held against.
    pub const fn stored_bytes(&self) -> u64 {
        self.input_bytes.saturating_add(self.output_bytes).saturating_add(self.upload_bytes)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        for (mine, theirs) in [
            (&mut self.calls, other.calls),
            (&mut self.failures, other.failures),
            (&mut self.cpu_us, other.cpu_us),
            (&mut self.wall_us, other.wall_us),
            (&mut self.input_bytes, other.input_bytes),
            (&mut self.output_bytes, other.output_bytes),
            (&mut self.upload_bytes, other.upload_bytes),
        ] {
            *mine = mine.saturating_add(theirs);
        }
    }
}

/// What one caller has used in a day, of what keys and tokens may have limits on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallerUsage {
    pub cpu_us: u64,
    pub stored_bytes: u64,
}

impl From<Usage> for CallerUsage {
    fn from(usage: Usage) -> Self {
        Self { cpu_us: usage.cpu_us, stored_bytes: usage.stored_bytes() }
    }
}

impl AddAssign for CallerUsage {
    fn add_assign(&mut self, other: Self) {
        self.cpu_us = self.cpu_us.saturating_add(other.cpu_us);
        self.stored_bytes = self.stored_bytes.saturating_add(other.stored_bytes);
    }
}
