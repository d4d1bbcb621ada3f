//! A finished task as the result of `tools/call`.

use std::borrow::Cow;

use pleat_domain::{Task, TaskState};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::content::{self, Content};
use crate::meta::SERVER_INFO;
use crate::version::Version;

/// Where a result names its task: the one that A2A shows.
pub const TASK_ID: &str = "pleat/taskId";

/// Where it names the rules of guardrails that found something.
pub const WARNINGS: &str = "pleat/guardrailWarnings";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    content: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Map<String, Value>>,
}

impl<'a> CallResult<'a> {
    /// `promised`: the tool is listed with a schema of its result. `server`: named in versions without a handshake.
    pub fn of(task: &'a Task, version: Version, promised: bool, server: &Value) -> Self {
        let meta = meta(version, server, Some(task));
        let failed = |text: Cow<'a, str>| Self {
            result_type: version.is_stateless().then_some("complete"),
            content: vec![Content::text(text)],
            structured_content: None,
            is_error: true,
            meta: meta.clone(),
        };
        if task.state != TaskState::Completed {
            return failed(why(task));
        }
        let value = task.artifacts.last().and_then(|artifact| artifact.value.as_deref());
        let structured = value.filter(|value| carries(value, version, promised));
        if promised && structured.is_none() {
            return failed(Cow::Borrowed(
                "the function declares a schema of its result and returned no structured form",
            ));
        }
        Self {
            result_type: version.is_stateless().then_some("complete"),
            content: task.artifacts.iter().flat_map(|artifact| content::of_artifact(artifact, version)).collect(),
            structured_content: structured,
            is_error: false,
            meta,
        }
    }

    /// A call that was refused in a way that a model can mend.
    pub fn refused(text: &'a str, version: Version, server: &Value) -> Self {
        Self {
            result_type: version.is_stateless().then_some("complete"),
            content: vec![Content::text(text)],
            structured_content: None,
            is_error: true,
            meta: meta(version, server, None),
        }
    }
}

fn meta(version: Version, server: &Value, task: Option<&Task>) -> Option<Map<String, Value>> {
    let mut meta = Map::new();
    if version.is_stateless() {
        meta.insert(SERVER_INFO.to_owned(), server.clone());
    }
    if let Some(task) = task {
        meta.insert(TASK_ID.to_owned(), Value::from(task.id.to_string()));
        if !task.warnings().is_empty() {
            meta.insert(WARNINGS.to_owned(), Value::from(task.warnings().to_vec()));
        }
    }
    (!meta.is_empty()).then_some(meta)
}

/// A text says the same as itself: it is structured only where a schema says so.
fn carries(value: &RawValue, version: Version, promised: bool) -> bool {
    match value.get().as_bytes().first() {
        Some(b'{') => version.has_structured(),
        Some(b'"') => version.has_any_structured() && promised,
        _ => version.has_any_structured(),
    }
}

/// Why there is no result, for the model that called.
fn why(task: &Task) -> Cow<'_, str> {
    match (&task.failure, &task.ask) {
        (Some(failure), _) => Cow::Borrowed(&failure.message),
        (None, Some(ask)) => Cow::Owned(format!(
            "{} (the task {} waits for an answer, and this client cannot be asked; answer over A2A)",
            ask.prompt, task.id
        )),
        (None, None) => Cow::Owned(format!("the call was {}", task.state.as_str())),
    }
}

/// A result of another method, completed with what its version demands.
pub fn complete(mut result: Map<String, Value>, version: Version, server: &Value) -> Value {
    if version.is_stateless() {
        result.entry("resultType").or_insert_with(|| Value::from("complete"));
        let meta = result.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
        if let Some(meta) = meta.as_object_mut() {
            meta.entry(SERVER_INFO).or_insert_with(|| server.clone());
        }
    }
    Value::Object(result)
}

/// The same for what a client may keep for a while: only for this caller, since lists differ from caller to caller.
pub fn cacheable(mut result: Map<String, Value>, ttl_ms: u64, version: Version, server: &Value) -> Value {
    if version.is_stateless() {
        result.insert("ttlMs".to_owned(), Value::from(ttl_ms));
        result.insert("cacheScope".to_owned(), Value::from("private"));
    }
    complete(result, version, server)
}
