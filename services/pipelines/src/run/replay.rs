//! Running the end of a finished run again: what came before a chosen step is taken over, the rest is called anew.

use std::sync::Arc;

use pleat_domain::Raw;

use super::{BadJournal, Entry, Event, Phase, Run};
use crate::plan::Plan;
use crate::reference::StepId;

/// Why a run cannot be replayed from there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotReplay {
    #[error("there is no step `{0}`; name one of the pipeline's steps")]
    NoStep(StepId),
    #[error("the run did not come as far as step `{0}`; choose an earlier step")]
    NotReached(StepId),
    #[error(transparent)]
    Journal(#[from] BadJournal),
}

impl Run {
    /// A new run that takes over everything before the stage of `from`, and beside `from` what has finished. What is
    /// taken over is the beginning of its journal.
    pub fn replay(plan: Arc<Plan>, input: Raw, journal: Vec<Entry>, from: &StepId) -> Result<Self, CannotReplay> {
        let number = plan.number(from).ok_or_else(|| CannotReplay::NoStep(from.clone()))?;
        let stage = plan.stage_of(number).ok_or_else(|| CannotReplay::NoStep(from.clone()))?;
        let before = Self::resume(Arc::clone(&plan), input.clone(), journal.iter().cloned())?;
        if before.stage < stage {
            return Err(CannotReplay::NotReached(from.clone()));
        }
        let kept: Vec<Entry> = journal.into_iter().filter(|entry| before.keeps(entry, number, stage)).collect();
        let mut run = Self::resume(plan, input, kept.iter().cloned())?;
        run.fresh.splice(0..0, kept);
        Ok(run)
    }

    fn keeps(&self, entry: &Entry, from: usize, stage: usize) -> bool {
        let Some(number) = self.plan.number(&entry.attempt.step) else { return false };
        let settled = matches!(self.steps.get(number).map(|one| &one.phase), Some(Phase::Done | Phase::Skipped));
        let whole = settled || matches!(entry.event, Event::Finished(_));
        number != from && whole && self.plan.stage_of(number).is_some_and(|place| place <= stage)
    }
}
