//! What a store is opened with. Numbers only, no reading of the environment: the edges do that.

use std::fmt;
use std::time::Duration;

/// The settings of one node's store.
#[derive(Clone)]
pub struct StoreConfig {
    pub url: String,
    /// How long tasks, events, logs and aliases are kept, counted from the task's creation.
    pub retention: Duration,
    /// How many versions that are no longer active are kept of each function, once no task can be on them.
    pub versions: u32,
    /// How many days rows of the audit log are kept.
    pub audit_days: u32,
    /// Connections for reads and for the control API.
    pub readers: u32,
    /// Group-commit writers of each of two kinds, one connection each.
    pub writers: usize,
    /// Operations in one write at most.
    pub batch: usize,
    /// How long a writer waits for company while there is concurrency; a lone operation never waits.
    pub linger: Duration,
    /// Operations that may wait for the writers together; beyond it, commits are refused as busy.
    pub queue: usize,
    /// How long a node is taken for alive after its last sign of life. It gives one five times in that time, and the
    /// others look for lost nodes about three times. The same on every node of an installation.
    pub lease: Duration,
}

impl StoreConfig {
    /// The defaults, measured to beat one insert per transaction by a factor of two.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            retention: Duration::from_secs(24 * 60 * 60),
            versions: 20,
            audit_days: 400,
            readers: 8,
            writers: 2,
            batch: 256,
            linger: Duration::from_millis(1),
            queue: 4096,
            lease: Duration::from_secs(10),
        }
    }
}

/// The URL may hold a password.
impl fmt::Debug for StoreConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StoreConfig")
            .field("retention", &self.retention)
            .field("versions", &self.versions)
            .field("audit_days", &self.audit_days)
            .field("readers", &self.readers)
            .field("writers", &self.writers)
            .field("batch", &self.batch)
            .field("linger", &self.linger)
            .field("queue", &self.queue)
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}
