//! Who finds a pipeline at which door, in which state.

use reqwest::Method;
use serde_json::{Value, json};

use super::{PIPELINES, output, server};
use crate::harness::{TestServer, read};

const TWICE: &str = "name: twice\ndescription: Says it\nsteps: [{id: a, tool_name: echo}, {id: b, tool_name: echo}]";

/// Whether the card, MCP and plain HTTP have it.
async fn seen(server: &TestServer) -> [bool; 4] {
    let card = server.client.get(format!("{}/.well-known/agent.json", server.tenant_url())).send().await.unwrap();
    let card: Value = card.json().await.unwrap();
    let listed = card["skills"].as_array().unwrap().iter().any(|skill| skill["id"] == "pipeline:twice");
    let tools = mcp(server, "tools/list", json!({})).await;
    let tool = tools["result"]["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "pipeline_twice");
    let described = server.client.get(format!("{}/pipeline:twice", server.tenant_url())).send().await.unwrap();
    let (status, _) = server.http("", "pipeline:twice", json!(1)).await;
    [listed, tool, described.status() == 200, status == 200]
}

/// One request in a session of its own.
async fn mcp(server: &TestServer, method: &str, params: Value) -> Value {
    let post = |body: Value| {
        let request = server.client.post(format!("{}/mcp", server.tenant_url())).json(&body);
        request.header("accept", "application/json, text/event-stream").bearer_auth(&server.invoke)
    };
    let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let begun = post(begin).send().await.unwrap();
    let session = begun.headers().get("mcp-session-id").unwrap().clone();
    let request = post(json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": params }));
    let answer = request.header("mcp-session-id", session).header("mcp-protocol-version", "2025-11-25");
    read(answer.send().await.unwrap()).await.1
}

#[tokio::test]
async fn a_draft_runs_for_its_owner_only_an_active_one_everywhere_an_archived_one_nowhere() {
    let server = server().await;
    assert_eq!(server.define(TWICE, "?visibility=public").await.1["state"], "draft");
    assert_eq!(seen(&server).await, [false; 4]);
    assert_eq!(output(&server.run("twice", json!("draft")).await), "draft");
    let runs = format!("{PIPELINES}/twice/runs");
    let (status, _) = server.api(Method::POST, &runs, &server.invoke, Some(json!(1))).await;
    assert_eq!(status, 403, "who may not deploy does not run a draft");

    let (status, body) = server.api(Method::POST, &format!("{PIPELINES}/twice/activate"), &server.deploy, None).await;
    assert_eq!((status, &body["state"]), (200, &json!("active")), "{body}");
    assert_eq!(seen(&server).await, [true; 4]);
    let escaped = server.client.post(format!("{}/pipeline%3Atwice", server.tenant_url())).json(&json!("e"));
    assert_eq!(read(escaped.send().await.unwrap()).await, (200, json!("e")));
    let sent = json!({ "skill": "pipeline:twice", "message": { "a": 1 } });
    let answer = server.rpc("tasks/send", sent.clone()).await;
    assert_eq!(answer["result"]["artifacts"][0]["name"], "pipeline:twice-result", "{answer}");
    for name in ["pipeline_twice", "pipeline:twice"] {
        let called = mcp(&server, "tools/call", json!({ "name": name, "arguments": { "a": 1 } })).await;
        assert_eq!(called["result"]["structuredContent"], json!({ "a": 1 }), "{called}");
    }

    let (status, _) = server.api(Method::DELETE, &format!("{PIPELINES}/twice"), &server.deploy, None).await;
    assert_eq!(status, 204);
    assert_eq!(seen(&server).await, [false; 4]);
    let (status, _) = server.api(Method::POST, &runs, &server.admin, Some(json!(1))).await;
    assert_eq!(status, 404, "not for its owner either");
    let answer = server.rpc("tasks/send", sent).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn the_card_shows_a_pipeline_with_its_own_name_and_schemas() {
    let server = server().await;
    server.activate(&format!("{TWICE}\ninput_schema: {{type: object}}")).await;
    let card = server.client.get(format!("{}/.well-known/agent.json", server.tenant_url())).send().await.unwrap();
    let card: Value = card.json().await.unwrap();
    let skill = card["skills"].as_array().unwrap().iter().find(|skill| skill["id"] == "pipeline:twice").unwrap();
    assert_eq!((&skill["name"], &skill["description"]), (&json!("twice"), &json!("Says it")), "{skill}");
    assert!(skill["tags"].as_array().unwrap().contains(&json!("pipeline")), "{skill}");
}

#[tokio::test]
async fn a_function_calls_a_pipeline_that_it_was_granted() {
    let server = server().await;
    server.activate(TWICE).await;
    let caller = "export const description = 'Calls'; export const capabilities = { skills: ['pipeline:twice'] }; \
        export default async (input, ctx) => ({ said: await ctx.call('pipeline:twice', input) });";
    server.deploy("caller.js", caller, "&visibility=public&grant=all").await;
    assert_eq!(server.http("", "caller", json!({ "x": 1 })).await, (200, json!({ "said": { "x": 1 } })));
}

#[tokio::test]
async fn a_name_that_a_function_has_among_tools_is_refused() {
    let server = server().await;
    server.deploy("echo.wasm", crate::harness::fixture("echo.wasm"), "&name=pipeline_twice").await;
    let (status, body) = server.define(TWICE, "").await;
    assert_eq!((status, &body["error"]["code"]), (409, &json!("exists")), "{body}");
}

#[tokio::test]
async fn a_function_cannot_take_the_name_that_a_pipeline_has_among_tools() {
    let server = server().await;
    let (status, body) = server.define(TWICE, "").await;
    assert_eq!(status, 201, "{body}");
    let (status, body) =
        server.try_deploy("echo.wasm", crate::harness::fixture("echo.wasm"), "&name=pipeline_twice").await;
    assert_eq!((status, &body["error"]["code"]), (409, &json!("exists")), "{body}");
}
