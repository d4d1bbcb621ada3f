//! From what the sandbox reports to how the task ends.

use pleat_domain::task::Ask;
use pleat_domain::{Artifact, Failure, Reason, TaskState};
use pleat_runtime::{Outcome, Stop};

use crate::catalog::Skill;
use crate::hub::Interrupt;

/// How a turn of a task ends.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) state: TaskState,
    pub(crate) failure: Option<Failure>,
    pub(crate) ask: Option<Ask>,
    pub(crate) result: Option<Artifact>,
}

impl Ending {
    pub(crate) fn failed(failure: Failure) -> Self {
        Self { state: TaskState::Failed, failure: Some(failure), ask: None, result: None }
    }

    pub(crate) fn plain(state: TaskState) -> Self {
        Self { state, failure: None, ask: None, result: None }
    }

    fn asking(state: TaskState, ask: Ask) -> Self {
        Self { state, failure: None, ask: Some(ask), result: None }
    }

    /// `emitted`: the function has already put out an artifact, so that a result of `null` says nothing more.
    pub(crate) fn of(
        result: Result<Outcome, Stop>,
        interrupt: Option<Interrupt>,
        skill: &Skill,
        emitted: bool,
    ) -> Self {
        match result {
            Ok(outcome) => Self::of_outcome(outcome, skill, emitted),
            Err(Stop::Failed(failure)) => Self::failed(failure),
            Err(Stop::Canceled) => Self::of_interrupt(interrupt, skill),
        }
    }

    fn of_outcome(outcome: Outcome, skill: &Skill, emitted: bool) -> Self {
        let name = || format!("{}-result", skill.name);
        match outcome {
            Outcome::Value(value) | Outcome::Text(value) => {
                if let Some(failure) = output_fault(skill, &value) {
                    return Self::failed(failure);
                }
                let silent = emitted && value.get() == "null";
                let result = (!silent).then(|| Artifact::of_value(name(), value));
                Self { result, ..Self::plain(TaskState::Completed) }
            }
            Outcome::Content { blocks, structured } => {
                if let Some(failure) = structured.as_ref().and_then(|value| output_fault(skill, value)) {
                    return Self::failed(failure);
                }
                let mut artifact = Artifact::of_blocks(name(), blocks);
                artifact.value = structured;
                Self { result: Some(artifact), ..Self::plain(TaskState::Completed) }
            }
            Outcome::NeedInput(ask) => Self::asking(TaskState::InputRequired, ask),
            Outcome::NeedAuth(ask) => Self::asking(TaskState::AuthRequired, ask),
            Outcome::NeedClient { kind, .. } => {
                let text = format!("`{}` needs a caller that can serve `{}` requests", skill.name, kind);
                Self::failed(Failure::new(Reason::FunctionError, text))
            }
            Outcome::Reject(reason) => {
                let failure = Failure::new(Reason::FunctionError, reason);
                Self { failure: Some(failure), ..Self::plain(TaskState::Rejected) }
            }
        }
    }

    fn of_interrupt(interrupt: Option<Interrupt>, skill: &Skill) -> Self {
        match interrupt {
            Some(Interrupt::OutputOverflow) => {
                let text = format!("`{}` put out more than {} bytes", skill.name, skill.limits().output_bytes);
                Self::failed(Failure::new(Reason::OutputLimit, text))
            }
            Some(Interrupt::Shutdown | Interrupt::HandedBack | Interrupt::Fenced | Interrupt::NotRecorded) => {
                let text = "the node that ran this task was stopped; send it again";
                Self::failed(Failure::new(Reason::NodeLost, text))
            }
            Some(Interrupt::Canceled) | None => Self::plain(TaskState::Canceled),
        }
    }
}

/// A declared output schema is a promise to callers: what breaks it does not leave.
fn output_fault(skill: &Skill, value: &pleat_domain::Raw) -> Option<Failure> {
    let violations = skill.output.violations(value);
    let first = violations.first()?;
    let text = format!("`{}` returned what its own `output` schema does not allow", skill.name);
    let place = if first.pointer.is_empty() { "the result" } else { first.pointer.as_str() };
    Some(Failure::new(Reason::BadOutput, text).with_detail(format!("at {place}: {}", first.message)))
}
