//! Memory budgets of tenants and of a node: calls beyond them wait or are refused, running ones fail with the budget's
//! name, and neighbours are served.

use std::time::Duration;

use pleat_domain::limits::MIB;
use pleat_domain::{Plan, PlanName};
use reqwest::Response;
use serde_json::{Value, json};

use super::{FREE, Refusal, call, echo, most, neighbour, sleeper, stop, until_served};
use crate::harness::{Stream, TestServer, read};

const TENANT: u64 = 12 * MIB as u64;
const NODE: usize = 64 * MIB;

async fn node() -> (TestServer, impl Sized) {
    let plan = Plan { memory_bytes: most(TENANT), ..FREE };
    let (server, runtime, directory) = TestServer::start_on_runtime(
        |runtime| {
            runtime.memory_bytes = NODE;
            runtime.pool.instances = 100;
        },
        |config| {
            config.plans.insert(PlanName::standard(), plan);
            config.slot_wait = Duration::from_millis(50);
        },
    )
    .await;
    server.deploy_probe().await;
    (server, (runtime, directory))
}

async fn fills(server: &TestServer, tenant: &str, key: &str, bytes: usize) -> (u16, Value) {
    read(call(server, tenant, key, "probe", &json!({ "do": "fill_memory", "bytes": bytes })).await).await
}

/// Starts sleepers until one is refused.
async fn crowd(server: &TestServer, tenant: &str, key: &str) -> (usize, Response) {
    let input = json!({ "do": "sleep", "ms": 20_000 });
    for held in 0..100 {
        let asked = call(server, tenant, key, "probe", &input);
        match tokio::time::timeout(Duration::from_millis(400), asked).await {
            // It sleeps; who leaves a call does not end it.
            Err(_) => {}
            Ok(refused) => return (held, refused),
        }
    }
    panic!("nothing was refused");
}

#[tokio::test]
async fn call_beyond_the_tenants_memory_fails_with_its_name_and_a_neighbour_is_served() {
    let (server, _held) = node().await;
    let other = neighbour(&server).await;
    let (status, failed) = fills(&server, "acme", &server.invoke, 16 * MIB).await;
    assert_eq!((status, &failed["error"]["code"]), (507, &json!("memory_limit")), "{failed}");
    let text = failed.to_string();
    assert!(text.contains("all calls of the tenant on this node share 12 MiB (`memory_bytes` of the plan)"), "{text}");
    assert!(text.contains(r#""retryable":true"#), "{text}");
    assert_eq!(fills(&server, "other", &other, 16 * MIB).await.0, 200);
    assert_eq!(fills(&server, "acme", &server.invoke, 2 * MIB).await.0, 200);
}

#[tokio::test]
async fn calls_beyond_the_tenants_memory_are_refused_until_others_end() {
    let (server, _held) = node().await;
    let other = neighbour(&server).await;
    let mut sleepers: Vec<(String, Stream)> = Vec::new();
    for _ in 0..2 {
        sleepers.push(sleeper(&server, &server.invoke).await);
    }
    let (_, refused) = crowd(&server, "acme", &server.invoke).await;
    Refusal::of(refused).await.is_limit("memory_bytes", TENANT, 1);
    assert_eq!(call(&server, "other", &other, "probe", &echo(1)).await.status(), 200);
    for (task, _) in &sleepers {
        stop(&server, task).await;
    }
    until_served(async || call(&server, "acme", &server.invoke, "probe", &echo(1)).await).await;
}

#[tokio::test]
async fn calls_beyond_the_nodes_memory_are_refused_and_a_late_tenant_is_served() {
    let (server, _held) = node().await;
    let other = neighbour(&server).await;
    let (status, failed) = fills(&server, "other", &other, 55 * MIB).await;
    assert_eq!(status, 507, "{failed}");
    let text = failed.to_string();
    assert!(text.contains("all calls on this node share 64 MiB (`runtime.memory_mib`)"), "{text}");
    let (held, refused) = crowd(&server, "other", &other).await;
    assert!(held > 10, "{held}");
    let refusal = Refusal::of(refused).await;
    assert_eq!((refusal.status, refusal.retry_after), (503, Some(1)), "{refusal:?}");
    assert_eq!(refusal.details["limit"], "memory of the node");
    // The last quarter is for tenants that hold little.
    assert_eq!(call(&server, "acme", &server.invoke, "probe", &echo(1)).await.status(), 200);
}

#[tokio::test]
async fn memory_is_given_back_when_calls_have_ended() {
    let (server, runtime, _directory) = TestServer::start_on_runtime(|_| {}, |_| {}).await;
    server.deploy_probe().await;
    for input in [echo(1), json!({ "do": "fill_memory", "bytes": MIB }), json!({ "do": "alloc_forever" })] {
        call(&server, "acme", &server.invoke, "probe", &input).await;
    }
    let began = std::time::Instant::now();
    while runtime.memory().used().used > 0 {
        assert!(began.elapsed() < super::PATIENCE, "{:?}", runtime.memory().used());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
