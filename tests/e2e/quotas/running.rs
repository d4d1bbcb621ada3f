//! Tasks that run at once, and the CPU time of a minute.

use std::time::Duration;

use pleat_domain::{Plan, PlanName};
use serde_json::json;

use super::{
    FREE, Refusal, call, echo, limited, most, narrow_key, neighbour, sleeper, stop, until_refused, until_served,
};
use crate::harness::TestServer;

#[tokio::test]
async fn a_tenant_has_so_many_tasks_at_once_and_a_neighbour_its_own() {
    let server = limited(Plan { concurrent_tasks: most(2), ..FREE }).await;
    server.deploy_probe().await;
    let other = neighbour(&server).await;
    let (first, _first) = sleeper(&server, &server.invoke).await;
    let (_, _second) = sleeper(&server, "").await;
    let ask = async || call(&server, "acme", &server.invoke, "probe", &echo(1)).await;
    Refusal::of(ask().await).await.is_limit("concurrent_tasks", 2, 1);
    let params = json!({ "skill": "probe", "message": echo(1) });
    let refusal = Refusal::of(server.rpc_response(&server.invoke, "tasks/sendSubscribe", params).await).await;
    refusal.is_limit("concurrent_tasks", 2, 1);
    assert_eq!(refusal.code, -32051);
    assert_eq!(call(&server, "other", &other, "probe", &echo(1)).await.status(), 200);
    stop(&server, &first).await;
    until_served(ask).await;
}

#[tokio::test]
async fn a_key_has_so_many_tasks_at_once() {
    let server = limited(FREE).await;
    server.deploy_probe().await;
    let narrow = narrow_key(&server, json!({ "concurrentTasks": 1 })).await;
    let (task, _stream) = sleeper(&server, &narrow).await;
    let ask = async || call(&server, "acme", &narrow, "probe", &echo(1)).await;
    Refusal::of(ask().await).await.is_limit("key_concurrent_tasks", 1, 1);
    assert_eq!(call(&server, "acme", &server.invoke, "probe", &echo(1)).await.status(), 200);
    stop(&server, &task).await;
    until_served(ask).await;
}

#[tokio::test]
async fn cpu_time_that_is_used_up_comes_back_with_the_next_window() {
    let plan = Plan { cpu_ms_per_minute: most(5), ..FREE };
    let server = TestServer::start_with(
        |config| {
            config.plans.insert(PlanName::standard(), plan);
            config.cpu_window = Duration::from_secs(3);
        },
        |_| {},
    )
    .await;
    // Who deploys it first pays for compiling it.
    let other = neighbour(&server).await;
    server.deploy_probe().await;
    let work = json!({ "do": "work", "ms": 50 });
    let refusal = until_refused(async || call(&server, "acme", &server.invoke, "probe", &work).await).await;
    refusal.is_limit("cpu_ms_per_minute", 5, 3);
    assert_eq!(call(&server, "other", &other, "probe", &work).await.status(), 200);
    until_served(async || call(&server, "acme", &server.invoke, "probe", &echo(1)).await).await;
}
