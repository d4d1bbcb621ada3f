//! What functions offer, in sessions: it may ask its caller's client first, and it is cancelled as a call is.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::Messages;
use super::{Client, Modern};
use crate::harness::TestServer;

const CURIOUS: &str = r#"
    export const description = "Has to know more";
    export const prompts = [{ name: "letter" }, { name: "wrong", arguments: [{ name: "requests" }] }];
    export const resources = [{ uri: "test://curious", name: "Curious" }, { uri: "test://slow", name: "Slow" }];
    const asked = {
      who: { method: "elicitation/create", params: { message: "for whom?" } },
      tone: { method: "sampling/createMessage", params: { messages: [], maxTokens: 3 } },
    };
    const roots = { where: { method: "roots/list" } };
    function turn(ctx) {
      if (ctx.turn === 1) return { inputRequests: asked, state: { first: 1 } };
      if (ctx.turn === 2) return { inputRequests: roots, state: { before: ctx.reply, state: ctx.state } };
      return null;
    }
    const heard = (ctx) => JSON.stringify({ reply: ctx.reply, state: ctx.state });
    export default () => null;
    export const getPrompt = (name, values, ctx) => name === "wrong" ? { inputRequests: JSON.parse(values.requests) } :
      turn(ctx) ?? { messages: [{ role: "user", content: { type: "text", text: heard(ctx) } }] };
    export async function readResource(uri, ctx) {
      if (uri === "test://slow") await new Promise((go) => setTimeout(go, 20000));
      return turn(ctx) ?? { contents: [{ uri, text: heard(ctx) }] };
    }"#;

async fn two_nodes() -> (TestServer, TestServer) {
    let database = crate::harness::database().await;
    let store = || pleat_store::StoreConfig::new(database.clone());
    let server = TestServer::start_on(store(), |_| {}, |_| {}).await;
    let other = TestServer::start_on(store(), |_| {}, |_| {}).await;
    server.deploy("curious.js", CURIOUS, "&visibility=public").await;
    (server, other)
}

fn everything() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": {} })
}

async fn soon(stream: &mut Messages) -> Value {
    tokio::time::timeout(Duration::from_secs(10), stream.next()).await.expect("in time").expect("a message")
}

fn answer(asked: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result })
}

fn cancelled(request: u32) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": request } })
}

/// No guest runs any more, at any of these.
async fn idle(server: &TestServer) {
    let stopped = async {
        while server.engine.slots().held > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), stopped).await.expect("the guest is stopped");
}

const WISHES: [(&str, &str, &str); 2] = [
    ("prompts/get", r#"{"name":"letter"}"#, "messages"),
    ("resources/read", r#"{"uri":"test://curious"}"#, "contents"),
];

#[tokio::test]
async fn a_prompt_and_a_resource_ask_on_the_stream_of_their_answer_turn_by_turn() {
    let (server, other) = two_nodes().await;
    let client = Client::open(&server, everything()).await;
    let there = Client { url: format!("{}/mcp", other.tenant_url()), ..client.clone() };
    let accept = json!({ "action": "accept", "content": { "name": "Ada" } });
    for (method, params, field) in WISHES {
        let mut stream = client.stream(method, serde_json::from_str(params).unwrap()).await;
        let (who, tone) = (soon(&mut stream).await, soon(&mut stream).await);
        assert_eq!((&who["method"], &who["params"]["message"]), (&json!("elicitation/create"), &json!("for whom?")));
        assert_eq!((&tone["method"], &tone["params"]["maxTokens"]), (&json!("sampling/createMessage"), &json!(3)));
        // One answer here, the other at another node; the first one to a question counts.
        assert_eq!(client.send(answer(&who, accept.clone())).await, 202);
        assert_eq!(client.send(answer(&who, json!({ "action": "decline" }))).await, 202);
        assert_eq!(there.send(answer(&tone, json!({ "role": "assistant" }))).await, 202);
        let place = soon(&mut stream).await;
        assert_eq!(place["method"], "roots/list", "{place}");
        let refused = json!({ "jsonrpc": "2.0", "id": place["id"], "error": { "code": -1, "message": "no" } });
        assert_eq!(there.send(refused).await, 202);
        let result = soon(&mut stream).await;
        assert_eq!(result["id"], 7, "{result}");
        let first = &result["result"][field][0];
        let text = first["text"].as_str().or(first["content"]["text"].as_str()).unwrap();
        let heard: Value = serde_json::from_str(text).unwrap();
        assert_eq!(heard["reply"], json!({ "where": { "error": { "code": -1, "message": "no" } } }));
        let before = json!({ "who": accept, "tone": { "role": "assistant" } });
        assert_eq!(heard["state"], json!({ "before": before, "state": { "first": 1 } }));
        assert_eq!(stream.next().await, None, "that was all");
    }
}

#[tokio::test]
async fn a_question_is_answered_by_who_was_asked_alone() {
    let (server, _) = two_nodes().await;
    let url = format!("{}/mcp", server.tenant_url());
    let client = Client::open_at(&server, &url, &server.invoke, "2025-06-18", everything()).await;
    let stranger = Client::open(&server, everything()).await;
    let mut stream = client.stream("prompts/get", json!({ "name": "letter" })).await;
    let (who, tone) = (soon(&mut stream).await, soon(&mut stream).await);
    for asked in [&who, &tone] {
        assert_eq!(stranger.send(answer(asked, json!({ "forged": true }))).await, 202, "it is passed over");
    }
    let mut changed = who.clone();
    changed["id"] = json!(format!("{}x", who["id"].as_str().unwrap()));
    assert_eq!(client.send(answer(&changed, json!({ "forged": true }))).await, 202);
    assert!(tokio::time::timeout(Duration::from_millis(500), stream.next()).await.is_err(), "nothing was answered");
    for asked in [&who, &tone] {
        assert_eq!(client.send(answer(asked, json!({ "mine": true }))).await, 202);
    }
    assert_eq!(soon(&mut stream).await["method"], "roots/list");
}

#[tokio::test]
async fn a_session_whose_client_cannot_be_asked_is_told_so() {
    let (server, _) = two_nodes().await;
    for (method, params, _) in WISHES {
        let params: Value = serde_json::from_str(params).unwrap();
        let unable = Client::open(&server, json!({})).await;
        let told = unable.ask(method, params.clone()).await;
        assert_eq!(told["error"]["code"], -32021, "{told}");
        assert_eq!(told["error"]["data"]["requiredCapabilities"], json!({ "elicitation": {}, "sampling": {} }));
        // Of several it is asked for what it can serve.
        let narrow = Client::open(&server, json!({ "elicitation": {} })).await;
        let mut stream = narrow.stream(method, params.clone()).await;
        let asked = soon(&mut stream).await;
        assert_eq!(asked["method"], "elicitation/create");
        assert_eq!(narrow.send(answer(&asked, json!({}))).await, 202);
        assert_eq!(soon(&mut stream).await["error"]["code"], -32021, "the next question is none for it");
        let able = Client::open(&server, everything()).await;
        let request = able.http.post(&able.url).header("accept", "application/json");
        let request = request.header("mcp-session-id", &able.session).json(&able.body(1, method, params));
        let told: Value = request.send().await.unwrap().json().await.unwrap();
        assert_eq!(told["error"]["code"], -32600, "{told}");
        assert!(told["error"]["message"].as_str().unwrap().contains("text/event-stream"), "{told}");
    }
    idle(&server).await;
}

/// Nobody is asked for something that no client understands, or that nobody could answer.
#[tokio::test]
async fn questions_that_make_no_sense_are_the_functions_fault() {
    let (server, _) = two_nodes().await;
    let session = Client::open(&server, everything()).await;
    let modern = Modern::new(&server, everything());
    let ask = json!({ "method": "elicitation/create", "params": {} });
    let many: serde_json::Map<String, Value> = (0..17).map(|number| (number.to_string(), ask.clone())).collect();
    for requests in [
        json!({}),
        json!([]),
        json!({ "a": {} }),
        json!({ "a": { "method": "tools/call" } }),
        json!({ "a": { "method": "roots/list", "params": [] } }),
        json!({ "": ask }),
        json!({ "a".repeat(65): ask }),
        json!(many),
    ] {
        let params = json!({ "name": "wrong", "arguments": { "requests": requests.to_string() } });
        for told in [session.ask("prompts/get", params.clone()).await, modern.ask("prompts/get", params).await.1] {
            assert_eq!(told["error"]["code"], -32603, "{requests}: {told}");
        }
    }
}

#[tokio::test]
async fn a_session_cancels_what_is_read_at_any_node_and_the_guest_stops() {
    let (server, other) = two_nodes().await;
    let client = Client::open(&server, json!({})).await;
    let there = Client { url: format!("{}/mcp", other.tenant_url()), ..client.clone() };
    let stranger = Client::open_as(&server, &server.invoke).await;
    for at in [&client, &there] {
        let request = client.post(client.body(5, "resources/read", json!({ "uri": "test://slow" })));
        let running = tokio::spawn(async move { Messages::of(request.send().await.unwrap()).last().await });
        while server.engine.slots().held == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(stranger.send(cancelled(5)).await, 202, "another session's request is none of its own");
        assert_eq!(at.send(cancelled(6)).await, 202);
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        assert_eq!(server.engine.slots().held, 1, "it goes on");
        assert_eq!(at.send(cancelled(5)).await, 202);
        let answer = tokio::time::timeout(Duration::from_secs(10), running).await.expect("it ends").unwrap();
        assert_eq!(answer["error"]["message"], "the request was cancelled", "{answer}");
        idle(&server).await;
    }
}

#[tokio::test]
async fn a_session_cancels_what_waits_for_its_user() {
    let (server, other) = two_nodes().await;
    let client = Client::open(&server, everything()).await;
    let there = Client { url: format!("{}/mcp", other.tenant_url()), ..client.clone() };
    let mut stream = client.stream("prompts/get", json!({ "name": "letter" })).await;
    soon(&mut stream).await;
    assert_eq!(there.send(cancelled(7)).await, 202);
    soon(&mut stream).await;
    assert_eq!(soon(&mut stream).await["error"]["message"], "the request was cancelled");
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn who_leaves_waits_for_nothing_and_the_guest_stops() {
    let (server, _) = two_nodes().await;
    let client = Client::open(&server, json!({})).await;
    let modern = Modern::new(&server, json!({}));
    let slow = json!({ "uri": "test://slow" });
    for request in [client.post(client.body(5, "resources/read", slow.clone())), modern.post("resources/read", slow)] {
        let leaving = tokio::spawn(async move { request.send().await });
        while server.engine.slots().held == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        leaving.abort();
        idle(&server).await;
    }
}
