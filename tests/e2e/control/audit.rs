//! The audit log: what it says and what it does not, who reads it, its pages, and how long rows are kept.

use pleat_store::StoreConfig;
use reqwest::Method;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::refused;
use crate::harness::{TestServer, database, fixture};

async fn entries(server: &TestServer, key: &str, path: &str) -> Vec<Value> {
    let (status, log) = server.api(Method::GET, path, key, None).await;
    assert_eq!(status, 200, "{log}");
    log["entries"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_change_is_told_with_actor_target_and_details_and_never_with_a_secret() {
    let server = TestServer::start().await;
    let value = json!({ "value": "hunter2-hunter2" });
    let (status, _) = server.api(Method::PUT, "/tenants/acme/secrets/TOKEN", &server.deploy, Some(value)).await;
    assert_eq!(status, 204);
    let (status, _) =
        server.api(Method::PUT, "/tenants/acme/plan", &server.operator, Some(json!({ "plan": "unlimited" }))).await;
    assert_eq!(status, 200);
    let (_, who) = server.api(Method::GET, "/whoami", &server.deploy, None).await;
    let rows = entries(&server, &server.admin, "/tenants/acme/audit").await;
    let plan = &rows[0];
    assert_eq!((&plan["action"], &plan["actor"]["kind"]), (&json!("tenant.plan"), &json!("operator")), "{plan}");
    assert_eq!(plan["details"]["to"], "unlimited", "{plan}");
    let secret = &rows[1];
    assert_eq!(secret["action"], "secret.set");
    assert_eq!(secret["actor"]["id"], who["key"]);
    assert_eq!(secret["target"], json!({ "kind": "secret", "name": "TOKEN" }));
    assert_eq!(secret["client"]["address"], "127.0.0.1");
    let all = Value::from(rows).to_string();
    assert!(!all.contains("hunter2") && !all.contains("plt_"), "{all}");
}

#[tokio::test]
async fn a_deploy_that_changes_grants_and_visibility_has_rows_for_both() {
    let server = TestServer::start().await;
    server.deploy("minimal.wat", fixture("minimal.wat"), "&name=one&visibility=public").await;
    let rows = entries(&server, &server.admin, "/tenants/acme/audit?target=one").await;
    let actions: Vec<&str> = rows.iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["function.visibility", "function.deploy"], "{rows:?}");
    assert_eq!(rows[0]["details"], json!({ "from": "listed", "to": "public" }));
}

#[tokio::test]
async fn a_tenant_reads_its_own_rows_and_only_its_admin_does() {
    let server = TestServer::start().await;
    let other = server.other_tenant("other").await;
    let rows = entries(&server, &other, "/tenants/other/audit").await;
    assert!(!rows.is_empty() && rows.iter().all(|row| row["tenant"] == "other"), "{rows:?}");
    let denied = server.refusal(Method::GET, "/tenants/acme/audit", &server.deploy, None).await;
    assert_eq!(denied, refused(403, "forbidden"));
    let denied = server.refusal(Method::GET, "/audit", &server.admin, None).await;
    assert_eq!(denied, refused(403, "forbidden"));
    let rows = entries(&server, &server.operator, "/audit?tenant=other").await;
    assert!(rows.iter().all(|row| row["tenant"] == "other"), "{rows:?}");
    let rows = entries(&server, &server.operator, "/audit?platform=true").await;
    assert!(rows.iter().all(|row| row.get("tenant").is_none()), "{rows:?}");
}

#[tokio::test]
async fn pages_of_the_audit_log_follow_each_other_and_a_cursor_opens_no_other_list() {
    let server = TestServer::start().await;
    for number in 0..5 {
        let path = format!("/tenants/acme/settings/S{number}");
        let (status, _) = server.api(Method::PUT, &path, &server.deploy, Some(json!({ "value": "x" }))).await;
        assert_eq!(status, 204);
    }
    let path = "/tenants/acme/audit?action=setting.set&limit=2";
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let next = cursor.as_ref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let (_, page) = server.api(Method::GET, &format!("{path}{next}"), &server.admin, None).await;
        seen.extend(page["entries"].as_array().unwrap().iter().map(|row| row["target"]["name"].clone()));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(seen, ["S4", "S3", "S2", "S1", "S0"]);
    let cursor = cursor.unwrap();
    let other = format!("/tenants/acme/audit?limit=2&cursor={cursor}");
    let answer = server.refusal(Method::GET, &other, &server.admin, None).await;
    assert_eq!(answer, refused(400, "invalid"));
}

#[tokio::test]
async fn denied_attempts_are_recorded_up_to_60_a_minute() {
    let server = TestServer::start().await;
    for _ in 0..70 {
        server.api(Method::DELETE, "/tenants/acme/functions/none", &server.read, None).await;
    }
    let path = "/tenants/acme/audit?action=function.delete&limit=100";
    let rows = entries(&server, &server.admin, path).await;
    assert_eq!(rows.len(), 60);
    assert!(rows.iter().all(|row| row["outcome"] == "denied"));
}

#[tokio::test]
async fn rows_are_kept_for_audit_days_by_the_clock_of_the_database() {
    let store = StoreConfig { audit_days: 1, ..StoreConfig::new(database().await) };
    let server = TestServer::start_on(store.clone(), |_| {}, |_| {}).await;
    let count = async || entries(&server, &server.operator, "/audit?limit=100").await.len();
    let before = count().await;
    // A node whose clock is far ahead deletes nothing that is young.
    server.store.maintain(OffsetDateTime::now_utc() + time::Duration::days(3)).await.unwrap();
    assert_eq!(count().await, before);
    assert!(before > 0);
    let none = pleat_store::Store::open(StoreConfig { audit_days: 0, ..store }).await.unwrap();
    none.maintain(OffsetDateTime::now_utc()).await.unwrap();
    none.close().await;
    assert_eq!(count().await, 0);
}
