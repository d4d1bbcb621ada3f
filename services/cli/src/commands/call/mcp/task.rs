//! A call that is a task: asked for until it rests.

use std::time::Duration;

use anyhow::Result;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::super::{Call, PATIENCE};
use super::{Answer, Request, ask, needs, parse, result};
use crate::problem::Problem;
use crate::progress::StateUpdate;

const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// Between two looks, where the server names no time.
const PAUSE: u64 = 1_000;
/// Under which a plain question is asked: the only kind that is answered over A2A.
const QUESTION: &str = "input";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    task_id: String,
    status: String,
    poll_interval_ms: Option<u64>,
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Value,
    #[serde(default)]
    input_requests: Map<String, Value>,
}

pub fn capability() -> Value {
    json!({ "extensions": { EXTENSION: {} } })
}

pub fn is_needed(capabilities: &Value) -> bool {
    capabilities.get("extensions").is_some_and(|extensions| extensions.get(EXTENSION).is_some())
}

/// The task that a result stands for, if it does.
pub fn created(result: &RawValue) -> Option<Task> {
    let kind: Value = serde_json::from_str(result.get()).ok()?;
    kind.get("resultType").filter(|kind| *kind == "task")?;
    serde_json::from_str(result.get()).ok()
}

pub async fn follow(call: &Call<'_>, created: Task) -> Result<()> {
    let id = created.task_id.clone();
    match tokio::time::timeout(PATIENCE, rest(call, created)).await {
        Ok(task) => finish(call, task?).await,
        Err(_) => {
            let hint = format!("it goes on without you; `pleat tasks watch {id}` follows it");
            Err(Problem::failed(format!("the task {id} did not end in time"), hint).into())
        }
    }
}

async fn rest(call: &Call<'_>, mut task: Task) -> Result<Task> {
    loop {
        if task.status == "working" {
            tokio::time::sleep(Duration::from_millis(task.poll_interval_ms.unwrap_or(PAUSE))).await;
        }
        task = match ask(call, &about("tasks/get", &task.task_id)).await? {
            Answer::Result(seen) => parse(call, seen.get())?,
            Answer::Needs(needed) => return Err(given_up(call, &task.task_id, &needed).await),
        };
        if task.status != "working" {
            return Ok(task);
        }
    }
}

/// A question is shown to who says that it can be asked: a person reads it here, and answers with `--task`.
fn about<'a>(method: &'a str, task: &'a str) -> Request<'a> {
    let params = format!(r#""taskId":{}"#, Value::from(task));
    let capabilities = json!({ "elicitation": {}, "extensions": { EXTENSION: {} } });
    Request { method, name: task, params, capabilities, progress: false }
}

async fn finish(call: &Call<'_>, task: Task) -> Result<()> {
    let end = match (task.status.as_str(), &task.result) {
        ("completed", Some(result)) => return result::finish(call, result).await,
        ("input_required", _) => return Err(waits(call, &task).await),
        ("cancelled", _) => StateUpdate { state: "canceled".to_owned(), ..StateUpdate::default() },
        _ => {
            let text = |pointer: &str| task.error.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
            let (reason, message) = (text("/data/reason"), text("/message").unwrap_or_default());
            StateUpdate { state: "failed".to_owned(), reason, message, stack: None }
        }
    };
    Err(call.ended(end.into_end(call.skill, Some(task.task_id))).await)
}

async fn waits(call: &Call<'_>, task: &Task) -> anyhow::Error {
    if let Some(question) = task.input_requests.get(QUESTION).filter(|_| task.input_requests.len() == 1) {
        let prompt = question.pointer("/params/message").and_then(Value::as_str).unwrap_or_default();
        return call.waits("input-required", prompt, Some(&task.task_id));
    }
    // `elicitation/create` needs `elicitation`, and so on.
    let capability = |request: &Value| {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        (method.split('/').next().unwrap_or(method).to_owned(), json!({}))
    };
    let needed = Value::Object(task.input_requests.values().map(capability).collect());
    given_up(call, &task.task_id, &needed).await
}

/// What only a client of MCP could give is waited for in vain: the task ends, as a call that is no task does.
async fn given_up(call: &Call<'_>, task: &str, needed: &Value) -> anyhow::Error {
    match ask(call, &about("tasks/cancel", task)).await {
        Ok(_) => needs::unable(call, needed),
        Err(error) => error,
    }
}
