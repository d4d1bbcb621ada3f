//! What is kept of a run: what was skipped, and how each attempt ended.

use std::fmt;
use std::str::FromStr;

use pleat_domain::{Failure, Raw, timestamp};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::record::Record;
use super::{Phase, Run};
use crate::limits;
use crate::reference::StepId;

/// One attempt at one call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Attempt {
    pub step: StepId,
    /// Of a fan-out: which item, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<u32>,
    /// From 1; 0 with a step that was skipped.
    #[serde(rename = "attempt")]
    pub number: u32,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    #[serde(flatten)]
    pub attempt: Attempt,
    pub event: Event,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Its condition did not hold.
    Skipped,
    Finished(Raw),
    /// With the reason `node_lost`: nobody knows how it ended.
    Failed {
        failure: Failure,
        #[serde(with = "timestamp")]
        at: OffsetDateTime,
    },
}

/// The journal is not one of this plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the journal speaks of {0}, which is not in the plan")]
pub struct BadJournal(pub Attempt);

/// The text names no attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an attempt is written `step#1`, or `step[0]#1` for an item")]
pub struct BadAttempt;

impl Attempt {
    /// In one word, for a column of a table: `fetch#1`, `parts[3]#2`.
    pub fn label(&self) -> String {
        let item = self.item.map(|item| format!("[{item}]")).unwrap_or_default();
        format!("{}{item}#{}", self.step, self.number)
    }
}

impl FromStr for Attempt {
    type Err = BadAttempt;

    fn from_str(label: &str) -> Result<Self, BadAttempt> {
        let (place, number) = label.rsplit_once('#').ok_or(BadAttempt)?;
        let (step, item) = match place.split_once('[') {
            Some((step, item)) => (step, Some(item.strip_suffix(']').ok_or(BadAttempt)?)),
            None => (place, None),
        };
        let item = item.map(|item| item.parse().map_err(|_| BadAttempt)).transpose()?;
        let step = StepId::parse(step).map_err(|_| BadAttempt)?;
        Ok(Self { step, item, number: number.parse().map_err(|_| BadAttempt)? })
    }
}

/// For people.
impl fmt::Display for Attempt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "step `{}`", self.step)?;
        if let Some(item) = self.item {
            write!(formatter, ", item {item}")?;
        }
        write!(formatter, ", attempt {}", self.number)
    }
}

impl Run {
    /// Takes an entry in, from the journal or just now. The same one twice is the same as once.
    pub(super) fn note(&mut self, entry: Entry) -> Result<(), BadJournal> {
        let Entry { attempt, event } = entry;
        let number = self.plan.number(&attempt.step);
        let step = number.and_then(|number| self.plan.at(number));
        let fits = step.is_some_and(|step| match (&step.for_each, attempt.item) {
            (None, None) => true,
            (None, Some(_)) => false,
            (Some(fan), Some(item)) => item < fan.max_items,
            (Some(_), None) => matches!(event, Event::Skipped),
        });
        let (Some(number), Some(step), true) = (number, step, fits) else { return Err(BadJournal(attempt)) };
        let retry = step.retry;
        let Some(progress) = self.steps.get_mut(number) else { return Err(BadJournal(attempt)) };
        if matches!(event, Event::Skipped) {
            progress.phase = Phase::Skipped;
            return Ok(());
        }
        let record = progress.records.entry(attempt.item.unwrap_or(0)).or_insert_with(Record::new);
        if attempt.number > record.attempts {
            record.attempts = attempt.number;
            match event {
                Event::Finished(output) => record.finished(output),
                Event::Failed { failure, at } => record.failed(failure, at, &retry, limits::LOSSES),
                Event::Skipped => {}
            }
        }
        Ok(())
    }
}
