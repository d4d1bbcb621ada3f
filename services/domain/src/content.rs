//! Content blocks: the internal form follows MCP, and adds structured data and the blocks of a trace.
//!
//! A2A is a projection of these: `Block::is_public` says which blocks a caller may ever see.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// One block of a message or an artifact. Fields that we do not know (`annotations`, `_meta`, …) are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    Text {
        text: String,
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    Image {
        /// Base64.
        data: String,
        #[serde(rename = "mimeType")]
        mime_type: String,
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    Audio {
        data: String,
        #[serde(rename = "mimeType")]
        mime_type: String,
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    ResourceLink {
        uri: String,
        name: String,
        #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none", default)]
        mime_type: Option<String>,
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    Resource {
        resource: EmbeddedResource,
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// Structured data: ours, for A2A's data parts and MCP's `structuredContent`.
    Data {
        data: Value,
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    ToolUse(Map<String, Value>),
    ToolResult(Map<String, Value>),
    Thinking(Map<String, Value>),
    RedactedThinking(Map<String, Value>),
    ServerToolUse(Map<String, Value>),
    WebSearchToolResult(Map<String, Value>),
}

/// A resource carried inside a message: exactly one of `text` and `blob` (base64).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddedResource {
    pub uri: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub blob: Option<String>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Text that follows text is one text.
pub fn append(blocks: &mut Vec<Block>, block: &Block) {
    if let (Some(Block::Text { text, extra }), Block::Text { text: more, extra: none }) = (blocks.last_mut(), block)
        && extra.is_empty()
        && none.is_empty()
    {
        text.push_str(more);
    } else {
        blocks.push(block.clone());
    }
}

impl Block {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), extra: Map::new() }
    }

    pub fn data(data: Value) -> Self {
        Self::Data { data, extra: Map::new() }
    }

    /// The block that a plain input amounts to: a text for a string, data for everything else.
    pub fn of_input(input: &RawValue) -> Self {
        match serde_json::from_str(input.get()) {
            Ok(Value::String(text)) => Self::text(text),
            Ok(value) => Self::data(value),
            Err(_) => Self::text(input.get()),
        }
    }

    /// Whether its function means it as a message in the place of a task: `_meta` says `"pleat/reply": "message"`.
    pub fn is_reply(&self) -> bool {
        let extra = match self {
            Self::Text { extra, .. }
            | Self::Image { extra, .. }
            | Self::Audio { extra, .. }
            | Self::ResourceLink { extra, .. }
            | Self::Resource { extra, .. }
            | Self::Data { extra, .. } => extra,
            _ => return false,
        };
        extra.get("_meta").and_then(|meta| meta.get("pleat/reply")).and_then(Value::as_str) == Some("message")
    }

    /// Trace blocks belong to the owner's view of a task, never to a caller's.
    pub fn is_public(&self) -> bool {
        !matches!(
            self,
            Self::ToolUse(_)
                | Self::ToolResult(_)
                | Self::Thinking(_)
                | Self::RedactedThinking(_)
                | Self::ServerToolUse(_)
                | Self::WebSearchToolResult(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unknown_fields_of_a_block_survive() {
        let wire = json!({"type": "text", "text": "hi", "annotations": {"audience": ["user"]}});
        let block: Block = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&block).unwrap(), wire);
    }

    #[test]
    fn traces_are_not_public() {
        let block: Block = serde_json::from_value(json!({"type": "tool_use", "name": "x"})).unwrap();
        assert!(!block.is_public());
        assert!(Block::text("hi").is_public());
    }
}
