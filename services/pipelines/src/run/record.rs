//! What is known of one call: how often it was tried, and what comes next for it.

use pleat_domain::{Failure, Raw, Reason};
use time::OffsetDateTime;

use crate::definition::{Retry, RetryOn};

#[derive(Debug)]
pub(super) struct Record {
    /// Attempts that have ended.
    pub(super) attempts: u32,
    /// Those of them that failed.
    failures: u32,
    /// Those that ended with their node.
    losses: u32,
    pub(super) state: State,
}

#[derive(Debug)]
pub(super) enum State {
    Ready { not_before: Option<OffsetDateTime> },
    Running,
    Finished(Raw),
    Failed(Failure),
}

impl Record {
    pub(super) const fn new() -> Self {
        Self { attempts: 0, failures: 0, losses: 0, state: State::Ready { not_before: None } }
    }

    /// From now on it runs; or from then on, if it has to wait.
    pub(super) fn begin(&mut self) -> Option<OffsetDateTime> {
        match std::mem::replace(&mut self.state, State::Running) {
            State::Ready { not_before } => not_before,
            _ => None,
        }
    }

    pub(super) fn runs(&self, attempt: u32) -> bool {
        matches!(self.state, State::Running) && attempt == self.attempts + 1
    }

    pub(super) fn finished(&mut self, output: Raw) {
        self.state = State::Finished(output);
    }

    /// Again, or for good. What was lost with its node did not fail: it is tried again whatever the step says, within
    /// bounds, because it may be what brings nodes down.
    pub(super) fn failed(&mut self, failure: Failure, at: OffsetDateTime, retry: &Retry, losses: u32) {
        if matches!(self.state, State::Finished(_)) {
            return;
        }
        let lost = failure.reason == Reason::NodeLost;
        if lost {
            self.losses += 1
        } else {
            self.failures += 1
        }
        let again =
            if lost { self.losses < losses } else { self.failures < retry.attempts && may_pass(&failure, retry) };
        self.state = match (again, lost) {
            (false, _) => State::Failed(failure),
            (true, true) => State::Ready { not_before: None },
            (true, false) => State::Ready { not_before: Some(at + retry.wait(self.failures)) },
        };
    }
}

fn may_pass(failure: &Failure, retry: &Retry) -> bool {
    let passing = failure.retryable || matches!(failure.reason, Reason::WallLimit | Reason::Busy);
    retry.on == RetryOn::Any || passing
}
