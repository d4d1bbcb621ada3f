//! How a run goes on by itself: steps are skipped or opened, stages end, and in the end there is an output.

use pleat_domain::{Failure, Raw, Reason, json};
use serde_json::value::RawValue;

use super::record::{Record, State};
use super::{Around, Attempt, End, Entry, Event, Phase, Run, RunFailure, StepStart};
use crate::datum::Datum;
use crate::definition::{FanOut, OnFailure};
use crate::limits;
use crate::mapping::TooLarge;
use crate::reference::StepId;

impl Run {
    /// As far as it goes without another answer.
    pub(super) fn advance(&mut self) {
        while self.end.is_none() {
            let Some(stage) = self.plan.stage(self.stage) else {
                self.end = Some(self.output());
                return;
            };
            let steps = stage.steps.clone();
            for step in steps.clone() {
                if let Err(failure) = self.settle(step) {
                    self.end = Some(End::Failed(failure));
                    return;
                }
            }
            let settled = |step: usize| {
                let phase = self.steps.get(step).map(|progress| &progress.phase);
                matches!(phase, Some(Phase::Skipped | Phase::Done(_)))
            };
            if !steps.clone().all(settled) {
                return;
            }
            self.stage += 1;
        }
    }

    /// Opens a step whose turn it is, and closes one whose calls have all ended.
    fn settle(&mut self, number: usize) -> Result<(), RunFailure> {
        let plan = std::sync::Arc::clone(&self.plan);
        let (Some(step), Some(progress)) = (plan.at(number), self.steps.get(number)) else { return Ok(()) };
        if matches!(progress.phase, Phase::Waiting) {
            let scope = Around { run: self, item: None };
            let skipped = step.when.as_ref().is_some_and(|when| !when.holds(&scope));
            let phase = match &step.for_each {
                _ if skipped => Phase::Skipped,
                None => Phase::Open(None),
                Some(fan) => Phase::Open(Some(self.items(&step.id, fan)?)),
            };
            if skipped {
                let attempt = Attempt { step: step.id.clone(), item: None, number: 0 };
                self.fresh.push(Entry { attempt, event: Event::Skipped });
            }
            if let Some(progress) = self.steps.get_mut(number) {
                progress.phase = phase;
            }
        }
        let Some(progress) = self.steps.get_mut(number) else { return Ok(()) };
        let Phase::Open(items) = &progress.phase else { return Ok(()) };
        let count = items.as_ref().map_or(1, |items| u32::try_from(items.len()).unwrap_or(u32::MAX));
        let tolerant = step.for_each.as_ref().is_some_and(|fan| fan.on_failure == OnFailure::Continue);
        let answers = (0..count).map(|item| progress.records.get(&item).map(|record| &record.state));
        let mut answered = Vec::new();
        for (item, state) in (0..count).zip(answers) {
            match state {
                Some(State::Finished(answer)) => answered.push(answer.get()),
                Some(State::Failed(_)) if tolerant => answered.push("null"),
                Some(State::Failed(failure)) => {
                    let item = items.is_some().then_some(item);
                    return Err(RunFailure { step: Some(step.id.clone()), item, failure: failure.clone() });
                }
                Some(State::Ready { .. } | State::Running) | None => {}
            }
        }
        if answered.len() == usize::try_from(count).unwrap_or(usize::MAX) {
            let answer = if items.is_some() { list(&answered) } else { answered.first().map(|one| (*one).to_owned()) };
            let answer = answer.ok_or_else(|| too_large(Some(&step.id), "the answers of all items together are"))?;
            progress.phase = Phase::Done(Datum::new(RawValue::from_string(answer).unwrap_or_else(|_| json::raw(&()))));
            progress.records.clear();
        }
        Ok(())
    }

    fn items(&self, step: &StepId, fan: &FanOut) -> Result<Vec<Datum>, RunFailure> {
        let list = fan.over.evaluate(&Around { run: self, item: None });
        let list = list.map_err(|TooLarge| too_large(Some(step), "the items are"))?;
        let refused = |code: &str, message: String| {
            let failure = Failure { code: Some(code.to_owned()), ..Failure::new(Reason::BadOutput, message) };
            RunFailure { step: Some(step.clone()), item: None, failure }
        };
        let items: Vec<Raw> = serde_json::from_str(list.get()).map_err(|_| {
            refused("not_an_array", format!("step `{step}` runs for each item of an array, and was given none"))
        })?;
        let most = fan.max_items;
        if items.len() > usize::try_from(most).unwrap_or(usize::MAX) {
            let message = format!("step `{step}` was given {} items, the most is {most}", items.len());
            return Err(refused("too_many_items", message));
        }
        Ok(items.into_iter().map(Datum::new).collect())
    }

    /// Hands out what may run now.
    pub(super) fn start(&mut self, number: usize, starts: &mut Vec<StepStart>) {
        let plan = std::sync::Arc::clone(&self.plan);
        let (Some(step), Some(progress)) = (plan.at(number), self.steps.get_mut(number)) else { return };
        let Phase::Open(items) = &progress.phase else { return };
        let fans = items.is_some();
        let count = items.as_ref().map_or(1, |items| u32::try_from(items.len()).unwrap_or(u32::MAX));
        let most = step.for_each.as_ref().map_or(1, |fan| usize::try_from(fan.concurrency).unwrap_or(1));
        let mut running = progress.records.values().filter(|record| matches!(record.state, State::Running)).count();
        let mut chosen = Vec::new();
        for item in 0..count {
            if running >= most {
                break;
            }
            let record = progress.records.entry(item).or_insert_with(Record::new);
            if let State::Ready { not_before } = record.state {
                record.state = State::Running;
                running += 1;
                chosen.push((item, record.attempts + 1, not_before));
            }
        }
        for (item, attempt, not_before) in chosen {
            match self.given(number, item) {
                Ok(input) => {
                    let item = fans.then_some(item);
                    let attempt = Attempt { step: step.id.clone(), item, number: attempt };
                    starts.push(StepStart { attempt, input, not_before });
                }
                Err(TooLarge) => {
                    let mut failure = too_large(Some(&step.id), "its input is");
                    failure.item = fans.then_some(item);
                    self.end = Some(End::Failed(failure));
                    return;
                }
            }
        }
    }

    /// What a call is given.
    fn given(&self, number: usize, item: u32) -> Result<Raw, TooLarge> {
        let step = self.plan.at(number);
        let items = match self.steps.get(number).map(|progress| &progress.phase) {
            Some(Phase::Open(Some(items))) => items.as_slice(),
            _ => &[],
        };
        let datum = usize::try_from(item).ok().and_then(|index| items.get(index));
        match (step.and_then(|step| step.input.as_ref()), datum) {
            (Some(mapping), datum) => mapping.evaluate(&Around { run: self, item: datum.map(|datum| (datum, item)) }),
            (None, Some(datum)) => Ok(datum.raw.clone()),
            (None, None) => self.passed_on(self.stage),
        }
    }

    /// What comes before a stage: the answer of the last one that was not skipped whole, or the input.
    fn passed_on(&self, stage: usize) -> Result<Raw, TooLarge> {
        for earlier in (0..stage).rev().filter_map(|number| self.plan.stage(number)) {
            let done = earlier.steps.clone().filter_map(|step| match self.steps.get(step).map(|one| &one.phase) {
                Some(Phase::Done(answer)) => Some(answer),
                _ => None,
            });
            let mut done = done.peekable();
            match (done.peek(), &earlier.passes) {
                (None, _) => {}
                (Some(answer), None) => return Ok(answer.raw.clone()),
                (Some(_), Some(group)) => return group.evaluate(&Around { run: self, item: None }),
            }
        }
        Ok(self.input.raw.clone())
    }

    fn output(&self) -> End {
        let output = match self.plan.output() {
            Some(mapping) => mapping.evaluate(&Around { run: self, item: None }),
            None => self.passed_on(usize::MAX.min(self.stage)),
        };
        output.map_or_else(|TooLarge| End::Failed(too_large(None, "the output is")), End::Output)
    }
}

/// `None`: too large.
fn list(answers: &[&str]) -> Option<String> {
    let size: usize = answers.iter().map(|answer| answer.len() + 1).sum();
    (size <= limits::MAPPED).then(|| format!("[{}]", answers.join(",")))
}

fn too_large(step: Option<&StepId>, what: &str) -> RunFailure {
    let place = step.map(|step| format!("step `{step}`: ")).unwrap_or_default();
    let message = format!("{place}{what} larger than {} bytes", limits::MAPPED);
    let failure = Failure { code: Some("too_large".to_owned()), ..Failure::new(Reason::OutputLimit, message) };
    RunFailure { step: step.cloned(), item: None, failure }
}
