//! How often a call may use the platform, and how much may cross in both directions.
//!
//! Shared with the work that is pending: what arrives while the guest does something else is held in memory, and must
//! be counted when it arrives, not when it is taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use pleat_domain::{CallLimits, limits};
use tokio::sync::Semaphore;

use crate::text;

pub(crate) struct Traffic {
    calls: AtomicUsize,
    bytes: AtomicUsize,
    /// Pending work that is not done yet takes turns.
    pub(crate) turns: Arc<Semaphore>,
}

/// A budget is used up; the guest is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Overdrawn {
    #[error("the guest used the platform too often")]
    Calls,
    #[error("too much crossed between the guest and the platform")]
    Bytes,
}

impl Traffic {
    pub(crate) fn new(limits: &CallLimits) -> Self {
        Self {
            calls: AtomicUsize::new(limits.host_calls),
            bytes: AtomicUsize::new(limits.host_bytes),
            turns: Arc::new(Semaphore::new(limits::PENDING_AT_ONCE)),
        }
    }

    pub(crate) fn cross(&self, bytes: usize) -> Result<(), Overdrawn> {
        take(&self.calls, 1, Overdrawn::Calls)?;
        self.carry(bytes)
    }

    /// What comes back.
    pub(crate) fn carry(&self, bytes: usize) -> Result<(), Overdrawn> {
        take(&self.bytes, bytes, Overdrawn::Bytes)
    }
}

impl Overdrawn {
    /// What the function did, in words for its caller.
    pub(crate) fn said(self, limits: &CallLimits) -> String {
        match self {
            Self::Calls => format!("used the platform more than {} times in one call", limits.host_calls),
            Self::Bytes => {
                format!("moved more than {} through the platform in one call", text::bytes(limits.host_bytes))
            }
        }
    }
}

fn take(left: &AtomicUsize, amount: usize, otherwise: Overdrawn) -> Result<(), Overdrawn> {
    left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(amount)).map(drop).map_err(|_| otherwise)
}
