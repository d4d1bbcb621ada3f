//! A node that gives no sign of life loses its tasks to the others, which end them.

use std::time::Duration;

use pleat_store::StoreConfig;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use crate::harness::{Stream, TestServer, database};

async fn nodes() -> (String, TestServer, TestServer) {
    let url = database().await;
    let lost = TestServer::start_on(StoreConfig::new(url.as_str()), |_| {}, |_| {}).await;
    lost.deploy_probe().await;
    let other = TestServer::start_on(StoreConfig::new(url.as_str()), |_| {}, |_| {}).await;
    (url, lost, other)
}

/// As after a kill: the last beat is older than any lease.
async fn silence(url: &str, node: &TestServer) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let statement = "UPDATE nodes SET beat_at = now() - interval '1 minute' WHERE id = $1";
    let silenced = sqlx::query(statement).bind(node.store.node().as_uuid()).execute(&mut connection).await.unwrap();
    assert_eq!(silenced.rows_affected(), 1);
}

async fn started(node: &TestServer, input: Value) -> (String, Stream) {
    let params = json!({ "skill": "probe", "message": input });
    let mut stream = node.rpc_stream(&node.invoke, "tasks/sendSubscribe", params, None).await;
    let first = stream.next().await.expect("a first event");
    (first.data["result"]["id"].as_str().unwrap_or_else(|| panic!("{first:?}")).to_owned(), stream)
}

#[tokio::test]
async fn a_lost_nodes_task_fails_and_who_follows_it_elsewhere_is_told() {
    let (url, lost, other) = nodes().await;
    let (id, _caller) = started(&lost, json!({ "do": "sleep", "ms": 25_000 })).await;
    let events = format!("{}/api/v1/tenants/acme/tasks/{id}/events", other.url);
    let mut elsewhere = Stream::of(other.client.get(events).bearer_auth(&other.read).send().await.unwrap());
    assert_eq!(elsewhere.next().await.expect("the first event").id, Some(1));
    silence(&url, &lost).await;
    let rest = tokio::time::timeout(Duration::from_secs(20), elsewhere.all()).await.expect("the stream ends");
    let last = rest.last().expect("a last event");
    assert_eq!((last.id, rest.len()), (Some(2), 1), "{rest:?}");
    assert!(last.data.to_string().contains("node_lost"), "{last:?}");
    for node in [&lost, &other] {
        let (_, task) = node.api(Method::GET, &format!("/tenants/acme/tasks/{id}"), &node.read, None).await;
        assert_eq!((&task["state"], &task["failure"]["reason"]), (&json!("failed"), &json!("node_lost")), "{task}");
        let (_, answer) = node.rpc_as(&node.invoke, "tasks/get", json!({ "id": id })).await;
        assert_eq!(answer["result"]["status"]["state"], "failed", "{answer}");
    }
}

#[tokio::test]
async fn a_node_that_comes_back_does_not_overwrite_what_was_decided() {
    let (url, lost, other) = nodes().await;
    let (id, caller) = started(&lost, json!({ "do": "sleep", "ms": 8_000 })).await;
    let events = format!("{}/api/v1/tenants/acme/tasks/{id}/events", other.url);
    let elsewhere = Stream::of(other.client.get(events).bearer_auth(&other.read).send().await.unwrap());
    silence(&url, &lost).await;
    let decided = tokio::time::timeout(Duration::from_secs(7), elsewhere.all()).await.expect("it is swept in time");
    assert!(decided.last().expect("an end").data.to_string().contains("node_lost"), "{decided:?}");
    // The guest runs to its end on the node that others took for dead.
    let frames = tokio::time::timeout(Duration::from_secs(20), caller.all()).await.expect("the caller's stream ends");
    let told = json!(frames.iter().map(|frame| &frame.data).collect::<Vec<_>>()).to_string();
    assert!(!told.contains("completed"), "the caller is not told what nobody else will see: {told}");
    let state = frames.last().map(|frame| frame.data["result"]["status"]["state"].clone());
    assert_eq!(state, Some(json!("failed")), "but it is told how the task ended: {told}");
    let (_, task) = other.api(Method::GET, &format!("/tenants/acme/tasks/{id}"), &other.read, None).await;
    assert_eq!((&task["state"], &task["failure"]["reason"]), (&json!("failed"), &json!("node_lost")), "{task}");
    assert_eq!(task["artifacts"], json!([]), "{task}");
}

#[tokio::test]
async fn a_living_nodes_task_is_left_alone_and_can_be_followed_elsewhere() {
    let (_, one, other) = nodes().await;
    let (id, _caller) = started(&one, json!({ "do": "emit", "chunks": 4, "delay_ms": 100 })).await;
    let stream = other.rpc_stream(&other.invoke, "tasks/resubscribe", json!({ "id": id }), None).await;
    let frames = tokio::time::timeout(Duration::from_secs(20), stream.all()).await.expect("the stream ends");
    assert_eq!(frames.last().unwrap().data["result"]["status"]["state"], "completed", "{frames:?}");
    let numbers: Vec<_> = frames.iter().filter_map(|frame| frame.id).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
}
