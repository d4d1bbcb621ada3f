//! Usage: every call is in it once, by day and skill, over restarts.

use pleat_store::StoreConfig;
use reqwest::Method;
use serde_json::{Value, json};

use super::{call, echo, neighbour};
use crate::harness::dev::Dev;
use crate::harness::project::Project;
use crate::harness::{TestServer, database, fixture};

async fn usage(server: &TestServer, query: &str) -> Value {
    let (status, usage) = server.api(Method::GET, &format!("/tenants/acme/usage{query}"), &server.read, None).await;
    assert_eq!(status, 200, "{usage}");
    usage
}

#[tokio::test]
async fn calls_failures_time_and_bytes_add_up_over_a_restart() {
    let database = database().await;
    let start = || TestServer::start_on(StoreConfig::new(database.as_str()), |_| {}, |_| {});
    let server = start().await;
    server.deploy_probe().await;
    server.deploy_echo().await;
    let input = json!({ "do": "echo", "value": "four" });
    for _ in 0..3 {
        assert_eq!(server.http(&server.invoke, "probe", input.clone()).await.0, 200);
    }
    let failing = json!({ "do": "fail", "code": "c", "message": "m" });
    assert_eq!(server.http("", "probe", failing.clone()).await.0, 422);
    assert_eq!(server.http("", "echo", json!([1])).await.1, json!([1]));

    let shown = usage(&server, "").await;
    assert_eq!((&shown["plan"], &shown["limits"]["functions"]), (&json!("standard"), &json!(500)));
    let rows = shown["usage"].as_array().unwrap();
    let row = |skill: &str| rows.iter().find(|row| row["skill"] == skill).unwrap_or_else(|| panic!("{shown}"));
    let probe = row("probe");
    assert_eq!((&probe["calls"], &probe["failures"]), (&json!(4), &json!(1)));
    let sent = 3 * input.to_string().len() + failing.to_string().len();
    assert_eq!((&probe["inputBytes"], &probe["outputBytes"]), (&json!(sent), &json!(3 * r#""four""#.len())));
    assert_eq!(probe["uploadBytes"], fixture("probe.wasm").len());
    assert!(probe["cpuMs"].as_f64() > Some(0.0) && probe["wallMs"].as_f64() >= probe["cpuMs"].as_f64(), "{probe}");
    assert_eq!((&row("echo")["calls"], &shown["total"]["calls"]), (&json!(1), &json!(5)));
    let only = usage(&server, "?skill=echo").await;
    assert_eq!((&only["usage"].as_array().unwrap().len(), &only["total"]["calls"]), (&1, &json!(1)));
    drop(server);

    let server = start().await;
    assert_eq!(server.http(&server.invoke, "probe", input).await.0, 200);
    assert_eq!(usage(&server, "?skill=probe").await["total"]["calls"], 5);
}

#[tokio::test]
async fn the_operator_sees_every_tenants_sum_and_a_tenant_its_own() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let other = neighbour(&server).await;
    for _ in 0..2 {
        assert_eq!(call(&server, "other", &other, "probe", &echo(1)).await.status(), 200);
    }
    assert_eq!(call(&server, "acme", "", "probe", &echo(1)).await.status(), 200);
    let (status, all) = server.api(Method::GET, "/usage", &server.operator, None).await;
    assert_eq!(status, 200, "{all}");
    let calls: Vec<_> =
        all["tenants"].as_array().unwrap().iter().map(|row| (row["tenant"].as_str(), row["calls"].as_u64())).collect();
    assert_eq!(calls, [(Some("acme"), Some(1)), (Some("other"), Some(2))]);
    assert_eq!(usage(&server, "").await["total"]["calls"], 1);
}

#[tokio::test]
async fn days_that_make_no_sense_are_refused() {
    let server = TestServer::start().await;
    for query in ["?from=yesterday", "?to=2026-13-01", "?from=2026-02-02&to=2026-02-01", "?skill=No", "?day=1"] {
        let (status, body) = server.api(Method::GET, &format!("/tenants/acme/usage{query}"), &server.read, None).await;
        assert_eq!((status, &body["error"]["code"]), (400, &json!("invalid")), "{query}: {body}");
    }
    let earlier = usage(&server, "?from=2020-01-01&to=2020-01-31").await;
    assert_eq!((&earlier["usage"], &earlier["total"]["calls"]), (&json!([]), &json!(0)));
}

#[tokio::test]
async fn a_server_that_is_stopped_writes_the_last_of_it() {
    let dev = Dev::start(Project::started_before().await).await;
    let calls = async |dev: &Dev| {
        let shown = dev.pleat(&["usage", "--days", "1", "--skill", "probe", "--json"]).await.ok().json();
        shown["total"]["calls"].as_u64().unwrap()
    };
    let before = calls(&dev).await;
    for _ in 0..3 {
        dev.pleat(&["call", "probe", r#"{"do":"echo","value":1}"#]).await.ok();
    }
    let (project, status, _) = dev.stop("TERM").await;
    assert!(status.success(), "{status}");
    let dev = Dev::start(project).await;
    assert_eq!(calls(&dev).await, before + 3);
    let table = dev.pleat(&["usage"]).await.ok().stdout;
    assert!(table.starts_with("DAY") && table.contains("probe") && table.contains("total"), "{table}");
    let all = dev.pleat(&["usage", "--all"]).await.ok().stdout;
    assert!(all.starts_with("TENANT") && all.contains("demo"), "{all}");
}
