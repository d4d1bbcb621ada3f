//! Parts, messages, artifacts and states as both dialects write them, borrowed from the task.

use std::borrow::Cow;

use pleat_domain::content::Block;
use pleat_domain::failure::Failure;
use pleat_domain::message::{Message, Role};
use pleat_domain::task::{Artifact, Ask, TaskState};
use pleat_domain::timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use time::OffsetDateTime;

use super::Dialect;
use crate::part::{Part, Tagged, Untagged};

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum PartView<'a> {
    Tagged(Tagged<'a>),
    Untagged(Untagged<'a>),
}

impl<'a> PartView<'a> {
    pub fn new(dialect: Dialect, part: Part<'a>) -> Self {
        match dialect {
            Dialect::V03 => Self::Tagged(Tagged::new(part.wrapped(), false)),
            Dialect::V1 => Self::Untagged(Untagged::new(part)),
        }
    }
}

fn parts(dialect: Dialect, blocks: &[Block]) -> Vec<PartView<'_>> {
    blocks.iter().filter_map(Part::of_block).map(|part| PartView::new(dialect, part)).collect()
}

/// The task that a message, a status or an artifact is of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Of<'a> {
    pub dialect: Dialect,
    pub task: &'a str,
    pub context: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    message_id: Cow<'a, str>,
    role: &'static str,
    parts: Vec<PartView<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    task_id: &'a str,
    context_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    extensions: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    reference_task_ids: &'a [String],
}

impl<'a> MessageView<'a> {
    fn new(of: Of<'a>, id: Cow<'a, str>, role: Role, parts: Vec<PartView<'a>>) -> Self {
        Self {
            kind: of.dialect.kind("message"),
            message_id: id,
            role: of.dialect.role(role),
            parts,
            task_id: of.task,
            context_id: of.context,
            metadata: None,
            extensions: &[],
            reference_task_ids: &[],
        }
    }

    /// Nothing for a message that a caller may see no part of.
    pub fn of_message(of: Of<'a>, message: &'a Message) -> Option<Self> {
        let parts = parts(of.dialect, &message.content);
        if parts.is_empty() {
            return None;
        }
        Some(Self {
            metadata: message.metadata.as_ref(),
            extensions: &message.extensions,
            reference_task_ids: &message.reference_task_ids,
            ..Self::new(of, Cow::Borrowed(&message.message_id), message.role, parts)
        })
    }

    /// The message that a call without one amounts to.
    pub fn of_input(of: Of<'a>, input: &'a RawValue) -> Self {
        let part = PartView::new(of.dialect, Part::value(input));
        Self::new(of, Cow::Owned(format!("{}-input", of.task)), Role::User, vec![part])
    }

    /// A result that stands alone: no task is named, and none is to be asked for.
    pub fn of_reply(dialect: Dialect, id: String, context: &'a str, artifact: &'a Artifact) -> Self {
        let of = Of { dialect, task: "", context };
        Self::new(of, Cow::Owned(id), Role::Agent, parts(dialect, &artifact.blocks))
    }

    pub fn of_agent(of: Of<'a>, id: String, text: &'a str) -> Self {
        Self::new(of, Cow::Owned(id), Role::Agent, vec![PartView::new(of.dialect, Part::text(text))])
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactView<'a> {
    artifact_id: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parts: Vec<PartView<'a>>,
}

impl<'a> ArtifactView<'a> {
    /// Explicit blocks go one to one; a value is a text or data. Nothing when all of it is for the owner alone.
    pub fn new(dialect: Dialect, artifact: &'a Artifact) -> Option<Self> {
        let parts = match &artifact.value {
            Some(value) if artifact.blocks.is_empty() => vec![PartView::new(dialect, Part::value(value))],
            _ => parts(dialect, &artifact.blocks),
        };
        let hidden = parts.is_empty() && !artifact.blocks.is_empty();
        (!hidden).then(|| Self::of(dialect, artifact, parts))
    }

    /// The end of an artifact is news even when what ended it is not for callers.
    pub fn end(dialect: Dialect, artifact: &'a Artifact) -> Self {
        Self::of(dialect, artifact, Vec::new())
    }

    /// An artifact has a part, if only an empty one.
    fn of(dialect: Dialect, artifact: &'a Artifact, mut parts: Vec<PartView<'a>>) -> Self {
        if parts.is_empty() {
            parts.push(PartView::new(dialect, Part::text("")));
        }
        let name = artifact.name.as_str();
        Self { artifact_id: name, name, description: artifact.description.as_deref(), parts }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct StatusView<'a> {
    state: &'static str,
    #[serde(serialize_with = "timestamp::serialize")]
    timestamp: OffsetDateTime,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<MessageView<'a>>,
}

impl<'a> StatusView<'a> {
    pub fn new(of: Of<'a>, state: TaskState, at: OffsetDateTime, message: Option<MessageView<'a>>) -> Self {
        Self { state: of.dialect.state(state), timestamp: at, message }
    }
}

/// What the agent says with a status: why it failed, or what it waits for. Named by its time, so that the prompts of
/// two turns are two messages.
pub(super) fn status_message<'a>(
    of: Of<'a>,
    failure: Option<&'a Failure>,
    ask: Option<&'a Ask>,
    at: OffsetDateTime,
) -> Option<MessageView<'a>> {
    let text = failure.map(|failure| failure.message.as_str()).or(ask.map(|ask| ask.prompt.as_str()))?;
    let id = format!("{}-{}", of.task, at.unix_timestamp_nanos() / 1_000_000);
    Some(MessageView::of_agent(of, id, text))
}
