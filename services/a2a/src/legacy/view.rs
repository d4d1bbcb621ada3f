//! Blocks, messages and artifacts as the union of the 0.1 and the 0.3 shape, borrowed from the task.
//!
//! Blocks that are not public have no part.

use std::borrow::Cow;

use pleat_domain::content::Block;
use pleat_domain::message::{Message, Role};
use pleat_domain::task::Artifact;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::part::{Part, Tagged};
use crate::value::text_of;

/// Says its kind in both words.
pub(super) type PartView<'a> = Tagged<'a>;

pub(super) fn text<'a>(text: impl Into<Cow<'a, str>>) -> PartView<'a> {
    Tagged::new(Part::text(text), true)
}

/// An input as the part that would have carried it.
pub(super) fn of_input(input: &RawValue) -> PartView<'_> {
    Tagged::new(Part::value(input), true)
}

pub(super) fn parts(blocks: &[Block]) -> Vec<PartView<'_>> {
    blocks.iter().filter_map(Part::of_block).map(|part| Tagged::new(part, true)).collect()
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageView<'a> {
    kind: &'static str,
    message_id: Cow<'a, str>,
    role: Role,
    parts: Vec<PartView<'a>>,
    task_id: &'a str,
    context_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Map<String, Value>>,
}

impl<'a> MessageView<'a> {
    pub fn new(id: Cow<'a, str>, role: Role, parts: Vec<PartView<'a>>, task: &'a str, context: &'a str) -> Self {
        Self { kind: "message", message_id: id, role, parts, task_id: task, context_id: context, metadata: None }
    }

    /// Nothing for a message that a caller may see no part of.
    pub fn of_message(message: &'a Message, task: &'a str, context: &'a str) -> Option<Self> {
        let parts = parts(&message.content);
        let view = Self::new(Cow::Borrowed(&message.message_id), message.role, parts, task, context);
        (!view.parts.is_empty()).then_some(Self { metadata: message.metadata.as_ref(), ..view })
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactView<'a> {
    artifact_id: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    index: usize,
    parts: Vec<PartView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    append: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_chunk: Option<bool>,
}

impl<'a> ArtifactView<'a> {
    /// Explicit blocks go one to one; a value becomes one text part, as the family's first document has it.
    pub fn new(artifact: &'a Artifact, index: usize) -> Self {
        let parts = match &artifact.value {
            Some(value) if artifact.blocks.is_empty() => vec![text(text_of(value))],
            _ => parts(&artifact.blocks),
        };
        let description = artifact.description.as_deref();
        let name = artifact.name.as_str();
        Self { artifact_id: name, name, description, index, parts, append: None, last_chunk: None }
    }

    /// As one piece of a stream.
    pub fn chunk(self, append: bool, last: bool) -> Self {
        Self { append: Some(append), last_chunk: Some(last), ..self }
    }

    /// Everything in it was a trace.
    pub fn hides_all(&self, artifact: &Artifact) -> bool {
        self.parts.is_empty() && !artifact.blocks.is_empty()
    }
}
