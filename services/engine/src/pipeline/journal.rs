//! What the rows of a run's steps say: which attempts ended how, and which nobody has heard of since.

use std::collections::HashMap;

use pleat_domain::{Failure, Reason, Task, TaskId, TaskState};
use pleat_pipelines::{Attempt, Entry, Event};
use time::OffsetDateTime;

use crate::calling::value_of;

/// Attempts that have begun and have no end yet, by their labels.
pub(super) type Pending = HashMap<String, Begun>;

#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    pub(super) task: TaskId,
    pub(super) at: OffsetDateTime,
}

/// The journal that these steps are. What was canceled is as if it had not been.
pub(super) fn entries(steps: &[Task]) -> Vec<Entry> {
    steps.iter().filter_map(entry).collect()
}

pub(super) fn pending(steps: &[Task]) -> Pending {
    let running = steps.iter().filter(|step| matches!(step.state, TaskState::Submitted | TaskState::Working));
    running.filter_map(|step| Some((step.step.clone()?, Begun { task: step.id, at: step.created_at }))).collect()
}

fn entry(step: &Task) -> Option<Entry> {
    let attempt: Attempt = step.step.as_deref()?.parse().ok()?;
    let event = match step.state {
        TaskState::Completed => Event::Finished(value_of(step)),
        // What waits for an answer gets none.
        TaskState::Failed | TaskState::Rejected | TaskState::InputRequired | TaskState::AuthRequired => {
            Event::Failed { failure: failure_of(step), at: step.updated_at }
        }
        _ => return None,
    };
    Some(Entry { attempt, event })
}

/// Why a step has not completed.
pub(super) fn failure_of(step: &Task) -> Failure {
    let state = step.state.as_str();
    let known = step.failure.clone();
    known.unwrap_or_else(|| Failure {
        code: Some(state.to_owned()),
        ..Failure::new(Reason::FunctionError, format!("the call was {state}"))
    })
}
