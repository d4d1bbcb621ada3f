//! A message of a conversation, as it is kept.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::Block;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Agent,
}

/// Where a message came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    #[default]
    Local,
    A2aRemote,
    A2aExternal,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub message_id: String,
    pub role: Role,
    #[serde(default)]
    pub source: Source,
    pub content: Vec<Block>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reference_task_ids: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub extensions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub request: Option<Box<RequestNotes>>,
}

/// What the request that brought a message says beside it: for the function to read, and not shown to callers again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestNotes {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata: Option<Map<String, Value>>,
    /// The media types that the caller would like to get.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub accepted_output_modes: Vec<String>,
}

impl RequestNotes {
    /// Nothing where nothing is said.
    pub fn new(metadata: Option<Map<String, Value>>, accepted_output_modes: Vec<String>) -> Option<Box<Self>> {
        let metadata = metadata.filter(|metadata| !metadata.is_empty());
        let says = metadata.is_some() || !accepted_output_modes.is_empty();
        says.then(|| Box::new(Self { metadata, accepted_output_modes }))
    }
}

impl Message {
    pub fn user(message_id: impl Into<String>, content: Vec<Block>) -> Self {
        Self::new(message_id, Role::User, Source::A2aExternal, content)
    }

    pub fn agent(message_id: impl Into<String>, content: Vec<Block>) -> Self {
        Self::new(message_id, Role::Agent, Source::Local, content)
    }

    fn new(message_id: impl Into<String>, role: Role, source: Source, content: Vec<Block>) -> Self {
        Self {
            message_id: message_id.into(),
            role,
            source,
            content,
            metadata: None,
            reference_task_ids: Vec::new(),
            extensions: Vec::new(),
            request: None,
        }
    }
}
