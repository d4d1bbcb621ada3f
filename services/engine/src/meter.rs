//! The meter: the subscriber of the hook bus that counts what every call has used. The one place where calls are metered.

use std::sync::Arc;
use std::time::Duration;

use pleat_domain::{TaskState, Usage};

use crate::book::Books;
use crate::hooks::{Denied, Hook, VerbEvent, VerbOutcome};

pub(crate) struct Meter(pub(crate) Arc<Books>);

impl Hook for Meter {
    fn after(&self, event: &VerbEvent<'_>, outcome: &VerbOutcome<'_>) -> Result<(), Denied> {
        let micros = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let bytes = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
        let usage = Usage {
            calls: 1,
            failures: u64::from(outcome.outcome == TaskState::Failed),
            cpu_us: micros(outcome.cpu),
            wall_us: micros(outcome.duration),
            input_bytes: bytes(event.args.get().len()),
            output_bytes: bytes(outcome.output_bytes()),
            upload_bytes: 0,
        };
        self.0.spend(event.tenant.id, Some(event.caller), event.verb, usage);
        Ok(())
    }
}
