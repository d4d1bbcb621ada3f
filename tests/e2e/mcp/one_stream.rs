//! A message goes to a session's client once, on one stream, at whichever nodes its streams are.

use std::time::Duration;

use serde_json::{Value, json};

use super::Client;
use super::client::Messages;
use crate::harness::{TestServer, fixture};

const TOOLS: &str = "notifications/tools/list_changed";

async fn three_nodes() -> [TestServer; 3] {
    let database = crate::harness::database().await;
    let store = || pleat_store::StoreConfig::new(database.clone());
    let start = async || TestServer::start_on(store(), |_| {}, |_| {}).await;
    let servers = [start().await, start().await, start().await];
    servers[0].deploy_probe().await;
    servers
}

/// The same session at another node.
fn at(server: &TestServer, client: &Client) -> Client {
    Client { url: format!("{}/mcp", server.tenant_url()), ..client.clone() }
}

/// Its stream, once it is there.
async fn listen(client: &Client) -> Messages {
    let response = client.get().send().await.unwrap();
    assert_eq!(response.status(), 200);
    Messages::of(response)
}

async fn deploy(server: &TestServer, name: &str) {
    server.deploy("echo.wasm", fixture("echo.wasm"), &format!("&name={name}&visibility=public")).await;
}

async fn soon(messages: &mut Messages) -> Value {
    tokio::time::timeout(Duration::from_secs(15), messages.next()).await.expect("in time").expect("a message")
}

/// All that comes within a while.
async fn rest(messages: &mut Messages, wait: Duration) -> Vec<Value> {
    let mut all = Vec::new();
    while let Ok(Some(message)) = tokio::time::timeout(wait, messages.next()).await {
        all.push(message);
    }
    all
}

fn count(messages: &[Value], method: &str) -> usize {
    messages.iter().filter(|message| message["method"] == method).count()
}

#[tokio::test]
async fn a_change_at_any_node_is_told_once_where_the_client_listens_last() {
    let [first, second, third] = three_nodes().await;
    let client = Client::open(&first, json!({})).await;
    let mut older = listen(&client).await;
    let mut newer = listen(&at(&second, &client)).await;
    for (number, server) in [&first, &second, &third].into_iter().enumerate() {
        deploy(server, &format!("fresh-{number}")).await;
        let mut told = vec![soon(&mut newer).await];
        told.extend(rest(&mut newer, Duration::from_millis(1_000)).await);
        assert_eq!((told.len(), count(&told, TOOLS)), (3, 1), "each list once: {told:?}");
        assert!(rest(&mut older, Duration::from_millis(200)).await.is_empty(), "and nothing here");
    }
    // The newest is the one that was opened last, also where an older one is at a node of its own.
    let mut newest = listen(&client).await;
    deploy(&third, "last").await;
    assert_eq!(soon(&mut newest).await["method"], TOOLS);
    assert!(rest(&mut older, Duration::from_millis(700)).await.is_empty());
    assert!(rest(&mut newer, Duration::from_millis(200)).await.is_empty());
}

#[tokio::test]
async fn what_happens_to_a_task_is_told_once_however_many_listen() {
    let [first, second, third] = three_nodes().await;
    let client = Client::open(&first, json!({})).await;
    let (mut older, mut newer) = (listen(&client).await, listen(&at(&second, &client)).await);
    let sleep = json!({ "skill": "probe", "message": { "do": "sleep", "ms": 1500 } });
    let mut running = third.rpc_stream("", "tasks/sendSubscribe", sleep, None).await;
    let id = running.next().await.unwrap().data["result"]["id"].as_str().unwrap().to_owned();
    let uri = format!("a2a://task/{id}");
    at(&third, &client).result("resources/subscribe", json!({ "uri": uri })).await;
    let told = soon(&mut newer).await;
    assert_eq!((&told["method"], &told["params"]["uri"]), (&json!("notifications/resources/updated"), &json!(uri)));
    let more = rest(&mut newer, Duration::from_millis(1_500)).await;
    assert!(more.is_empty(), "its end, and what it delivered with it, is one change: {more:?}");
    assert!(rest(&mut older, Duration::from_millis(200)).await.is_empty());
}

/// A stream that is gone leaves what there is to tell to the one before it.
#[tokio::test]
async fn the_stream_before_takes_over_when_the_newest_is_gone() {
    let [first, second, third] = three_nodes().await;
    let client = Client::open(&first, json!({})).await;
    let mut older = listen(&client).await;
    let newer = listen(&at(&second, &client)).await;
    deploy(&third, "one").await;
    // Its node leaves in order, which ends its streams.
    drop(newer);
    second.engine.drain().await;
    deploy(&third, "two").await;
    assert_eq!(soon(&mut older).await["method"], TOOLS);
    let more = rest(&mut older, Duration::from_millis(700)).await;
    assert!(count(&more, TOOLS) <= 1, "`one` and `two`, or both in one: {more:?}");
}

/// Nothing is told twice because a stream is opened, and nothing is lost because there was none.
#[tokio::test]
async fn a_stream_that_is_opened_anew_begins_where_the_last_one_ended() {
    let [first, second, _] = three_nodes().await;
    let client = Client::open(&first, json!({})).await;
    let mut stream = listen(&client).await;
    deploy(&second, "one").await;
    assert_eq!(soon(&mut stream).await["method"], TOOLS);
    rest(&mut stream, Duration::from_millis(500)).await;
    drop(stream);
    let mut again = listen(&client).await;
    assert!(rest(&mut again, Duration::from_millis(1_000)).await.is_empty(), "it knows of that");
    // The node stops, which ends the stream in order.
    first.engine.drain().await;
    assert_eq!(again.next().await, None);
    deploy(&second, "two").await;
    let mut at_last = listen(&at(&second, &client)).await;
    assert_eq!(soon(&mut at_last).await["method"], TOOLS, "which nobody heard");
}

/// A subscription begins when it is made, not when somebody listens.
#[tokio::test]
async fn what_changed_before_anybody_listened_is_told() {
    let [first, second, _] = three_nodes().await;
    let client = Client::open(&first, json!({})).await;
    let sleep = json!({ "skill": "probe", "message": { "do": "sleep", "ms": 1000 } });
    let mut running = first.rpc_stream("", "tasks/sendSubscribe", sleep, None).await;
    let id = running.next().await.unwrap().data["result"]["id"].as_str().unwrap().to_owned();
    let uri = format!("a2a://task/{id}");
    client.result("resources/subscribe", json!({ "uri": uri })).await;
    while running.next().await.is_some() {}
    let mut stream = listen(&at(&second, &client)).await;
    assert_eq!(soon(&mut stream).await["params"]["uri"], uri);
    assert!(rest(&mut stream, Duration::from_millis(500)).await.is_empty(), "once");
    drop(stream);
    let mut again = listen(&client).await;
    assert!(rest(&mut again, Duration::from_millis(700)).await.is_empty(), "and once for all");
}
