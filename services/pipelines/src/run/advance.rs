//! How a run goes on by itself: steps are skipped or opened, stages end, and in the end there is an output.

use std::sync::Arc;

use pleat_domain::{Failure, Raw, Reason};
use serde_json::value::RawValue;

use super::record::{Record, State};
use super::{Attempt, End, Entry, Event, Phase, Progress, Run, RunFailure, StepStart};
use crate::datum::Datum;
use crate::definition::{FanOut, OnFailure, Step};
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
                    self.end = Some(End::Failed(*failure));
                    return;
                }
            }
            let settled = |step: usize| {
                let phase = self.steps.get(step).map(|progress| &progress.phase);
                matches!(phase, Some(Phase::Skipped | Phase::Done))
            };
            if !steps.clone().all(settled) {
                return;
            }
            self.stage += 1;
        }
    }

    /// Opens a step whose turn it is, and closes one whose calls have all ended.
    fn settle(&mut self, number: usize) -> Result<(), Box<RunFailure>> {
        let plan = Arc::clone(&self.plan);
        let Some(step) = plan.at(number) else { return Ok(()) };
        if matches!(self.steps.get(number).map(|one| &one.phase), Some(Phase::Waiting)) {
            let phase = self.opened(step)?;
            if matches!(phase, Phase::Skipped) {
                let attempt = Attempt { step: step.id.clone(), item: None, number: 0 };
                self.fresh.push(Entry { attempt, event: Event::Skipped });
            }
            if let Some(progress) = self.steps.get_mut(number) {
                progress.phase = phase;
            }
        }
        if let Some(answer) = self.steps.get_mut(number).map_or(Ok(None), |progress| progress.close(step))? {
            self.answers.insert(step.id.clone(), Datum::new(answer));
        }
        Ok(())
    }

    fn opened(&self, step: &Step) -> Result<Phase, Box<RunFailure>> {
        if step.when.as_ref().is_some_and(|when| !when.holds(&self.scope(None))) {
            return Ok(Phase::Skipped);
        }
        let items = step.for_each.as_ref().map(|fan| self.items(&step.id, fan)).transpose()?;
        Ok(Phase::Open(items))
    }

    fn items(&self, step: &StepId, fan: &FanOut) -> Result<Vec<Datum>, Box<RunFailure>> {
        let list = fan.over.evaluate(&self.scope(None));
        let list = list.map_err(|TooLarge| Box::new(too_large(Some(step), "the items are")))?;
        let refused = |code: &str, message: String| {
            let failure = Failure { code: Some(code.to_owned()), ..Failure::new(Reason::BadOutput, message) };
            Box::new(RunFailure { step: Some(step.clone()), item: None, failure })
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

    /// What the calls of a step that may begin now are given, by step and item.
    pub(super) fn inputs(&self, number: usize) -> Result<Vec<(usize, u32, Raw)>, Box<RunFailure>> {
        let (Some(step), Some(progress)) = (self.plan.at(number), self.steps.get(number)) else {
            return Ok(Vec::new());
        };
        let given = progress.ready(step).into_iter().map(|item| {
            let input = self.given(number, item).map_err(|TooLarge| {
                let item = step.for_each.as_ref().map(|_| item);
                Box::new(RunFailure { item, ..too_large(Some(&step.id), "its input is") })
            });
            Ok((number, item, input?))
        });
        given.collect()
    }

    pub(super) fn begin(&mut self, number: usize, item: u32, input: Raw) -> Option<StepStart> {
        let step = self.plan.at(number)?;
        let record = self.steps.get_mut(number)?.records.entry(item).or_insert_with(Record::new);
        let not_before = record.begin();
        let item = step.for_each.as_ref().map(|_| item);
        let attempt = Attempt { step: step.id.clone(), item, number: record.attempts + 1 };
        Some(StepStart { attempt, input, not_before })
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
            (Some(mapping), datum) => mapping.evaluate(&self.scope(datum.map(|datum| (datum, item)))),
            (None, Some(datum)) => Ok(datum.raw.clone()),
            (None, None) => self.passed_on(self.stage),
        }
    }

    /// What comes before a stage: the answer of the last one that was not skipped whole, or the input.
    fn passed_on(&self, stage: usize) -> Result<Raw, TooLarge> {
        for earlier in (0..stage).rev().filter_map(|number| self.plan.stage(number)) {
            let steps = earlier.steps.clone().filter_map(|step| self.plan.at(step));
            let answer = steps.filter_map(|step| self.answers.get(&step.id)).next();
            match (answer, &earlier.passes) {
                (None, _) => {}
                (Some(answer), None) => return Ok(answer.raw.clone()),
                (Some(_), Some(group)) => return group.evaluate(&self.scope(None)),
            }
        }
        Ok(self.input.raw.clone())
    }

    fn output(&self) -> End {
        let output = match self.plan.output() {
            Some(mapping) => mapping.evaluate(&self.scope(None)),
            None => self.passed_on(self.stage),
        };
        output.map_or_else(|TooLarge| End::Failed(too_large(None, "the output is")), End::Output)
    }
}

impl Progress {
    /// The items that may begin now, in their order and within the bound on how many run at once.
    fn ready(&self, step: &Step) -> Vec<u32> {
        let Phase::Open(items) = &self.phase else { return Vec::new() };
        let count = items.as_ref().map_or(1, |items| u32::try_from(items.len()).unwrap_or(u32::MAX));
        let most = step.for_each.as_ref().map_or(1, |fan| usize::try_from(fan.concurrency).unwrap_or(1));
        let running = self.records.values().filter(|record| matches!(record.state, State::Running)).count();
        let ready =
            |item: &u32| self.records.get(item).is_none_or(|record| matches!(record.state, State::Ready { .. }));
        (0..count).filter(ready).take(most.saturating_sub(running)).collect()
    }

    /// An answer, once all calls have theirs; a failure, once one has failed for good and must not.
    fn close(&mut self, step: &Step) -> Result<Option<Raw>, Box<RunFailure>> {
        let Phase::Open(items) = &self.phase else { return Ok(None) };
        let count = items.as_ref().map_or(1, Vec::len);
        let fans = step.for_each.as_ref();
        let mut answers = Vec::new();
        let last = u32::try_from(count).unwrap_or(u32::MAX);
        for (item, record) in self.records.range(..last) {
            match &record.state {
                State::Finished(answer) => answers.push(answer.get()),
                State::Failed(_) if fans.is_some_and(|fan| fan.on_failure == OnFailure::Continue) => {
                    answers.push("null")
                }
                State::Failed(failure) => {
                    let item = fans.map(|_| *item);
                    let failure = failure.clone();
                    return Err(Box::new(RunFailure { step: Some(step.id.clone()), item, failure }));
                }
                State::Ready { .. } | State::Running => {}
            }
        }
        if answers.len() < count {
            return Ok(None);
        }
        let answer = if fans.is_some() {
            let list = list(&answers).and_then(|text| RawValue::from_string(text).ok());
            list.ok_or_else(|| Box::new(too_large(Some(&step.id), "the answers of all items together are")))?
        } else {
            match self.records.remove(&0).map(|record| record.state) {
                Some(State::Finished(answer)) => answer,
                _ => return Ok(None),
            }
        };
        self.phase = Phase::Done;
        self.records.clear();
        Ok(Some(answer))
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
