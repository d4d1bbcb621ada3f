//! Whether the doors that a card announces are there: each is asked for a task that does not exist.

use reqwest::{Method, RequestBuilder, Url};
use serde_json::{Map, Value, json};

use super::verify::{Finding, exchange};
use crate::client::Client;

/// Nobody's.
const TASK: &str = "task_00000000000000000000000000000000";

pub async fn check(client: &Client, card: &Map<String, Value>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let interfaces = card.get("supportedInterfaces").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for interface in interfaces {
        let text = |name: &str| interface.get(name).and_then(Value::as_str).unwrap_or_default();
        let (binding, version) = (text("protocolBinding"), text("protocolVersion"));
        let name = format!("{binding} {version}");
        let finding = match Url::parse(text("url")) {
            Ok(url) => ask(client, name, binding, version, url).await,
            Err(_) => Finding::fail(name, format!("`{}` is no URL", text("url"))),
        };
        findings.push(finding);
    }
    findings
}

async fn ask(client: &Client, name: String, binding: &str, version: &str, url: Url) -> Finding {
    let shown = url.to_string();
    let request = match binding {
        "JSONRPC" => by_rpc(client, version, url),
        "HTTP+JSON" => by_path(client, url),
        _ => return Finding::skipped(name, format!("{shown}: this binding cannot be checked from here")),
    };
    let answer = exchange(client, request.header("a2a-version", version)).await;
    match answer.and_then(|(status, body)| speaks(binding, status, &body)) {
        Ok(()) => Finding::ok(name, format!("{shown} answers")),
        Err(why) => Finding::fail(name, format!("{shown}: {why}")),
    }
}

fn by_rpc(client: &Client, version: &str, url: Url) -> RequestBuilder {
    let method = if version.starts_with("0.") { "tasks/get" } else { "GetTask" };
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "id": TASK } });
    client.request(Method::POST, url).json(&body)
}

fn by_path(client: &Client, mut url: Url) -> RequestBuilder {
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(["tasks", TASK]);
    }
    client.request(Method::GET, url).header("accept", "application/json")
}

/// An error in the words of A2A is an answer: the task does not exist, or a key is wanted.
fn speaks(binding: &str, status: u16, body: &[u8]) -> Result<(), String> {
    let answer: Value = serde_json::from_slice(body).map_err(|_| format!("it answered {status} without JSON"))?;
    let code = answer.pointer("/error/code").and_then(Value::as_i64);
    let known = match (binding, code) {
        (_, None) => false,
        ("JSONRPC", Some(code)) => {
            answer.get("jsonrpc").and_then(Value::as_str) == Some("2.0") && !matches!(code, -32601 | -32009)
        }
        (_, Some(_)) => answer.pointer("/error/status").is_some(),
    };
    if known { Ok(()) } else { Err(format!("it answered {status}, but not in the words of A2A")) }
}
