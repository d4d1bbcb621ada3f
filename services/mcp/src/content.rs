//! Content blocks on the wire: the internal ones are the protocol's, but for structured data, which goes as text.

use std::borrow::Cow;

use pleat_domain::{Artifact, Block};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::version::Version;

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

    /// What a version has no word for goes as text.
    fn in_words_of(self, version: Version) -> Self {
        match self {
            Self::Block(Block::ResourceLink { uri, name, .. }) if version < Version::V2025_06_18 => {
                Self::text(format!("{name}: {uri}"))
            }
            Self::Block(Block::Audio { mime_type, .. }) if version < Version::V2025_03_26 => {
                Self::text(format!("a sound ({mime_type}), which this version of the protocol cannot carry"))
            }
            other => other,
        }
    }
}

/// Explicit blocks go one to one; a value becomes one text.
pub fn of_artifact(artifact: &Artifact, version: Version) -> Vec<Content<'_>> {
    match &artifact.value {
        Some(value) if artifact.blocks.is_empty() => vec![Content::text(text_of(value))],
        _ => artifact.blocks.iter().filter_map(Content::of).map(|block| block.in_words_of(version)).collect(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn an_older_version_gets_as_text_what_it_has_no_word_for() {
        let blocks = json!([
            { "type": "resource_link", "uri": "https://example.com/a", "name": "a" },
            { "type": "audio", "data": "AAEC", "mimeType": "audio/wav" },
            { "type": "image", "data": "AAEC", "mimeType": "image/png" },
        ]);
        let artifact = Artifact::of_blocks("all", serde_json::from_value(blocks).unwrap());
        let kinds = |version| {
            let told = serde_json::to_value(of_artifact(&artifact, version)).unwrap();
            told.as_array().unwrap().iter().map(|block| block["type"].clone()).collect::<Vec<Value>>()
        };
        assert_eq!(kinds(Version::V2025_06_18), ["resource_link", "audio", "image"]);
        assert_eq!(kinds(Version::V2025_03_26), ["text", "audio", "image"]);
        assert_eq!(kinds(Version::V2024_11_05), ["text", "text", "image"]);
    }
}
