//! Cancelling, in each era's way, stops the guest; leaving does so in one of them only.

use std::time::Duration;

use serde_json::json;

use super::client::Messages;
use super::{Client, Modern};
use crate::harness::TestServer;

const SLEEP: &str = r#"{ "do": "sleep", "ms": 20000 }"#;

fn sleeping() -> serde_json::Value {
    json!({ "name": "probe", "arguments": serde_json::from_str::<serde_json::Value>(SLEEP).unwrap() })
}

#[tokio::test]
async fn a_session_cancels_by_the_id_of_its_request_at_any_node() {
    let database = crate::harness::database().await;
    let store = || pleat_store::StoreConfig::new(database.clone());
    let server = TestServer::start_on(store(), |_| {}, |_| {}).await;
    let other = TestServer::start_on(store(), |_| {}, |_| {}).await;
    server.deploy_probe().await;
    let client = Client::open(&server, json!({})).await;
    let request = client.post(client.body(5, "tools/call", sleeping()));
    let running = tokio::spawn(async move { Messages::of(request.send().await.unwrap()).last().await });
    let task = server.task_in("working").await;
    let cancelled = |id: serde_json::Value| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    let stranger = Client::open_as(&server, &server.invoke).await;
    assert_eq!(stranger.send(cancelled(json!(5))).await, 202, "another session's request is none of its own");
    assert_eq!(client.send(cancelled(json!("5"))).await, 202, "a text is no number");
    assert_eq!(server.task(task["id"].as_str().unwrap()).await["state"], "working");
    let there = Client { url: format!("{}/mcp", other.tenant_url()), ..client };
    assert_eq!(there.send(cancelled(json!(5))).await, 202);
    let answer = tokio::time::timeout(Duration::from_secs(10), running).await.unwrap().unwrap();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(server.task(task["id"].as_str().unwrap()).await["state"], "canceled");
}

#[tokio::test]
async fn who_leaves_a_session_has_cancelled_nothing() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let client = Client::open(&server, json!({})).await;
    let sleep = json!({ "name": "probe", "arguments": { "do": "sleep", "ms": 1500 }, "_meta": { "progressToken": 1 } });
    let stream = client.stream("tools/call", sleep).await;
    let task = server.task_in("working").await;
    drop(stream);
    let id = task["id"].as_str().unwrap();
    loop {
        let state = server.task(id).await["state"].clone();
        if state != "working" {
            assert_eq!(state, "completed");
            break;
        }
    }
}

#[tokio::test]
async fn without_a_session_leaving_is_cancelling() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let mut client = Modern::new(&server, json!({}));
    for streamed in [true, false] {
        if streamed {
            client.meta = json!({ "progressToken": 1 });
        } else {
            client.meta = json!({});
        }
        let request = client.post("tools/call", sleeping());
        let leaving = tokio::spawn(async move {
            let response = request.send().await.unwrap();
            Messages::of(response).last().await
        });
        let task = server.task_in("working").await;
        leaving.abort();
        let id = task["id"].as_str().unwrap().to_owned();
        let ended = async { while server.task(&id).await["state"] == "working" {} };
        tokio::time::timeout(Duration::from_secs(10), ended).await.expect("it is cancelled");
        assert_eq!(server.task(&id).await["state"], "canceled", "streamed: {streamed}");
    }
}
