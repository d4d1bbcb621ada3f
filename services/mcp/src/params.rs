//! Parameters of requests, read once into what the handlers need. The text has been checked and is an object.

use pleat_domain::json::Raw;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::RpcError;

/// What a method takes; without parameters it gets an empty object.
pub fn read<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, RpcError> {
    let text = params.map_or("{}", RawValue::get);
    serde_json::from_str(text).map_err(|error| RpcError::invalid_params(format!("the parameters do not fit: {error}")))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Initialize {
    pub protocol_version: String,
    #[serde(default)]
    pub capabilities: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Page {
    #[serde(default)]
    pub cursor: Option<String>,
}

/// What a client answers to an `input_required` result, with the call that it repeats.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answers {
    #[serde(default)]
    pub input_responses: Option<Map<String, Value>>,
    #[serde(default)]
    pub request_state: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Call {
    pub name: String,
    #[serde(default)]
    pub arguments: Option<Raw>,
}

impl Call {
    /// Arguments have names, also those of a tool that would take anything.
    pub fn check(&self) -> Result<(), RpcError> {
        match self.arguments.as_ref().is_none_or(|arguments| arguments.get().starts_with('{')) {
            true => Ok(()),
            false => Err(RpcError::invalid_params("`arguments` must be an object")),
        }
    }
}

#[derive(Debug, Deserialize)]
pub struct Uri {
    pub uri: String,
}

#[derive(Debug, Deserialize)]
pub struct Prompt {
    pub name: String,
    #[serde(default)]
    pub arguments: Option<Map<String, Value>>,
}

impl Prompt {
    /// What a user fills in is text.
    pub fn check(&self) -> Result<(), RpcError> {
        let mut arguments = self.arguments.iter().flatten();
        match arguments.find(|(_, value)| !value.is_string()) {
            None => Ok(()),
            Some((name, _)) => Err(RpcError::invalid_params(format!("the argument `{name}` must be a string"))),
        }
    }
}

#[derive(Debug, Deserialize)]
pub struct SetLevel {
    pub level: String,
}

#[derive(Debug, Deserialize)]
pub struct Complete {
    pub r#ref: Reference,
    pub argument: Argument,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub enum Reference {
    #[serde(rename = "ref/prompt")]
    Prompt { name: String },
    #[serde(rename = "ref/resource")]
    Resource { uri: String },
}

#[derive(Debug, Deserialize)]
pub struct Argument {
    pub name: String,
    pub value: String,
}

#[derive(Debug, Default, Deserialize)]
pub struct Listen {
    #[serde(default)]
    pub notifications: Filter,
}

/// What a listener wants to be told.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Filter {
    pub tools_list_changed: bool,
    pub prompts_list_changed: bool,
    pub resources_list_changed: bool,
    pub resource_subscriptions: Vec<String>,
    pub task_ids: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRef {
    pub task_id: String,
    #[serde(default)]
    pub input_responses: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancelled {
    pub request_id: Raw,
}
