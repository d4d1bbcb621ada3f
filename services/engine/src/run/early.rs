//! Whether a call is over before it has to be recorded as working.

use std::pin::Pin;
use std::time::Duration;

use pleat_runtime::CallReport;

use super::Run;
use crate::catalog::Target;

/// A step that finishes within this is recorded once, when it is finished.
const STEP_GRACE: Duration = Duration::from_secs(1);

impl Run {
    /// How it ended, if that is soon. The steps of a run need its row, so that one is never early; a step's id leaves the
    /// node with its end, so that it has more time.
    pub(super) async fn early(&self, call: &mut Pin<Box<impl Future<Output = CallReport>>>) -> Option<CallReport> {
        let grace = match (&self.skill.target, &self.task.step) {
            (Target::Pipeline(_), _) => return None,
            (Target::Function(_), Some(_)) => STEP_GRACE,
            (Target::Function(_), None) => self.engine.inner.config.grace,
        };
        tokio::select! {
            biased;
            report = call => Some(report),
            () = tokio::time::sleep(grace) => None,
        }
    }
}
