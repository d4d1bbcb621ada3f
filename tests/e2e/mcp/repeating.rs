//! A call that is repeated with what was asked for is served like the first one: heard, streamed, left.

use std::time::Duration;

use serde_json::{Value, json};

use super::Modern;
use super::client::Messages;
use crate::harness::TestServer;

const ASKER: &str = r#"
    export const description = "Asks, then works";
    export const annotations = { callerLogs: true };
    export default async function (input, ctx) {
      if (ctx.turn === 1) return ctx.needClient("several", {
        name: { kind: "elicit", params: { message: "name?" } },
        greeting: { kind: "sample", params: { messages: [], maxTokens: 1 } } });
      ctx.progress(1, 2, "begun");
      ctx.log.info("at work");
      await new Promise((go) => setTimeout(go, input.ms));
      return ctx.reply;
    }"#;

fn everything() -> Value {
    json!({ "elicitation": {}, "sampling": {} })
}

async fn asked(client: &Modern, ms: u32) -> Value {
    let call = json!({ "name": "asker", "arguments": { "ms": ms } });
    let asked = client.result("tools/call", call.clone()).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let mut again = call;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] =
        json!({ "name": { "action": "accept" }, "greeting": { "role": "assistant", "content": {} } });
    again
}

async fn started() -> (TestServer, Modern) {
    let server = TestServer::start().await;
    server.deploy("asker.js", ASKER, "&visibility=public").await;
    let client = Modern::new(&server, everything());
    (server, client)
}

#[tokio::test]
async fn a_repeated_call_is_heard_and_streamed() {
    let (_server, mut client) = started().await;
    let again = asked(&client, 50).await;
    client.meta = json!({ "progressToken": "p", "io.modelcontextprotocol/logLevel": "info" });
    let messages = client.stream("tools/call", again).await.all().await;
    let said: Vec<&str> = messages.iter().map(|one| one["method"].as_str().unwrap_or("result")).collect();
    assert_eq!(said, ["notifications/progress", "notifications/message", "result"], "{messages:?}");
    client.meta = json!({});
    let again = asked(&client, 1_500).await;
    let slow = client.stream("tools/call", again).await;
    assert!(slow.streamed, "what takes long comes over a stream");
    assert_eq!(slow.last().await["result"]["resultType"], "complete");
}

#[tokio::test]
async fn leaving_a_repeated_call_cancels_it() {
    let (server, client) = started().await;
    let again = asked(&client, 20_000).await;
    let request = client.post("tools/call", again);
    let leaving = tokio::spawn(async move { Messages::of(request.send().await.unwrap()).last().await });
    let task = server.task_in("working").await;
    leaving.abort();
    let id = task["id"].as_str().unwrap().to_owned();
    let ended = async { while server.task(&id).await["state"] == "working" {} };
    tokio::time::timeout(Duration::from_secs(10), ended).await.expect("it is cancelled");
    assert_eq!(server.task(&id).await["state"], "canceled");
}

/// It was asked for less before, so that not all is there.
#[tokio::test]
async fn who_can_serve_more_than_before_is_asked_for_the_rest() {
    let (server, client) = started().await;
    let narrow = Modern::new(&server, json!({ "sampling": {} }));
    let mut again = asked(&narrow, 0).await;
    again["inputResponses"] = json!({ "greeting": { "role": "assistant", "content": {} } });
    let asked = tokio::time::timeout(Duration::from_secs(10), client.result("tools/call", again.clone()));
    let asked = asked.await.expect("it is answered");
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({ "name": { "action": "accept" } });
    let done = client.result("tools/call", again).await;
    assert_eq!(done["structuredContent"]["greeting"], json!({ "role": "assistant", "content": {} }), "{done}");
}
