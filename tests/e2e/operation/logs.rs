//! The server's log: a line for every request when asked for, without what is the caller's.

use serde_json::Value;

use super::serving::Serving;

#[tokio::test]
async fn every_request_has_a_line_at_debug_without_its_query() {
    let mut node = Serving::start("[log]\nlevel = \"info,pleat_gateway=debug\"\n", &[]).await;
    let client = reqwest::Client::new();
    client.get(format!("{}/api/v1/whoami?secret=hunter2", node.url)).bearer_auth("plt_nonsense").send().await.unwrap();
    let line = |project: &crate::harness::project::Project| {
        let log = project.log();
        let mut records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        records.find(|record| record["path"] == "/api/v1/whoami")
    };
    let record = node.server.until("line of the request", line).await;
    assert_eq!((&record["level"], &record["status"]), (&"DEBUG".into(), &401.into()), "{record}");
    assert_eq!((&record["door"], &record["method"]), (&"control".into(), &"GET".into()), "{record}");
    assert!(record["duration_ms"].is_f64(), "{record}");
    let log = node.server.project.log();
    assert!(!log.contains("hunter2") && !log.contains("plt_nonsense"), "{log}");
}

#[tokio::test]
async fn requests_are_not_logged_by_default() {
    let node = Serving::start("", &[]).await;
    reqwest::get(format!("{}/healthz", node.url)).await.unwrap();
    let log = node.server.project.log();
    assert!(!log.contains("/healthz"), "{log}");
}
