//! The A2A door, in the documented `{skill, message}` form: `tasks/send` and `tasks/sendSubscribe`.

use anyhow::Result;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Method, Response};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Call, PATIENCE};
use crate::client;
use crate::problem::{Problem, Refusal};
use crate::progress::{Printer, StateUpdate, Update};
use crate::sse::EventStream;

pub async fn call(call: &Call<'_>) -> Result<()> {
    let response = send(call, "tasks/send", "application/json").await?;
    let body = call.body(response).await?;
    let task = result(call, &body)?;
    if call.output.json() {
        call.output.document(&task)?;
    }
    let state = state_of(&task);
    let id = task.get("id").and_then(Value::as_str).map(str::to_owned);
    if state.state == "completed" && !call.output.json() {
        // What was streamed comes before it; the result is the last.
        let result = task.get("artifacts").and_then(Value::as_array).and_then(|artifacts| artifacts.last());
        if let Some(artifact) = result {
            print_text(call, &parts_text(artifact))?;
        }
    }
    finish(call, state, id).await
}

pub async fn stream(call: &Call<'_>) -> Result<()> {
    let response = send(call, "tasks/sendSubscribe", "text/event-stream").await?;
    let mut events = EventStream::new(call.client, response).shown(call.wire);
    let mut printer = Printer::new(call.output);
    let mut id = None;
    while let Some(message) = events.next().await? {
        let event = result(call, &message.data)?;
        id = id.or_else(|| event.get("id").and_then(Value::as_str).map(str::to_owned));
        let update = update(&event);
        if call.output.json() {
            call.output.row(&event)?;
        } else if let Some(update) = &update {
            printer.show(update)?;
        }
        if let Some(Update::State(state)) = update
            && (state.is_final() || state.waits_for_caller())
        {
            printer.end_line()?;
            return finish(call, state, id).await;
        }
    }
    printer.end_line()?;
    Err(call.cut(id.as_deref()))
}

async fn finish(call: &Call<'_>, state: StateUpdate, id: Option<String>) -> Result<()> {
    match state.state.as_str() {
        "completed" => Ok(()),
        "submitted" | "working" => {
            let id = id.unwrap_or_default();
            call.output.note(&format!("the task is {}; `pleat tasks watch {id}` follows it", state.state));
            Ok(())
        }
        _ if state.waits_for_caller() => Err(call.waits(&state.state, &state.message, id.as_deref())),
        _ => Err(call.ended(state.into_end(call.skill, id)).await),
    }
}

async fn send(call: &Call<'_>, method: &str, accept: &str) -> Result<Response> {
    let message: Box<RawValue> = serde_json::from_str(&call.input)?;
    let id = call.task.map(|task| format!(r#""id":"{task}","#)).unwrap_or_default();
    // The input goes in as it was written: a tree in between could change its numbers.
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":"1","method":"{method}","params":{{{id}"skill":{},"message":{message}}}}}"#,
        Value::String(call.skill.to_owned()),
    );
    let url = call.client.door(&["_a2a", ""]).await?;
    let request = call.client.request(Method::POST, url).header(CONTENT_TYPE, "application/json");
    let mut request = request.header(ACCEPT, accept).body(body);
    if accept == "application/json" {
        request = request.timeout(PATIENCE);
    }
    let response = call.client.send_shown(request, call.wire).await?;
    if response.status().is_success() {
        return Ok(response);
    }
    Err(Problem::Refused(Box::new(client::refusal_shown(response, call.wire).await)).into())
}

/// The `result` of a JSON-RPC answer, or its `error` as a refusal.
fn result(call: &Call<'_>, body: &str) -> Result<Value> {
    let mut answer: Value =
        serde_json::from_str(body).map_err(|source| Problem::Odd { url: call.client.url(), source })?;
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        let message = error.get("message").and_then(Value::as_str).unwrap_or("the call was refused");
        let code = error.get("code").map(ToString::to_string).unwrap_or_default();
        let refusal = Refusal { status: 200, code, message: message.to_owned(), ..Refusal::default() };
        return Err(Problem::Refused(Box::new(refusal)).into());
    }
    Ok(answer.get_mut("result").map(Value::take).unwrap_or_default())
}

fn update(event: &Value) -> Option<Update> {
    if let Some(artifact) = event.get("artifact") {
        let name = artifact.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let append = artifact.get("append").or_else(|| event.get("append")).and_then(Value::as_bool);
        return Some(Update::Chunk { artifact: name, text: parts_text(artifact), append: append.unwrap_or(false) });
    }
    let progress = event.pointer("/metadata/progress").or_else(|| event.pointer("/status/metadata/progress"));
    if let Some(progress) = progress {
        let done = progress.get("done").and_then(Value::as_f64).unwrap_or_default();
        let note = progress.get("note").and_then(Value::as_str).map(str::to_owned);
        return Some(Update::Progress { done, total: progress.get("total").and_then(Value::as_f64), note });
    }
    event.get("status").map(|_| Update::State(state_of(event)))
}

fn state_of(task: &Value) -> StateUpdate {
    let text = |pointer: &str| task.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    StateUpdate {
        state: text("/status/state").unwrap_or_default(),
        reason: text("/metadata/failure/reason"),
        message: task.pointer("/status/message").map(parts_text).unwrap_or_default(),
        stack: None,
    }
}

/// The text of a message's or an artifact's parts.
fn parts_text(holder: &Value) -> String {
    let parts = holder.get("parts").and_then(Value::as_array).into_iter().flatten();
    let texts = parts.filter_map(|part| {
        let text = part.get("text").and_then(Value::as_str).map(str::to_owned);
        text.or_else(|| part.get("data").map(ToString::to_string))
            .or_else(|| part.get("file").map(|file| format!("[file: {}]", file_name(file))))
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn file_name(file: &Value) -> &str {
    ["name", "uri", "mimeType"].iter().find_map(|field| file.get(field)?.as_str()).unwrap_or("unnamed")
}

/// The documented form carries every value as text: what is JSON is shown like the JSON of the other door.
fn print_text(call: &Call<'_>, text: &str) -> Result<()> {
    if text.starts_with(['{', '[']) { call.print(text) } else { call.print_text(text) }
}
