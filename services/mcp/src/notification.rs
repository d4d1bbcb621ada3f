//! What is said to a client without being asked.

use pleat_domain::event::Progress;
use pleat_domain::json::Raw;
use pleat_domain::{LogLine, json};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::level::Level;
use crate::meta::SUBSCRIPTION;

pub const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
pub const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";
pub const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";
pub const RESOURCE_UPDATED: &str = "notifications/resources/updated";
pub const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
pub const TASKS: &str = "notifications/tasks";

#[derive(Serialize)]
struct Notification<'a, T> {
    jsonrpc: &'static str,
    method: &'a str,
    params: T,
}

pub fn text<T: Serialize>(method: &str, params: T) -> String {
    serde_json::to_string(&Notification { jsonrpc: "2.0", method, params }).unwrap_or_default()
}

/// A request of ours to the client.
pub fn request(id: &str, method: &str, params: &RawValue) -> String {
    #[derive(Serialize)]
    struct Request<'a> {
        jsonrpc: &'static str,
        id: &'a str,
        method: &'a str,
        params: &'a RawValue,
    }
    serde_json::to_string(&Request { jsonrpc: "2.0", id, method, params }).unwrap_or_default()
}

pub fn progress(token: &Raw, progress: &Progress) -> String {
    let mut params = Map::new();
    params.insert("progressToken".to_owned(), serde_json::from_str(token.get()).unwrap_or_default());
    params.insert("progress".to_owned(), number(progress.done));
    if let Some(total) = progress.total {
        params.insert("total".to_owned(), number(total));
    }
    if let Some(note) = &progress.note {
        params.insert("message".to_owned(), Value::from(note.as_str()));
    }
    text("notifications/progress", params)
}

/// Whole numbers are written as such.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9.0e15 { Value::from(value as i64) } else { Value::from(value) }
}

pub fn log(skill: &str, line: &LogLine) -> String {
    let level = Level::of(line.level).as_str();
    text("notifications/message", json!({ "level": level, "logger": skill, "data": line.message }))
}

/// On a stream that a client listens at, each notification names the request that opened it.
pub fn subscribed(method: &str, mut params: Map<String, Value>, listen: Option<&RawValue>) -> String {
    if let Some(id) = listen {
        let id: Value = serde_json::from_str(id.get()).unwrap_or_default();
        params.insert("_meta".to_owned(), json!({ SUBSCRIPTION: id }));
    }
    if params.is_empty() {
        #[derive(Serialize)]
        struct Bare<'a> {
            jsonrpc: &'static str,
            method: &'a str,
        }
        return serde_json::to_string(&Bare { jsonrpc: "2.0", method }).unwrap_or_default();
    }
    text(method, params)
}

/// For a payload that is carried on as it is.
pub fn raw(value: &Value) -> Raw {
    json::raw(value)
}
