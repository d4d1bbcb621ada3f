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
        }
    }
}
