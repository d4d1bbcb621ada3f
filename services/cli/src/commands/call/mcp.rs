//! The MCP door, with requests that stand for themselves: `tools/call` of 2026-07-28.

use anyhow::Result;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Method, Response};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Call, PATIENCE};
use crate::client;
use crate::problem::{Problem, Refusal};
use crate::progress::{Printer, StateUpdate, Update};
use crate::sse::EventStream;

const VERSION: &str = "2026-07-28";

/// `stream`: progress is shown while the function runs.
pub async fn call(call: &Call<'_>, stream: bool) -> Result<()> {
    let response = send(call, stream).await?;
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("text/event-stream") {
        let body = call.body(response).await?;
        return finish(call, parse(call, &body)?).await;
    }
    let mut events = EventStream::new(call.client, response).shown(call.wire);
    let mut printer = Printer::new(call.output);
    while let Some(event) = events.next().await?.filter(|event| !event.data.is_empty()) {
        let message = parse(call, &event.data)?;
        if message.get("method").is_none() {
            printer.end_line()?;
            return finish(call, message).await;
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

async fn send(call: &Call<'_>, stream: bool) -> Result<Response> {
    let input: Box<RawValue> = serde_json::from_str(&call.input)?;
    // Arguments are an object; an input that is something else is one of them, as the tool's schema says.
    let arguments = if call.input.trim_start().starts_with('{') {
        input.get().to_owned()
    } else {
        format!(r#"{{"input":{input}}}"#)
    };
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "pleat", "version": env!("CARGO_PKG_VERSION") },
    });
    if let (true, Some(meta)) = (stream, meta.as_object_mut()) {
        meta.insert("progressToken".to_owned(), Value::from("1"));
    }
    let name = Value::String(call.skill.to_owned());
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{{"name":{name},"arguments":{arguments},"_meta":{meta}}}}}"#,
    );
    let url = call.client.door(&["mcp"]).await?;
    let request = call.client.request(Method::POST, url).header(CONTENT_TYPE, "application/json");
    let request = request
        .header(ACCEPT, "application/json, text/event-stream")
        .header("mcp-protocol-version", VERSION)
        .header("mcp-method", "tools/call")
        .header("mcp-name", call.skill)
        .timeout(PATIENCE)
        .body(body);
    let response = call.client.send_shown(request, call.wire).await?;
    if response.status().is_success() {
        return Ok(response);
    }
    Err(Problem::Refused(Box::new(client::refusal_shown(response, call.wire).await)).into())
}

fn parse(call: &Call<'_>, body: &str) -> Result<Value> {
    Ok(serde_json::from_str(body).map_err(|source| Problem::Odd { url: call.client.url(), source })?)
}

fn progress(message: &Value) -> Option<Update> {
    let params =
        message.get("params").filter(|_| message.get("method").is_some_and(|m| m == "notifications/progress"))?;
    let number = |name: &str| params.get(name).and_then(Value::as_f64);
    let note = params.get("message").and_then(Value::as_str).map(str::to_owned);
    Some(Update::Progress { done: number("progress").unwrap_or_default(), total: number("total"), note })
}

async fn finish(call: &Call<'_>, mut answer: Value) -> Result<()> {
    if let Some(error) = answer.get("error") {
        let message = error.get("message").and_then(Value::as_str).unwrap_or("the call was refused").to_owned();
        let code = error.get("code").map(ToString::to_string).unwrap_or_default();
        return Err(Problem::Refused(Box::new(Refusal { status: 200, code, message, ..Refusal::default() })).into());
    }
    let result = answer.get_mut("result").map(Value::take).unwrap_or_default();
    if call.output.json() {
        call.output.document(&result)?;
    }
    let blocks = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block.get("text")?.as_str()).collect();
    let text = texts.join("\n");
    if result.get("isError").is_some_and(|failed| failed == true) {
        let task = result.pointer("/_meta/pleat~1taskId").and_then(Value::as_str).map(str::to_owned);
        let end = StateUpdate { state: "failed".to_owned(), message: text, ..StateUpdate::default() };
        return Err(call.ended(end.into_end(call.skill, task)).await);
    }
    match result.get("structuredContent") {
        _ if call.output.json() => Ok(()),
        // As text it is what the function wrote, number for number.
        Some(_) if text.starts_with(['{', '[']) => call.print(&text),
        _ => call.print_text(&text),
    }
}
