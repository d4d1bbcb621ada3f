//! Results of steps are kept to the end of a run, and charged to the tenant's memory budget.

use std::fmt::Write;

use pleat_domain::limits::MIB;
use pleat_domain::plan::Amount;
use pleat_domain::{Plan, PlanName};
use serde_json::json;

use crate::harness::TestServer;

/// Steps one after the other, each of which gives on what it gets.
fn chain(name: &str, steps: usize) -> String {
    let mut text = format!("name: {name}\nsteps:\n");
    for step in 0..steps {
        writeln!(text, "  - {{id: s{step}, tool_name: echo}}").unwrap();
    }
    text
}

#[tokio::test]
async fn run_whose_results_exceed_the_tenants_memory_fails_with_memory_limit() {
    let plan = Plan { memory_bytes: Amount::Most(24 * MIB as u64), ..Plan::UNLIMITED };
    let server = TestServer::start_with(|config| config.plans.insert(PlanName::standard(), plan), |_| {}).await;
    server.deploy_echo().await;
    server.activate(&chain("short", 2)).await;
    server.activate(&chain("long", 20)).await;
    let input = json!("x".repeat(2 * MIB));
    let run = server.run("short", input.clone()).await;
    assert_eq!(run["state"], "completed", "{}", run["failure"]);
    let run = server.run("long", input).await;
    assert_eq!(
        (&run["state"], &run["failure"]["reason"]),
        (&json!("failed"), &json!("memory_limit")),
        "{}",
        run["failure"]
    );
    assert_eq!(run["failure"]["retryable"], true, "{}", run["failure"]);
}
