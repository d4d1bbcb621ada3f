//! A task as it is answered.

use pleat_domain::task::Task;
use serde::{Serialize, Serializer};

use super::Dialect;
use super::view::{ArtifactView, MessageView, Of, StatusView, status_message};
use crate::metadata::MetadataView;

/// How much of a task is shown.
#[derive(Debug, Clone, Copy)]
pub struct Show {
    /// How many of the latest messages; all if nothing is said.
    pub history: Option<u32>,
    pub artifacts: bool,
}

impl Show {
    pub const fn whole(history: Option<u32>) -> Self {
        Self { history, artifacts: true }
    }
}

/// A task that knows how to write itself.
#[derive(Debug)]
pub struct TaskView<'a> {
    dialect: Dialect,
    task: &'a Task,
    show: Show,
}

impl<'a> TaskView<'a> {
    pub fn new(dialect: Dialect, task: &'a Task, show: Show) -> Self {
        Self { dialect, task, show }
    }

    fn history<'b>(&'b self, of: Of<'b>) -> Option<Vec<MessageView<'b>>> {
        let wanted = self.show.history.map_or(usize::MAX, |wanted| usize::try_from(wanted).unwrap_or(usize::MAX));
        if wanted == 0 {
            return None;
        }
        if self.task.history.is_empty() {
            return Some(vec![MessageView::of_input(of, &self.task.input)]);
        }
        let views = self.task.history.iter().rev().filter_map(|message| MessageView::of_message(of, message));
        let mut latest: Vec<_> = views.take(wanted).collect();
        latest.reverse();
        Some(latest)
    }
}

impl Serialize for TaskView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { dialect, task, show } = *self;
        let id = task.id.to_string();
        let of = Of { dialect, task: &id, context: task.context.as_str() };
        let (failure, ask) = (task.failure.as_ref(), task.ask.as_ref());
        let artifacts = || -> Vec<_> {
            task.artifacts.iter().filter_map(|artifact| ArtifactView::new(dialect, artifact)).collect()
        };
        let message = status_message(of, failure, ask, task.updated_at);
        let body = Body {
            kind: dialect.kind("task"),
            id: &id,
            context_id: of.context,
            status: StatusView::new(of, task.state, task.updated_at, message),
            artifacts: Some(artifacts()).filter(|artifacts| show.artifacts && !artifacts.is_empty()),
            history: self.history(of),
            metadata: MetadataView::new(failure, ask, task.warnings()),
        };
        body.serialize(serializer)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    id: &'a str,
    context_id: &'a str,
    status: StatusView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifacts: Option<Vec<ArtifactView<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<MessageView<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<MetadataView<'a>>,
}

/// What a message is answered with, and how a stream begins: the task itself, or in 1.0 the member `task`.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct SentView<'a>(Sent<'a>);

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Sent<'a> {
    BareTask(TaskView<'a>),
    Task { task: TaskView<'a> },
    BareMessage(Box<MessageView<'a>>),
    Message { message: Box<MessageView<'a>> },
}

impl<'a> SentView<'a> {
    pub fn new(dialect: Dialect, task: &'a Task, show: Show) -> Self {
        let task = TaskView::new(dialect, task, show);
        Self(match dialect {
            Dialect::V03 => Sent::BareTask(task),
            Dialect::V1 => Sent::Task { task },
        })
    }

    /// To who has waited for the end: where the function answers with a message, that and not the task.
    pub fn of_end(dialect: Dialect, task: &'a Task, show: Show) -> Self {
        let Some(reply) = task.reply() else { return Self::new(dialect, task, show) };
        let (id, context) = (format!("{}-reply", task.id), task.context.as_str());
        let message = Box::new(MessageView::of_reply(dialect, id, context, reply));
        Self(match dialect {
            Dialect::V03 => Sent::BareMessage(message),
            Dialect::V1 => Sent::Message { message },
        })
    }
}
