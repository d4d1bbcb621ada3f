//! Open event streams: of a caller, of a tenant, of a node.

use pleat_domain::Plan;
use pleat_gateway::StreamLimits;
use serde_json::{Value, json};

use super::{FREE, limited, most};
use crate::harness::{Stream, TestServer, read};

const HOLD: u64 = 20_000;

async fn subscribe(server: &TestServer, tenant: &str, key: &str) -> reqwest::Response {
    let request = server.client.post(format!("{}/t/{tenant}/probe", server.url)).bearer_auth(key);
    let request = request.header("accept", "text/event-stream").json(&json!({ "do": "sleep", "ms": HOLD }));
    request.send().await.unwrap()
}

async fn open(server: &TestServer, tenant: &str, key: &str) -> Stream {
    let answer = subscribe(server, tenant, key).await;
    assert_eq!(answer.status(), 200);
    let mut stream = Stream::of(answer);
    stream.next().await.expect("a first event");
    stream
}

/// Status and limit of a refusal.
async fn refused(answer: reqwest::Response) -> (u16, Value) {
    assert_eq!(answer.headers()["retry-after"], "5");
    let (status, body) = read(answer).await;
    let details = body["error"].get("details").or(body["error"].get("data")).unwrap_or_else(|| panic!("{body}"));
    (status, details["limit"].clone())
}

#[tokio::test]
async fn streams_of_a_tenant_are_limited_by_its_plan_and_free_again_at_their_end() {
    let server = limited(Plan { streams: most(2), ..FREE }).await;
    server.deploy_probe().await;
    let first = open(&server, "acme", &server.invoke).await;
    let _second = open(&server, "acme", &server.admin).await;
    assert_eq!(refused(subscribe(&server, "acme", &server.invoke).await).await, (429, json!("streams")));
    let running = server.task_in("working").await;
    let id = running["id"].as_str().unwrap();
    let path = format!("{}/api/v1/tenants/acme/tasks/{id}/events", server.url);
    let events = server.client.get(path).bearer_auth(&server.admin).send().await.unwrap();
    assert_eq!(refused(events).await, (429, json!("streams")));
    for (method, params) in [
        ("tasks/sendSubscribe", json!({ "skill": "probe", "message": { "do": "echo", "value": 1 } })),
        ("tasks/resubscribe", json!({ "id": id })),
    ] {
        let answer = server.rpc_response(&server.admin, method, params).await;
        assert_eq!(refused(answer).await, (429, json!("streams")), "{method}");
    }
    // Calls without a stream go on.
    assert_eq!(server.http(&server.invoke, "probe", json!({ "do": "echo", "value": 1 })).await.0, 200);
    drop(first);
    for attempt in 0..100 {
        let answer = subscribe(&server, "acme", &server.invoke).await;
        if answer.status() == 200 {
            return;
        }
        assert!(attempt < 99, "the place of a closed stream stays taken");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn streams_of_a_caller_and_of_a_node_are_limited_by_the_configuration() {
    let limits = StreamLimits { node: 3, per_caller: 2 };
    let server = TestServer::start_with(|_| {}, |gateway| gateway.streams = limits).await;
    server.deploy_probe().await;
    let _held = [open(&server, "acme", &server.invoke).await, open(&server, "acme", &server.invoke).await];
    let caller = refused(subscribe(&server, "acme", &server.invoke).await).await;
    assert_eq!(caller, (429, json!("limits.streams_per_caller")));
    let _third = open(&server, "acme", &server.admin).await;
    assert_eq!(refused(subscribe(&server, "acme", &server.admin).await).await, (503, json!("limits.streams")));
}
