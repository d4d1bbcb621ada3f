//! Settings: plain values, for all functions that were granted them.

use reqwest::Method;
use serde_json::json;

use crate::harness::TestServer;

#[tokio::test]
async fn a_setting_is_set_listed_used_and_removed() {
    let server = TestServer::with_reach().await;
    let ask = json!({ "do": "config", "name": "REGION" });
    assert_eq!(server.reach(ask.clone()).await, json!(null));
    assert_eq!(server.put("/settings/REGION", "eu-west").await.0, 204);
    assert_eq!(server.reach(ask.clone()).await, "eu-west");
    assert_eq!(server.put("/settings/REGION", "").await.0, 204);
    assert_eq!(server.reach(ask.clone()).await, "");
    let (_, list) = server.api(Method::GET, "/tenants/acme/settings", &server.read, None).await;
    assert_eq!((&list["settings"][0]["name"], &list["settings"][0]["value"]), (&json!("REGION"), &json!("")));
    assert_eq!(server.api(Method::DELETE, "/tenants/acme/settings/REGION", &server.deploy, None).await.0, 204);
    assert_eq!(server.reach(ask).await, json!(null));
    assert_eq!(server.api(Method::DELETE, "/tenants/acme/settings/REGION", &server.deploy, None).await.0, 404);
}

#[tokio::test]
async fn a_secret_is_no_setting_and_a_setting_is_no_secret() {
    let server = TestServer::with_reach().await;
    server.put("/secrets/REGION", "secret").await;
    server.put("/settings/API_KEY", "plain").await;
    assert_eq!(server.reach(json!({ "do": "config", "name": "REGION" })).await, json!(null));
    assert_eq!(server.reach_fails(json!({ "do": "secret", "name": "API_KEY" })).await.0, "not_found");
    assert_eq!(server.reach(json!({ "do": "config", "name": "API_KEY" })).await, json!(null), "it was not granted");
}
