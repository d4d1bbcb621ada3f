//! A task as `tasks/send`, `tasks/get` and `tasks/cancel` answer it.

use std::borrow::Cow;

use pleat_domain::failure::Failure;
use pleat_domain::message::Role;
use pleat_domain::task::{Ask, Task, TaskState};
use pleat_domain::timestamp;
use serde::Serialize;
use time::OffsetDateTime;

use super::view::{self, ArtifactView, MessageView};
use crate::metadata::MetadataView;

/// The answer. The history is left out unless it was asked for, as in 0.1.
pub fn task_json(task: &Task, history_length: Option<u32>) -> TaskView<'_> {
    TaskView { task, id: shown_id(task), history_length: history_length.unwrap_or(0) }
}

/// What the task is called on this wire.
pub(super) fn shown_id(task: &Task) -> String {
    task.alias.clone().unwrap_or_else(|| task.id.to_string())
}

/// A task that knows how to write itself.
#[derive(Debug)]
pub struct TaskView<'a> {
    task: &'a Task,
    id: String,
    history_length: u32,
}

impl Serialize for TaskView<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (task, id, context) = (self.task, self.id.as_str(), self.task.context.as_str());
        let artifacts = task.artifacts.iter().enumerate().filter_map(|(index, artifact)| {
            let view = ArtifactView::new(artifact, index);
            (!view.hides_all(artifact)).then_some(view)
        });
        let body = Body {
            id,
            session_id: context,
            context_id: context,
            kind: "task",
            status: StatusView::new(
                task.state,
                task.updated_at,
                status_message(task.failure.as_ref(), task.ask.as_ref(), id, context, task.updated_at),
            ),
            artifacts: artifacts.collect(),
            history: self.history(),
            metadata: MetadataView::new(task.failure.as_ref(), task.ask.as_ref(), task.warnings()),
        };
        body.serialize(serializer)
    }
}

impl TaskView<'_> {
    fn history(&self) -> Option<Vec<MessageView<'_>>> {
        let wanted = usize::try_from(self.history_length).unwrap_or(usize::MAX);
        if wanted == 0 {
            return None;
        }
        let (task, id, context) = (self.task, self.id.as_str(), self.task.context.as_str());
        if task.history.is_empty() {
            let parts = vec![view::of_input(&task.input)];
            return Some(vec![MessageView::new(Cow::Owned(format!("{id}-input")), Role::User, parts, id, context)]);
        }
        let views = task.history.iter().rev().filter_map(|message| MessageView::of_message(message, id, context));
        let mut latest: Vec<_> = views.take(wanted).collect();
        latest.reverse();
        Some(latest)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    id: &'a str,
    session_id: &'a str,
    context_id: &'a str,
    kind: &'static str,
    status: StatusView<'a>,
    artifacts: Vec<ArtifactView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<MessageView<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<MetadataView<'a>>,
}

#[derive(Debug, Serialize)]
pub(super) struct StatusView<'a> {
    state: TaskState,
    #[serde(serialize_with = "timestamp::serialize")]
    timestamp: OffsetDateTime,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<MessageView<'a>>,
}

impl<'a> StatusView<'a> {
    pub fn new(state: TaskState, timestamp: OffsetDateTime, message: Option<MessageView<'a>>) -> Self {
        Self { state, timestamp, message }
    }
}

/// What the agent says with a status: why it failed, or what it waits for. Named by its time, so that the prompts of
/// two turns are two messages.
pub(super) fn status_message<'a>(
    failure: Option<&'a Failure>,
    ask: Option<&'a Ask>,
    id: &'a str,
    context: &'a str,
    at: OffsetDateTime,
) -> Option<MessageView<'a>> {
    let text = failure.map(|failure| failure.message.as_str()).or(ask.map(|ask| ask.prompt.as_str()))?;
    let message_id = format!("{id}-{}", at.unix_timestamp_nanos() / 1_000_000);
    Some(MessageView::new(Cow::Owned(message_id), Role::Agent, vec![view::text(text)], id, context))
}

#[cfg(test)]
pub(super) mod tests;
