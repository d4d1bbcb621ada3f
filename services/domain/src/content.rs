//! Content blocks: the internal form follows MCP, and adds structured data and the blocks of a trace.
//!
//! A2A is a projection of these: `Block::is_public` says which blocks a caller may ever see.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::json::{self, Raw};

/// One block of a message or an artifact. Fields that we do not know (`annotations`, `_meta`, …) are kept.
///
/// What is derived here is a part of how a block is read and written: the whole is below.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "type", rename_all = "snake_case")]
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
        data: Data,
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

/// A value as it was written, every digit of it. Two are equal if they say the same.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Data(pub Raw);

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

    pub fn data(data: Raw) -> Self {
        Self::Data { data: Data(data), extra: Map::new() }
    }

    /// The block that a plain input amounts to: a text for a string, data for everything else.
    pub fn of_input(input: &RawValue) -> Self {
        match serde_json::from_str(input.get()) {
            Ok(text) if input.get().starts_with('"') => Self::Text { text, extra: Map::new() },
            _ => Self::data(input.to_owned()),
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

impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        let value = |data: &Self| serde_json::from_str::<Value>(data.0.get()).ok();
        self.0.get() == other.0.get() || value(self) == value(other)
    }
}

/// Only what is derived for a block comes here, with a value that has been read already.
impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|value| Self(json::raw(&value)))
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Members { data, mut others } = Members::deserialize(deserializer)?;
        match data {
            Some(data) if others.get(TYPE).is_some_and(|kind| kind == DATA) => {
                others.shift_remove(TYPE);
                Ok(Self::Data { data: Data(data), extra: others })
            }
            data => {
                let value = data.map(|data| serde_json::from_str(data.get())).transpose().map_err(de::Error::custom)?;
                others.extend(value.map(|value: Value| (DATA.to_owned(), value)));
                Self::deserialize(Value::Object(others)).map_err(de::Error::custom)
            }
        }
    }
}

const TYPE: &str = "type";
const DATA: &str = "data";

/// The members of a block, of which one may be data of any kind: its type may come after it.
struct Members {
    data: Option<Raw>,
    others: Map<String, Value>,
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> de::Visitor<'de> for Each {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a content block, which is an object with a `type`")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut members: A) -> Result<Members, A::Error> {
                let (mut data, mut others) = (None, Map::new());
                while let Some(name) = members.next_key::<String>()? {
                    match name.as_str() {
                        DATA => data = Some(members.next_value()?),
                        _ => drop(others.insert(name, members.next_value()?)),
                    }
                }
                Ok(Members { data, others })
            }
        }
        deserializer.deserialize_map(Each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn data_keeps_every_digit_wherever_its_type_stands() {
        for wire in [
            r#"{"type":"data","data":{"n":123456789012345678901234567890,"x":1.10},"name":"n"}"#,
            r#"{"data":{"n":123456789012345678901234567890,"x":1.10},"name":"n","type":"data"}"#,
        ] {
            let block: Block = serde_json::from_str(wire).unwrap();
            let Block::Data { data, extra } = &block else { panic!("{block:?}") };
            assert_eq!(data.0.get(), r#"{"n":123456789012345678901234567890,"x":1.10}"#);
            assert_eq!(extra.get("name"), Some(&json!("n")));
            let written = r#"{"type":"data","data":{"n":123456789012345678901234567890,"x":1.10},"name":"n"}"#;
            assert_eq!(serde_json::to_string(&block).unwrap(), written);
        }
    }

    #[test]
    fn null_is_data_too_and_nothing_is_not() {
        let block: Block = serde_json::from_str(r#"{"type":"data","data":null}"#).unwrap();
        assert_eq!(block, Block::data(RawValue::NULL.to_owned()));
        let fault = |wire: &str| serde_json::from_str::<Block>(wire).unwrap_err().to_string();
        assert_eq!(fault(r#"{"type":"data"}"#), "missing field `data`");
        assert_eq!(fault(r#"{"data":1}"#), "missing field `type`");
        assert!(fault("1").contains("a content block, which is an object with a `type`"), "{}", fault("1"));
        assert!(fault(r#"{"type":"image","data":1,"mimeType":"image/png"}"#).contains("expected a string"));
    }

    #[test]
    fn a_picture_keeps_its_bytes() {
        let wire = json!({"type": "image", "data": "AAEC", "mimeType": "image/png", "_meta": {"a": 1}});
        let block: Block = serde_json::from_value(wire.clone()).unwrap();
        assert!(matches!(&block, Block::Image { data, .. } if data == "AAEC"));
        assert_eq!(serde_json::to_value(&block).unwrap(), wire);
    }

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
