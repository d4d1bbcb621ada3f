//! Tasks as the protocol's extension of that name shows them: flat, in five states, with their result inside.
//!
//! A tool that reports a failure has completed, with a result that says so; failed is what the platform could not carry
//! through.

use pleat_domain::{ClientRequest, Reason, Task, TaskState, timestamp};
use serde_json::{Map, Value, json};

use crate::client;
use crate::error::INTERNAL_ERROR;
use crate::result::CallResult;
use crate::version::Version;

/// How often a client should ask at most.
const POLL_MS: u64 = 1_000;

/// What every view of a task begins with.
fn head(task: &Task, ttl_ms: u64) -> Map<String, Value> {
    let view = json!({
        "taskId": task.id,
        "status": status(task),
        "createdAt": timestamp::format(task.created_at),
        "lastUpdatedAt": timestamp::format(task.updated_at),
        "ttlMs": ttl_ms,
        "pollIntervalMs": POLL_MS,
    });
    match view {
        Value::Object(view) => view,
        _ => Map::new(),
    }
}

/// The answer to a call that goes on.
pub fn created(task: &Task, ttl_ms: u64) -> Map<String, Value> {
    let mut view = head(task, ttl_ms);
    view.insert("resultType".to_owned(), Value::from("task"));
    view
}

/// All that there is to see. `pending` are the requests that the client has not answered yet.
pub fn detailed(
    task: &Task,
    ttl_ms: u64,
    pending: &[ClientRequest],
    promised: bool,
    server: &Value,
) -> Map<String, Value> {
    let mut view = head(task, ttl_ms);
    match status(task) {
        "completed" => {
            let result = CallResult::of(task, Version::V2026_07_28, promised, server);
            let mut result = serde_json::to_value(result).unwrap_or_default();
            if let Some(result) = result.as_object_mut() {
                result.remove("resultType");
            }
            view.insert("result".to_owned(), result);
        }
        "failed" => {
            let message = task.failure.as_ref().map_or("the task failed", |failure| failure.message.as_str());
            let reason = task.failure.as_ref().map(|failure| failure.reason);
            let error = json!({ "code": INTERNAL_ERROR, "message": message, "data": { "reason": reason } });
            view.insert("error".to_owned(), error);
        }
        "input_required" => {
            let requests = Value::Object(client::input_requests(pending));
            view.insert("inputRequests".to_owned(), requests);
        }
        _ => {}
    }
    view
}

fn status(task: &Task) -> &'static str {
    match task.state {
        TaskState::Submitted | TaskState::Working => "working",
        TaskState::InputRequired | TaskState::AuthRequired => "input_required",
        TaskState::Completed | TaskState::Rejected => "completed",
        TaskState::Canceled => "cancelled",
        TaskState::Failed => match task.failure.as_ref().map(|failure| failure.reason) {
            Some(Reason::FunctionError | Reason::BadOutput | Reason::Blocked) => "completed",
            _ => "failed",
        },
    }
}
