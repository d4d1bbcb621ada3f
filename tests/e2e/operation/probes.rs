//! Alive and ready, and the difference.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::serving::Serving;
use crate::harness::{TestServer, read};

async fn get(server: &TestServer, path: &str) -> (u16, Value) {
    read(server.client.get(format!("{}{path}", server.url)).send().await.unwrap()).await
}

#[tokio::test]
async fn healthz_counts_streams_tasks_and_seconds() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let (status, idle) = get(&server, "/healthz").await;
    assert_eq!((status, &idle["ok"], &idle["tasks"]), (200, &json!(true), &json!(0)), "{idle}");
    let params = json!({ "skill": "probe", "message": { "do": "sleep", "ms": 20_000 } });
    let mut stream = server.rpc_stream(&server.invoke, "tasks/sendSubscribe", params, None).await;
    stream.next().await.expect("a first event");
    let (_, busy) = get(&server, "/healthz").await;
    assert_eq!(busy["tasks"], 1, "{busy}");
    // Other tests of this process have streams too.
    assert!(busy["activeSse"].as_u64().is_some_and(|open| open >= 1), "{busy}");
    assert!(busy["uptime"].is_u64() && busy["version"].is_string(), "{busy}");
}

#[tokio::test]
async fn a_node_without_its_database_is_alive_and_not_ready() {
    let server = TestServer::start().await;
    assert_eq!(get(&server, "/readyz").await, (200, json!({ "status": "ready" })));
    server.store.close().await;
    // The last answer of the database is believed for a second.
    let began = Instant::now();
    let (status, answer) = loop {
        let answer = get(&server, "/readyz").await;
        if answer.0 != 200 || began.elapsed() > Duration::from_secs(10) {
            break answer;
        }
    };
    assert_eq!((status, &answer["status"]), (503, &json!("not ready")), "{answer}");
    assert!(answer["reasons"].to_string().contains("the database does not answer"), "{answer}");
    assert_eq!(get(&server, "/healthz").await.0, 200);
}

#[tokio::test]
async fn a_node_that_is_told_to_stop_says_so_until_it_has_stopped() {
    let node = Serving::start("[server]\ndrain_seconds = 60\n[metrics]\nlisten = \"127.0.0.1:0\"\n", &[]).await;
    let probes = node.probes.clone().expect("a second address");
    let key = node.with_probe().await;
    let client = reqwest::Client::new();
    let ready = client.get(format!("{probes}/readyz")).send().await.unwrap();
    assert_eq!(ready.status(), 200);
    assert_eq!(client.get(format!("{probes}/api/v1/whoami")).send().await.unwrap().status(), 404);
    // A call that keeps the node busy while it drains.
    let call = client.post(format!("{}/t/acme/probe", node.url)).bearer_auth(&key);
    let call = call.header("accept", "text/event-stream").json(&json!({ "do": "sleep", "ms": 3_000 }));
    let answer = call.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    node.server.signal("TERM");
    let stopping = loop {
        let answer = client.get(format!("{probes}/readyz")).send().await.expect("probes are answered to the end");
        if answer.status() == 503 {
            break answer.json::<Value>().await.unwrap();
        }
    };
    assert!(stopping["reasons"].to_string().contains("this node is stopping"), "{stopping}");
    let events = answer.text().await.unwrap();
    assert!(events.contains("completed"), "the running call was given its time: {events}");
    let (project, status, _) = node.server.ended().await;
    assert_eq!(status.code(), Some(0), "{}", project.log());
}
