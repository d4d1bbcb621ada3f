//! The last look at a turn, before it is recorded or leaves.

use pleat_domain::event::ArtifactChunk;
use pleat_domain::{Artifact, EventBody};

use super::{Run, Used};
use crate::findings::Circumstances;
use crate::guarding::{BlockedBy, Watch};
use crate::hooks::VerbOutcome;
use crate::hub::lock;
use crate::outcome::Ending;

impl Run {
    /// What is blocked does not leave: neither the result nor what was put out on the way and has not left yet.
    pub(super) fn guard_output(
        &mut self,
        mut ending: Ending,
        mut artifacts: Vec<Artifact>,
        bodies: &mut Vec<EventBody>,
    ) -> (Ending, Vec<Artifact>) {
        let Some(watch) = self.watch.clone() else { return (ending, artifacts) };
        let mut watch = lock(&watch);
        let looked = self.look(&mut watch, &mut ending, &mut artifacts);
        let notes = watch.notes();
        self.task_mut().guard = notes;
        self.engine.inner.findings.add(&self.circumstances(), watch.take_noted());
        drop(watch);
        match looked {
            Err(by) => {
                bodies.retain(|body| !matches!(body, EventBody::Artifact(_)));
                (Ending::failed(by.failure()), Vec::new())
            }
            Ok(()) if self.sink.holds() => {
                let chunk =
                    |artifact: &Artifact| ArtifactChunk { artifact: artifact.clone(), append: false, last: true };
                bodies.extend(artifacts.iter().map(chunk).map(EventBody::Artifact));
                (ending, artifacts)
            }
            Ok(()) => (ending, artifacts),
        }
    }

    /// What has flowed was looked at as it did.
    fn look(&self, watch: &mut Watch, ending: &mut Ending, artifacts: &mut [Artifact]) -> Result<(), BlockedBy> {
        if let Some(by) = watch.blocked() {
            return Err(by);
        }
        if self.sink.holds() {
            artifacts.iter_mut().try_for_each(|artifact| watch.artifact(artifact))?;
        }
        ending.result.as_mut().map_or(Ok(()), |result| watch.artifact(result))?;
        watch.words(ending.ask.as_mut(), ending.failure.as_mut())
    }

    /// The hooks see the outcome before it is recorded or leaves.
    pub(super) fn ask_hooks(&self, ending: Ending, artifacts: &[Artifact], used: Used) -> Ending {
        let outcome = VerbOutcome {
            outcome: ending.state,
            failure: ending.failure.as_ref(),
            artifacts,
            result: ending.result.as_ref(),
            duration: used.wall,
            cpu: used.cpu,
        };
        match self.engine.inner.hooks.after(&self.verb(), outcome) {
            Some(refused) => Ending::failed(refused),
            None => ending,
        }
    }

    /// For the record of what was found.
    pub(crate) fn circumstances(&self) -> Circumstances<'_> {
        Circumstances {
            tenant: &self.tenant,
            task: Some(self.task.id),
            skill: self.skill.name.as_str(),
            caller: &self.task.caller,
            door: self.task.door,
        }
    }
}
