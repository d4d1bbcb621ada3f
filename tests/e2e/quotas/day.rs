//! What is counted by the day: CPU time, also of calls that failed, and bytes. A restart does not forget it.

use pleat_domain::{Plan, PlanName};
use pleat_store::StoreConfig;
use serde_json::json;

use super::{FREE, Refusal, call, echo, limited, most, neighbour, until_refused};
use crate::harness::{TestServer, database, fixture};

const DAY: u64 = 24 * 60 * 60;

#[tokio::test]
async fn cpu_time_of_failed_calls_counts_and_a_restart_does_not_give_it_back() {
    let plan = Plan { cpu_ms_per_day: most(300), ..FREE };
    let database = database().await;
    let start = async || {
        let adjust = |config: &mut pleat_engine::EngineConfig| config.plans.insert(PlanName::standard(), plan);
        TestServer::start_on(StoreConfig::new(database.as_str()), adjust, |_| {}).await
    };
    let server = start().await;
    // Who deploys it first pays for compiling it.
    neighbour(&server).await;
    server.deploy_probe().await;
    let (status, failed) = server.http(&server.invoke, "probe", json!({ "do": "spin" })).await;
    assert_eq!((status, &failed["reason"]), (504, &json!("cpu_limit")), "{failed}");
    let ask = async |server: &TestServer| call(server, "acme", &server.invoke, "probe", &echo(1)).await;
    Refusal::of(ask(&server).await).await.is_limit("cpu_ms_per_day", 300, DAY);
    // Asking for the usage writes it.
    let (status, _) = server.api(reqwest::Method::GET, "/tenants/acme/usage", &server.read, None).await;
    assert_eq!(status, 200);
    drop(server);
    // A node that has just begun learns within seconds what was used before.
    let server = start().await;
    until_refused(async || ask(&server).await).await.is_limit("cpu_ms_per_day", 300, DAY);
}

#[tokio::test]
async fn bytes_of_inputs_results_and_uploads_are_counted_together() {
    let room = 100_000;
    let uploaded = fixture("probe.wasm").len() as u64;
    let server = limited(Plan { stored_bytes_per_day: most(uploaded + room), ..FREE }).await;
    server.deploy_probe().await;
    let half = echo("x".repeat(20_000));
    let ask = async || call(&server, "acme", &server.invoke, "probe", &half).await;
    for _ in 0..2 {
        assert_eq!(ask().await.status(), 200, "there is room for two and a half");
    }
    let refusal = until_refused(ask).await;
    refusal.is_limit("stored_bytes_per_day", uploaded + room, DAY);
    let url = format!("{}/api/v1/tenants/acme/functions?fileName=minimal.wat&name=more", server.url);
    let deploy = server.client.post(url).bearer_auth(&server.deploy).body(fixture("minimal.wat"));
    let refusal = Refusal::of(deploy.send().await.unwrap()).await;
    refusal.is_limit("stored_bytes_per_day", uploaded + room, DAY);
}
