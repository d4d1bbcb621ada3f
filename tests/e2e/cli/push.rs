//! `pleat push`: who is told, what became of it, once more, and the key.

use serde_json::{Value, json};

use crate::cli::Tenant;

async fn set(tenant: &Tenant, task: &str, url: &str) -> Value {
    let params = json!({ "id": task, "pushNotificationConfig": { "url": url } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/pushNotification/set", "params": params });
    let request = reqwest::Client::new().post(tenant.url("/_a2a/")).bearer_auth(&tenant.key).json(&body);
    request.send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn receivers_and_deliveries_are_listed_and_tried_again() {
    let tenant = Tenant::with_probe("push").await;
    tenant.pleat(&["push", "list"]).await.ok().says(&["nobody is told of any task"]);
    tenant.pleat(&["push", "deliveries"]).await.ok().says(&["no deliveries"]);
    let task = tenant.task(r#"{"do":"echo","value":1}"#).await;
    let kept = set(&tenant, &task, "https://receiver.invalid/secret-path").await;
    assert!(kept["result"].is_object(), "{kept}");
    let table = tenant.pleat(&["push", "list", "--task", &task]).await.ok().stdout;
    let line = table.lines().find(|line| line.starts_with(&task)).unwrap_or_else(|| panic!("{table}"));
    assert!(line.contains(" default ") && line.contains("https://receiver.invalid "), "{line}");
    assert!(!table.contains("secret-path"), "{table}");
    // The name has no address, and never will have one.
    let deliveries = ["push", "deliveries", "--task", &task, "--state", "retrying"];
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let table = loop {
        let table = tenant.pleat(&deliveries).await.ok().stdout;
        if table.contains("does not resolve") {
            break table;
        }
        assert!(std::time::Instant::now() < patience, "{table}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    assert!(table.contains("retrying"), "{table}");
    let list = tenant.pleat(&["push", "list", "--json"]).await.ok().json();
    assert_eq!(list["pushes"][0]["id"], "default", "{list}");
    let retried = tenant.pleat(&["push", "retry", &task, "default", "--json"]).await.ok().json();
    assert_eq!(retried, json!({ "task": task, "id": "default", "retried": true }));
    tenant.pleat(&["push", "retry", &task, "default"]).await.ok().says(&["default is tried again"]);
    tenant.pleat(&["push", "retry", &task, "none"]).await.failed(1).says(&["push configuration not found"]);
    tenant.pleat(&["push", "deliveries", "--state", "lost"]).await.failed(2).says(&["delivered", "retrying", "dead"]);
    let key = tenant.pleat(&["push", "key"]).await.ok().stdout;
    assert!(key.trim_end().starts_with("whsec_") && key.lines().count() == 1, "{key}");
    assert_eq!(tenant.pleat(&["push", "key", "--json"]).await.ok().json()["key"], key.trim_end());
}
