//! A run as a state machine: what starts now, what became of it, how it ends. No clock, no I/O: whoever drives it calls
//! the skills, tells the time, and stores the journal.
//!
//! ```text
//! let mut run = Run::new(plan, input);            // or Run::resume(plan, input, journal)
//! loop {
//!     store(run.take_journal());                  // before anything that follows from it
//!     if let Some(end) = run.end() { break }
//!     start(run.take_ready());                    // each: wait until `not_before`, call, then:
//!     run.finish(&attempt, outcome, now)?;
//! }
//! ```
//! The journal is all there is to know: what is in it is never called again, and everything else follows from it, the
//! plan and the input.

mod advance;
mod journal;
mod record;
mod replay;

use std::collections::BTreeMap;
use std::sync::Arc;

use pleat_domain::{Failure, Raw};
use time::OffsetDateTime;

pub use journal::{Attempt, BadAttempt, BadJournal, Entry, Event};
pub use replay::CannotReplay;

use crate::datum::{Datum, Scope};
use crate::plan::Plan;
use crate::reference::StepId;
use crate::run::record::{Record, State};

#[derive(Debug)]
pub struct Run {
    plan: Arc<Plan>,
    input: Datum,
    /// The stage that is being worked on.
    stage: usize,
    /// One for each step.
    steps: Vec<Progress>,
    answers: BTreeMap<StepId, Datum>,
    /// Since the journal was last taken.
    fresh: Vec<Entry>,
    end: Option<End>,
}

/// A call to make.
#[derive(Debug, Clone)]
pub struct StepStart {
    pub attempt: Attempt,
    pub input: Raw,
    /// After a failure: when to try again.
    pub not_before: Option<OffsetDateTime>,
}

#[derive(Debug, Clone)]
pub enum End {
    Output(Raw),
    Failed(RunFailure),
    Canceled,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFailure {
    /// `None`: the output could not be put together.
    pub step: Option<StepId>,
    pub item: Option<u32>,
    pub failure: Failure,
}

/// What was reported does not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not running")]
pub struct NotRunning(pub Attempt);

/// How far a step is.
#[derive(Debug, Default)]
struct Progress {
    phase: Phase,
    /// By item; a step without items has number 0.
    records: BTreeMap<u32, Record>,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Waiting,
    /// `None`: no fan-out.
    Open(Option<Vec<Datum>>),
    Skipped,
    Done,
}

impl Run {
    pub fn new(plan: Arc<Plan>, input: Raw) -> Self {
        let mut run = Self::untouched(plan, input);
        run.advance();
        run
    }

    fn untouched(plan: Arc<Plan>, input: Raw) -> Self {
        let steps = std::iter::repeat_with(Progress::default).take(plan.len()).collect();
        Self { plan, input: Datum::new(input), stage: 0, steps, answers: BTreeMap::new(), fresh: Vec::new(), end: None }
    }

    /// Goes on behind what the journal has, in whichever order its entries come. What ran and is not in it runs again.
    pub fn resume(plan: Arc<Plan>, input: Raw, journal: impl IntoIterator<Item = Entry>) -> Result<Self, BadJournal> {
        let mut run = Self::untouched(plan, input);
        let mut entries: Vec<Entry> = journal.into_iter().collect();
        entries.sort_by_key(|entry| entry.attempt.number);
        for entry in entries {
            run.note(entry)?;
        }
        run.advance();
        Ok(run)
    }

    pub const fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The calls to make now; each is handed out once. A retry that has to wait holds its place.
    pub fn take_ready(&mut self) -> Vec<StepStart> {
        let Some(stage) = self.plan.stage(self.stage).filter(|_| self.end.is_none()) else { return Vec::new() };
        // All are given their inputs first: should one of them be too large, nothing of this turn begins.
        let inputs: Result<Vec<_>, _> = stage.steps.clone().map(|step| self.inputs(step)).collect();
        match inputs {
            Ok(inputs) => {
                inputs.into_iter().flatten().filter_map(|(step, item, input)| self.begin(step, item, input)).collect()
            }
            Err(failure) => {
                self.end = Some(End::Failed(*failure));
                Vec::new()
            }
        }
    }

    /// What became of a call. After the end of the run it is journaled and changes nothing.
    pub fn finish(
        &mut self,
        attempt: &Attempt,
        outcome: Result<Raw, Failure>,
        at: OffsetDateTime,
    ) -> Result<(), NotRunning> {
        let record = self.record(attempt).filter(|record| record.runs(attempt.number));
        if record.is_none() {
            return Err(NotRunning(attempt.clone()));
        }
        let event = match outcome {
            Ok(output) => Event::Finished(output),
            Err(failure) => Event::Failed { failure, at },
        };
        let entry = Entry { attempt: attempt.clone(), event };
        self.fresh.push(entry.clone());
        self.note(entry).map_err(|_| NotRunning(attempt.clone()))?;
        self.advance();
        Ok(())
    }

    /// Stops the run. What is still running is the caller's to stop.
    pub fn cancel(&mut self) -> Vec<Attempt> {
        if self.end.is_none() {
            self.end = Some(End::Canceled);
        }
        self.running()
    }

    /// What was handed out and has not finished.
    pub fn running(&self) -> Vec<Attempt> {
        let mut running = Vec::new();
        for (number, progress) in self.steps.iter().enumerate() {
            let Some(step) = self.plan.at(number) else { continue };
            for (item, record) in &progress.records {
                if matches!(record.state, State::Running) {
                    let item = step.for_each.is_some().then_some(*item);
                    running.push(Attempt { step: step.id.clone(), item, number: record.attempts + 1 });
                }
            }
        }
        running
    }

    /// How many of its steps are over or skipped, and how many there are.
    pub fn progress(&self) -> (usize, usize) {
        let over = |progress: &&Progress| matches!(progress.phase, Phase::Skipped | Phase::Done);
        (self.steps.iter().filter(over).count(), self.steps.len())
    }

    /// How it ended, once it has.
    pub const fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// What has to be stored before anything is done that follows from it.
    pub fn take_journal(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.fresh)
    }

    fn scope<'a>(&'a self, item: Option<(&'a Datum, u32)>) -> Scope<'a> {
        Scope { input: &self.input, answers: &self.answers, item }
    }

    fn record(&self, attempt: &Attempt) -> Option<&Record> {
        let number = self.plan.number(&attempt.step)?;
        let fans = self.plan.at(number)?.for_each.is_some();
        let item = if fans { attempt.item? } else { 0 };
        self.steps.get(number)?.records.get(&item).filter(|_| fans == attempt.item.is_some())
    }
}

#[cfg(test)]
mod tests;
