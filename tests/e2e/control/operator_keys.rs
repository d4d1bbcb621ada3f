//! Keys of operators, and who cannot lock whom out.

use std::time::Duration;

use pleat_store::StoreConfig;
use reqwest::Method;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::refused;
use crate::harness::{TestServer, database};

async fn operator_key(server: &TestServer, wish: Value) -> (String, String) {
    let (status, key) = server.api(Method::POST, "/operator-keys", &server.operator, Some(wish)).await;
    assert_eq!(status, 201, "{key}");
    (key["id"].as_str().unwrap().to_owned(), key["key"].as_str().unwrap().to_owned())
}

async fn id_of(server: &TestServer, key: &str) -> String {
    let (status, who) = server.api(Method::GET, "/whoami", key, None).await;
    assert_eq!(status, 200, "{who}");
    who["key"].as_str().unwrap().to_owned()
}

async fn works(server: &TestServer, key: &str) -> bool {
    server.api(Method::GET, "/tenants", key, None).await.0 == 200
}

#[tokio::test]
async fn a_revoked_operator_key_ends_at_every_node_within_two_seconds() {
    let store = StoreConfig::new(database().await);
    let server = TestServer::start_on(store.clone(), |_| {}, |_| {}).await;
    let second = TestServer::start_on(store, |_| {}, |_| {}).await;
    let (id, key) = operator_key(&server, json!({ "label": "ada" })).await;
    assert!(works(&server, &key).await && works(&second, &key).await);
    let (status, _) = server.api(Method::DELETE, &format!("/operator-keys/{id}"), &server.operator, None).await;
    assert_eq!(status, 204);
    assert!(!works(&server, &key).await, "at the node that revokes it is at once");
    tokio::time::timeout(Duration::from_secs(2), async {
        while works(&second, &key).await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .expect("the other node has heard of it");
    let (_, list) = server.api(Method::GET, "/operator-keys", &server.operator, None).await;
    assert!(!list.to_string().contains("plt_"), "{list}");
}

#[tokio::test]
async fn the_last_operator_key_is_revoked_by_force_only_and_not_brought_back() {
    let server = TestServer::start().await;
    let first = id_of(&server, &server.operator).await;
    let path = format!("/operator-keys/{first}");
    let answer = server.refusal(Method::DELETE, &path, &server.operator, None).await;
    assert_eq!(answer, refused(409, "last_key"));
    let (_, second) = operator_key(&server, json!({})).await;
    assert_eq!(server.api(Method::DELETE, &path, &second, None).await.0, 204);
    assert!(!works(&server, &server.operator).await);
    assert!(server.engine.first_operator_key().await.unwrap().is_none(), "a restart does not bring it back");
    let forced = format!("/operator-keys/{}?force=true", id_of(&server, &second).await);
    assert_eq!(server.api(Method::DELETE, &forced, &second, None).await.0, 204);
    assert!(!works(&server, &second).await);
    let master = pleat_engine::MasterKey::from_bytes([7; 32]);
    let recovered = pleat_engine::recover_operator_key(&server.store, &master).await.unwrap();
    assert!(works(&server, &recovered.text).await);
    let (_, log) = server.api(Method::GET, "/audit?action=operator_key.recover", &recovered.text, None).await;
    assert_eq!(log["entries"][0]["actor"]["kind"], "local", "{log}");
}

#[tokio::test]
async fn a_rotated_operator_key_has_a_successor_that_servers_know() {
    let server = TestServer::start().await;
    let first = id_of(&server, &server.operator).await;
    let path = format!("/operator-keys/{first}/rotate");
    let (status, new) = server.api(Method::POST, &path, &server.operator, None).await;
    assert_eq!(status, 201, "{new}");
    let new = new["key"].as_str().unwrap();
    assert!(!works(&server, &server.operator).await && works(&server, new).await);
    assert_eq!(server.engine.first_operator_key().await.unwrap().unwrap().text, new);
}

#[tokio::test]
async fn an_expired_operator_key_is_refused() {
    let server = TestServer::start().await;
    let soon = (OffsetDateTime::now_utc() + time::Duration::milliseconds(1_500)).format(&Rfc3339).unwrap();
    let (_, key) = operator_key(&server, json!({ "expiresAt": soon })).await;
    assert!(works(&server, &key).await);
    tokio::time::sleep(Duration::from_millis(1_600)).await;
    assert!(!works(&server, &key).await);
}

#[tokio::test]
async fn the_last_admin_key_of_a_tenant_is_revoked_by_force_only_and_an_operator_recovers() {
    let server = TestServer::start().await;
    let other = server.other_tenant("other").await;
    let path = format!("/tenants/other/keys/{}", id_of(&server, &other).await);
    let answer = server.refusal(Method::DELETE, &path, &other, None).await;
    assert_eq!(answer, refused(409, "last_key"));
    assert_eq!(server.api(Method::DELETE, &format!("{path}?force=true"), &other, None).await.0, 204);
    let recovery = "/tenants/other/recovery-key";
    let (status, key) = server.api(Method::POST, recovery, &server.operator, None).await;
    assert_eq!(status, 201, "{key}");
    let key = key["key"].as_str().unwrap();
    let (_, log) = server.api(Method::GET, "/tenants/other/audit?action=tenant.recover_key", key, None).await;
    assert_eq!(log["entries"][0]["actor"]["kind"], "operator", "the tenant sees it: {log}");
}

#[tokio::test]
async fn of_two_admins_that_revoke_each_other_exactly_one_wins() {
    let server = TestServer::start().await;
    for round in 0..10 {
        let slug = format!("race-{round}");
        let one = server.other_tenant(&slug).await;
        let keys = format!("/tenants/{slug}/keys");
        let wish = json!({ "scopes": ["admin"] });
        let (_, two) = server.api(Method::POST, &keys, &one, Some(wish)).await;
        let (one_path, two_path) =
            (format!("{keys}/{}", id_of(&server, &one).await), format!("{keys}/{}", two["id"].as_str().unwrap()));
        let (first, second) = tokio::join!(
            server.api(Method::DELETE, &two_path, &one, None),
            server.api(Method::DELETE, &one_path, two["key"].as_str().unwrap(), None),
        );
        let won = [first.0, second.0].iter().filter(|status| **status == 204).count();
        assert_eq!(won, 1, "{first:?} {second:?}");
    }
}
