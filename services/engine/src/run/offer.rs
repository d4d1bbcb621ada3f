//! A run that only reads: nothing of it is recorded.

use pleat_domain::{Artifact, Failure, Raw, Reason, TaskState};
use pleat_runtime::{Entry, Outcome, Stop};

use super::{Run, Used};
use crate::error::EngineError;
use crate::outcome::Ending;

impl Run {
    /// Reads something that the function offers: no task, but metered and seen by the hooks like one.
    pub(crate) async fn offer(mut self: Box<Self>, entry: Entry) -> Result<Raw, EngineError> {
        let report = self.enter(entry).await;
        let used = Used::of(&report);
        let ending = match report.result {
            Ok(Outcome::Text(value)) => {
                let artifact = Artifact::of_value(format!("{}-result", self.skill.name), value);
                Ending { result: Some(artifact), ..Ending::plain(TaskState::Completed) }
            }
            Ok(_) => Ending::failed(Failure::new(Reason::BadOutput, "the function did not answer as it must")),
            Err(Stop::Failed(failure)) => Ending::failed(failure),
            Err(Stop::Canceled) => Ending::plain(TaskState::Canceled),
        };
        let (ending, _) = self.guard_output(ending, Vec::new(), &mut Vec::new());
        let ending = self.ask_hooks(ending, &[], used);
        self.permit.release();
        let value = ending.result.and_then(|artifact| artifact.value);
        match (value, ending.failure) {
            (Some(value), _) => Ok(value),
            (None, Some(failure)) => Err(EngineError::NotOffered(Box::new(failure))),
            (None, None) => Err(EngineError::ShuttingDown),
        }
    }
}
