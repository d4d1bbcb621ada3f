//! What is counted, who may read it, and that the documentation knows every name.

use std::collections::BTreeSet;

use serde_json::json;

use crate::harness::{TestServer, answering, fixture, root};

async fn scrape(server: &TestServer, key: &str) -> (u16, String) {
    let answer = server.client.get(format!("{}/metrics", server.url)).bearer_auth(key).send().await.unwrap();
    let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
    let status = answer.status().as_u16();
    assert!(status != 200 || kind.starts_with("text/plain; version=0.0.4"), "{kind}");
    (status, answer.text().await.unwrap())
}

/// The value of the series that begins with this.
fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with(series)).unwrap_or_else(|| panic!("no {series} in\n{text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn calls_are_counted_by_door_and_outcome() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let (status, body) = server.http("", "probe", json!({ "do": "echo", "value": 1 })).await;
    assert_eq!(status, 200, "{body}");
    server.rpc("tasks/send", json!({ "skill": "probe", "message": { "do": "panic" } })).await;
    // Compiled for this test and no other.
    server.deploy("counted.wat", answering(&json!({ "description": "compiled to be counted" }), "1"), "").await;
    let (status, text) = scrape(&server, &server.operator).await;
    assert_eq!(status, 200, "{text}");
    // One recorder counts for all tests of this process, so these are the least that there can be.
    for series in [
        r#"pleat_invocations_total{door="http",outcome="completed"}"#,
        r#"pleat_invocations_total{door="a2a/0.1",outcome="trap"}"#,
        r#"pleat_http_requests_total{door="http",status="2xx"}"#,
        r#"pleat_task_changes_total{state="completed"}"#,
        r#"pleat_invocation_seconds_count{door="http"}"#,
        "pleat_guest_cpu_seconds_sum",
        "pleat_commit_operations_count",
        "pleat_commit_seconds_count",
        r#"pleat_compile_seconds_count{result="ok"}"#,
        "pleat_instances_capacity",
        "pleat_process_resident_bytes",
        "pleat_build_info",
    ] {
        assert!(value(&text, series) > 0.0, "{series} in\n{text}");
    }
    for series in ["pleat_writer_queued", "pleat_tasks_running", "pleat_sse_streams", "pleat_functions_loaded"] {
        value(&text, series);
    }
    // One recorder and one runtime serve all tests of this process: another test asks for this gauge of every tenant.
    let labelled = text.lines().find(|line| line.contains("acme") && !line.starts_with("pleat_tenant_memory_bytes"));
    assert_eq!(labelled, None, "no tenant is a label unless that is asked for");
}

#[tokio::test]
async fn the_token_opens_the_metrics_and_nothing_else() {
    let token = "a token that only reads metrics";
    let server = TestServer::start_with(|_| {}, |gateway| gateway.metrics_token = Some(token.to_owned())).await;
    assert_eq!(scrape(&server, token).await.0, 200);
    assert_eq!(scrape(&server, "another token").await.0, 401);
    assert_eq!(scrape(&server, &server.admin).await.0, 403);
    let tenants = server.client.get(format!("{}/api/v1/tenants", server.url)).bearer_auth(token).send().await.unwrap();
    assert_eq!(tenants.status(), 401);
}

#[tokio::test]
async fn tenants_are_a_label_where_that_is_asked_for() {
    let server = TestServer::start_with(|engine| engine.measure_tenants = true, |_| {}).await;
    // Of a name that no other test has: they are all counted by one recorder.
    let admin = server.other_tenant("labelled").await;
    let url =
        format!("{}/api/v1/tenants/labelled/functions?fileName=echo.wasm&name=echo&visibility=public", server.url);
    let deployed = server.client.post(url).bearer_auth(&admin).body(fixture("echo.wasm")).send().await.unwrap();
    assert!(deployed.status().is_success(), "{deployed:?}");
    let called = server.client.post(format!("{}/t/labelled/echo", server.url)).json(&json!(1)).send().await.unwrap();
    assert_eq!(called.status(), 200);
    let (_, text) = scrape(&server, &server.operator).await;
    let series = r#"pleat_invocations_total{door="http",outcome="completed",tenant="labelled"}"#;
    assert!(value(&text, series) >= 1.0, "{text}");
}

#[tokio::test]
async fn without_metrics_there_is_nothing_there() {
    let server = TestServer::start_with(|_| {}, |gateway| gateway.metrics = None).await;
    assert_eq!(scrape(&server, &server.operator).await.0, 404);
}

/// Names of metrics in a text, without what belongs to a histogram's series.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|character: char| !character.is_ascii_lowercase() && character != '_');
    let named = words.filter(|word| word.starts_with("pleat_") && word.len() > 10);
    named.map(str::to_owned).collect()
}

#[test]
fn the_documentation_has_every_name_and_no_other() {
    let source = std::fs::read_to_string(root().join("services/gateway/src/metrics.rs")).unwrap();
    let described: BTreeSet<String> = names(source.split("fn describe()").nth(1).unwrap());
    let page = names(&std::fs::read_to_string(root().join("docs/metrics.md")).unwrap());
    assert!(described.len() > 15, "{described:?}");
    assert_eq!(described, page, "docs/metrics.md against what is described in services/gateway/src/metrics.rs");
}
