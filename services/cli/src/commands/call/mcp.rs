//! The MCP door, with requests that stand for themselves: `tools/call` of 2026-07-28.

mod needs;
mod result;
mod task;

use anyhow::Result;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Method, Response};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Call, PATIENCE};
use crate::client::Unread;
use crate::problem::{Problem, Refusal};
use crate::progress::{Printer, Update};
use crate::sse::EventStream;

const VERSION: &str = "2026-07-28";

/// One request of this door.
struct Request<'a> {
    method: &'a str,
    /// What it is about: a tool or a task.
    name: &'a str,
    /// The members of `params`, but for `_meta`.
    params: String,
    capabilities: Value,
    /// Progress is told while the function runs.
    progress: bool,
}

enum Answer {
    Result(Box<RawValue>),
    /// What the client would have to declare first.
    Needs(Value),
}

/// `stream`: progress is shown while the function runs.
pub async fn call(call: &Call<'_>, stream: bool) -> Result<()> {
    let (name, arguments) = (Value::from(call.skill), arguments(call)?);
    let params = format!(r#""name":{name},"arguments":{arguments}"#);
    let mut request =
        Request { method: "tools/call", name: call.skill, params, capabilities: json!({}), progress: stream };
    let mut answer = ask(call, &request).await?;
    // Only for the functions that want it: as a task, another one would show no progress.
    if matches!(&answer, Answer::Needs(needed) if task::is_needed(needed)) {
        request.capabilities = task::capability();
        answer = ask(call, &request).await?;
    }
    match answer {
        Answer::Needs(needed) => Err(needs::unable(call, &needed)),
        Answer::Result(result) => match task::created(&result) {
            Some(created) => task::follow(call, created).await,
            None => result::finish(call, &result).await,
        },
    }
}

/// Arguments are an object; an input that is something else is one of them, as the tool's schema says.
fn arguments(call: &Call<'_>) -> Result<String> {
    let input: Box<RawValue> = serde_json::from_str(&call.input)?;
    let is_object = input.get().starts_with('{');
    Ok(if is_object { input.get().to_owned() } else { format!(r#"{{"input":{input}}}"#) })
}

async fn ask(call: &Call<'_>, request: &Request<'_>) -> Result<Answer> {
    let response = send(call, request).await?;
    if !response.status().is_success() {
        let unread = Unread::of(response, call.wire).await;
        let said: Value = serde_json::from_str(&unread.body).unwrap_or_default();
        let needed = said.get("error").and_then(needs::read);
        return needed.map(Answer::Needs).ok_or_else(|| Problem::Refused(Box::new(unread.refusal())).into());
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("text/event-stream") {
        return read(call, &call.body(response).await?);
    }
    let mut events = EventStream::new(call.client, response).shown(call.wire);
    let mut printer = Printer::new(call.output);
    while let Some(event) = events.next().await?.filter(|event| !event.data.is_empty()) {
        let message: Value = parse(call, &event.data)?;
        if message.get("method").is_none() {
            printer.end_line()?;
            return read(call, &event.data);
        }
        match progress(&message) {
            _ if call.output.json() => call.output.row(&message)?,
            Some(update) => printer.show(&update)?,
            None => {}
        }
    }
    printer.end_line()?;
    Err(call.cut(None))
}

async fn send(call: &Call<'_>, request: &Request<'_>) -> Result<Response> {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": request.capabilities,
        "io.modelcontextprotocol/clientInfo": { "name": "pleat", "version": env!("CARGO_PKG_VERSION") },
    });
    if let (true, Some(meta)) = (request.progress, meta.as_object_mut()) {
        meta.insert("progressToken".to_owned(), Value::from("1"));
    }
    let (method, params) = (request.method, &request.params);
    let body = format!(r#"{{"jsonrpc":"2.0","id":"1","method":"{method}","params":{{{params},"_meta":{meta}}}}}"#);
    let url = call.client.door(&["mcp"]).await?;
    let request = call
        .client
        .request(Method::POST, url)
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .header("mcp-protocol-version", VERSION)
        .header("mcp-method", method)
        .header("mcp-name", request.name)
        .timeout(PATIENCE)
        .body(body);
    call.client.send_shown(request, call.wire).await
}

fn read(call: &Call<'_>, body: &str) -> Result<Answer> {
    #[derive(Deserialize)]
    struct Envelope {
        result: Option<Box<RawValue>>,
        error: Option<Value>,
    }
    let envelope: Envelope = parse(call, body)?;
    let Some(error) = envelope.error else {
        return Ok(Answer::Result(envelope.result.unwrap_or_else(|| RawValue::NULL.to_owned())));
    };
    if let Some(needed) = needs::read(&error) {
        return Ok(Answer::Needs(needed));
    }
    let message = error.get("message").and_then(Value::as_str).unwrap_or("the call was refused").to_owned();
    let code = error.get("code").map(ToString::to_string).unwrap_or_default();
    Err(Problem::Refused(Box::new(Refusal { status: 200, code, message, ..Refusal::default() })).into())
}

fn parse<'a, T: Deserialize<'a>>(call: &Call<'_>, text: &'a str) -> Result<T> {
    Ok(serde_json::from_str(text).map_err(|source| Problem::Odd { url: call.client.url(), source })?)
}

fn progress(message: &Value) -> Option<Update> {
    let params =
        message.get("params").filter(|_| message.get("method").is_some_and(|m| m == "notifications/progress"))?;
    let number = |name: &str| params.get(name).and_then(Value::as_f64);
    let note = params.get("message").and_then(Value::as_str).map(str::to_owned);
    Some(Update::Progress { done: number("progress").unwrap_or_default(), total: number("total"), note })
}
