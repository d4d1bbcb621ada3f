//! Blocks, messages and artifacts as the union of the 0.1 and the 0.3 shape, borrowed from the task.
//!
//! Blocks that are not public have no part.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pleat_domain::content::{Block, EmbeddedResource};
use pleat_domain::message::{Message, Role};
use pleat_domain::task::Artifact;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::part::{ATTACHMENT, META, NAME};
use crate::value::text_of;

#[derive(Debug, Serialize)]
pub(super) struct PartView<'a> {
    r#type: &'static str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<FileView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Data<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata<'a>>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Data<'a> {
    Value(&'a Value),
    Raw(&'a RawValue),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Metadata<'a> {
    Given(&'a Value),
    /// Where an embedded resource came from: a file part has no room for an address beside its bytes.
    Address {
        uri: &'a str,
    },
}

impl<'a> PartView<'a> {
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: Some(text.into()), ..Self::empty("text") }
    }

    /// An input as the part that would have carried it.
    pub fn of_input(input: &'a RawValue) -> Self {
        match text_of(input) {
            text if input.get().starts_with('"') => Self::text(text),
            _ => Self { data: Some(Data::Raw(input)), ..Self::empty("data") },
        }
    }

    fn of_block(block: &'a Block) -> Option<Self> {
        let (part, extra) = match block {
            Block::Text { text, extra } => (Self::text(text.as_str()), extra),
            Block::Data { data, extra } => (Self { data: Some(Data::Value(data)), ..Self::empty("data") }, extra),
            Block::Image { data, mime_type, extra } | Block::Audio { data, mime_type, extra } => {
                let (mime_type, bytes) = (Some(mime_type.as_str()), Some(Cow::Borrowed(data.as_str())));
                (Self::file(FileView { name: name_in(extra), mime_type, bytes, uri: None }), extra)
            }
            Block::ResourceLink { uri, name, mime_type, extra } => {
                let name = (name != uri).then_some(name.as_str());
                (Self::file(FileView { name, mime_type: mime_type.as_deref(), bytes: None, uri: Some(uri) }), extra)
            }
            Block::Resource { resource, extra } => (Self::embedded(resource, extra), extra),
            _ => return None,
        };
        let given = extra.get(META).filter(|meta| meta.is_object()).map(Metadata::Given);
        Some(Self { metadata: given.or(part.metadata), ..part })
    }

    fn embedded(resource: &'a EmbeddedResource, extra: &'a Map<String, Value>) -> Self {
        let bytes = match (&resource.blob, &resource.text) {
            (Some(blob), _) => Cow::Borrowed(blob.as_str()),
            (None, text) => Cow::Owned(STANDARD.encode(text.as_deref().unwrap_or_default())),
        };
        let address = (!resource.uri.starts_with(ATTACHMENT)).then_some(resource.uri.as_str());
        let last_segment = address.and_then(|uri| uri.rsplit('/').next()).filter(|name| !name.is_empty());
        let name = name_in(extra).or(last_segment);
        let file = FileView { name, mime_type: resource.mime_type.as_deref(), bytes: Some(bytes), uri: None };
        Self { metadata: address.map(|uri| Metadata::Address { uri }), ..Self::file(file) }
    }

    fn file(file: FileView<'a>) -> Self {
        Self { file: Some(file), ..Self::empty("file") }
    }

    const fn empty(kind: &'static str) -> Self {
        Self { r#type: kind, kind, text: None, file: None, data: None, metadata: None }
    }
}

fn name_in(extra: &Map<String, Value>) -> Option<&str> {
    extra.get(NAME)?.as_str()
}

pub(super) fn parts(blocks: &[Block]) -> Vec<PartView<'_>> {
    blocks.iter().filter_map(PartView::of_block).collect()
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
            Some(value) if artifact.blocks.is_empty() => vec![PartView::text(text_of(value))],
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
