//! Content blocks on the wire: the internal ones are the protocol's, but for structured data, which goes as text.

use std::borrow::Cow;

use pleat_domain::{Artifact, Block};
use serde::Serialize;
use serde_json::value::RawValue;

/// A block as a caller may see it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Content<'a> {
    Block(&'a Block),
    Text { r#type: &'static str, text: Cow<'a, str> },
}

impl<'a> Content<'a> {
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text { r#type: "text", text: text.into() }
    }

    /// Nothing for what belongs to the owner alone.
    pub fn of(block: &'a Block) -> Option<Self> {
        match block {
            Block::Data { data, .. } => Some(Self::text(data.0.get())),
            block if block.is_public() => Some(Self::Block(block)),
            _ => None,
        }
    }
}

/// Explicit blocks go one to one; a value becomes one text.
pub fn of_artifact(artifact: &Artifact) -> Vec<Content<'_>> {
    match &artifact.value {
        Some(value) if artifact.blocks.is_empty() => vec![Content::text(text_of(value))],
        _ => artifact.blocks.iter().filter_map(Content::of).collect(),
    }
}

/// A string itself, or else the JSON as the function wrote it.
pub fn text_of(value: &RawValue) -> Cow<'_, str> {
    let json = value.get();
    if !json.starts_with('"') {
        return Cow::Borrowed(json);
    }
    serde_json::from_str::<String>(json).map_or(Cow::Borrowed(json), Cow::Owned)
}
