//! Answers to a function's question that are refused, and answers by others than its caller.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::client::Messages;
use super::{Client, Modern};
use crate::harness::TestServer;

const NAMED: &str = r#"
    export const description = "Asks for a name";
    export default function (input, ctx) {
      if (ctx.turn === 1) return ctx.needClient("elicit", {
        message: "who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } });
      return ctx.reply;
    }"#;

fn accepted(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

async fn started() -> TestServer {
    let server = TestServer::start().await;
    server.deploy("named.js", NAMED, "&visibility=public").await;
    let policy = json!({ "checks": [{ "type": "secrets", "action": "block", "target": "input" }] });
    let (status, body) = server.api(Method::PUT, "/tenants/acme/guard", &server.deploy, Some(policy)).await;
    assert_eq!(status, 204, "{body}");
    server
}

const SECRET: &str = "AKIAIOSFODNN7EXAMPLE and ghp_16C7e42F292c6912E7710c838347Ae178B4a";

#[tokio::test]
async fn a_refused_answer_ends_the_call_of_a_session_with_the_reason() {
    let server = started().await;
    let client = Client::open(&server, json!({ "elicitation": {} })).await;
    let mut stream = client.stream("tools/call", json!({ "name": "named" })).await;
    let asked = stream.next().await.unwrap();
    let reply = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": accepted(SECRET) });
    let refused = Messages::of(client.post(reply).send().await.unwrap()).last().await;
    assert_eq!(refused["error"]["code"], -32050, "{refused}");
    let told = tokio::time::timeout(Duration::from_secs(10), stream.next()).await.expect("it is told").unwrap();
    assert_eq!((&told["id"], &told["error"]["code"]), (&json!(7), &json!(-32050)), "{told}");
    assert_eq!(stream.next().await, None);
    let task = server.task_in("failed").await;
    assert_eq!(task["failure"]["reason"], "blocked", "{task}");
}

#[tokio::test]
async fn a_refused_answer_of_a_repeated_call_can_be_given_again() {
    let server = started().await;
    let client = Modern::new(&server, json!({ "elicitation": {} }));
    let asked = client.result("tools/call", json!({ "name": "named" })).await;
    let with = |name: &str| {
        json!({ "name": "named", "requestState": asked["requestState"],
            "inputResponses": { "elicit": accepted(name) } })
    };
    let (_, refused) = client.ask("tools/call", with(SECRET)).await;
    assert_eq!(refused["error"]["code"], -32050, "{refused}");
    let done = client.result("tools/call", with("Ada")).await;
    assert_eq!(done["structuredContent"]["content"]["name"], "Ada", "{done}");
}

/// A key that may read all tasks of the tenant finds no stream of another caller, and ends nothing.
#[tokio::test]
async fn who_may_read_a_waiting_task_cannot_end_it() {
    let server = started().await;
    let url = format!("{}/mcp", server.tenant_url());
    let able = json!({ "elicitation": {} });
    let mine = Client::open_at(&server, &url, &server.invoke, "2025-11-25", able).await;
    let mut stream = mine.stream("tools/call", json!({ "name": "named" })).await;
    let asked = stream.next().await.unwrap();
    let place = stream.last_id.clone().unwrap();
    let wish = json!({ "label": "reader", "scopes": ["read", "invoke"] });
    let (status, key) = server.api(Method::POST, "/tenants/acme/keys", &server.admin, Some(wish)).await;
    assert_eq!(status, 201, "{key}");
    for key in [key["key"].as_str().unwrap(), server.admin.as_str()] {
        let reader = Client::open_as(&server, key).await;
        let response = reader.get().header("last-event-id", &place).send().await.unwrap();
        assert_eq!(response.status(), 400);
        let refused = Messages::of(response).last().await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    assert_eq!(server.task_in("input-required").await["state"], "input-required");
    let reply = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": accepted("Ada") });
    assert_eq!(mine.send(reply).await, 202);
    assert_eq!(stream.next().await.unwrap()["result"]["structuredContent"]["content"]["name"], "Ada");
}
