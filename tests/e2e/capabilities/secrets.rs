//! Secrets: written, never read back, in force at once, sealed where they lie.

use reqwest::Method;
use serde_json::json;
use sqlx::{Connection, PgConnection};

use crate::harness::{TestServer, database};
use pleat_store::StoreConfig;

const SECRETS: &str = "/tenants/acme/secrets";
const VALUE: &str = "hunter2-and-then-some";

#[tokio::test]
async fn a_new_value_counts_from_the_next_call_on_without_a_deploy() {
    let server = TestServer::with_reach().await;
    let ask = json!({ "do": "secret", "name": "API_KEY" });
    assert_eq!(server.reach_fails(ask.clone()).await.0, "not_found");
    for turn in 0..20 {
        let value = format!("value {turn} é\n\u{1F511}");
        assert_eq!(server.put("/secrets/API_KEY", &value).await.0, 204);
        assert_eq!(server.reach(ask.clone()).await, json!(value));
    }
    assert_eq!(server.api(Method::DELETE, &format!("{SECRETS}/API_KEY"), &server.deploy, None).await.0, 204);
    assert_eq!(server.reach_fails(ask).await.0, "not_found");
    let gone = server.api(Method::DELETE, &format!("{SECRETS}/API_KEY"), &server.deploy, None).await;
    assert_eq!((gone.0, &gone.1["error"]["message"]), (404, &json!("there is no secret `API_KEY`")));
}

#[tokio::test]
async fn another_node_has_the_new_value_within_a_second() {
    let url = database().await;
    let first = TestServer::start_on(StoreConfig::new(url.as_str()), |_| {}, |_| {}).await;
    let second = TestServer::start_on(StoreConfig::new(url.as_str()), |_| {}, |_| {}).await;
    first.deploy_reach("&grant=all").await;
    let ask = json!({ "do": "secret", "name": "API_KEY" });
    first.put("/secrets/API_KEY", "old").await;
    assert_eq!(second.reach(ask.clone()).await, "old");
    first.put("/secrets/API_KEY", "new").await;
    let changed = std::time::Instant::now();
    while second.reach(ask.clone()).await != "new" {
        assert!(changed.elapsed() < std::time::Duration::from_secs(5), "the other node goes on with the old value");
    }
}

#[tokio::test]
async fn nothing_but_a_function_ever_gets_the_value() {
    let url = database().await;
    let server = TestServer::start_on(StoreConfig::new(url.as_str()), |_| {}, |_| {}).await;
    server.deploy_reach("&grant=all").await;
    server.put("/secrets/API_KEY", VALUE).await;
    assert_eq!(server.reach(json!({ "do": "secret", "name": "API_KEY" })).await, VALUE);
    let (status, list) = server.api(Method::GET, SECRETS, &server.deploy, None).await;
    assert_eq!(status, 200);
    let secret = &list["secrets"][0];
    assert_eq!((&secret["name"], &secret["length"]), (&json!("API_KEY"), &json!(VALUE.len())), "{list}");
    assert_eq!(secret.as_object().unwrap().len(), 4, "name, length, when and by whom: {secret}");
    let (status, answer) = server.api(Method::GET, &format!("{SECRETS}/API_KEY"), &server.admin, None).await;
    assert_eq!(status, 405, "there is no way to read one: {answer}");

    // What lies in the database is of no use without the master key, nor in another row.
    let mut outside = PgConnection::connect(&url).await.unwrap();
    let sealed: Vec<u8> = sqlx::query_scalar("SELECT sealed FROM secrets").fetch_one(&mut outside).await.unwrap();
    assert_eq!(sealed.len(), 1 + 12 + VALUE.len() + 16, "key version, nonce, ciphertext, tag");
    assert!(!sealed.windows(4).any(|window| VALUE.as_bytes().starts_with(window)));
    server.put("/secrets/API_KEY", VALUE).await;
    let again: Vec<u8> = sqlx::query_scalar("SELECT sealed FROM secrets").fetch_one(&mut outside).await.unwrap();
    assert_ne!(sealed, again, "the same value is never sealed to the same bytes");
    sqlx::raw_sql(
        "INSERT INTO secrets (tenant_id, name, sealed, length, updated_by)
         SELECT tenant_id, 'OTHER_KEY', sealed, length, updated_by FROM secrets",
    )
    .execute(&mut outside)
    .await
    .unwrap();
    let moved = server.reach_fails(json!({ "do": "secret", "name": "OTHER_KEY" })).await;
    assert_eq!(moved.0, "unavailable", "a secret that was copied to another name does not open: {moved:?}");
}

#[tokio::test]
async fn another_tenants_secret_of_the_same_name_is_another_secret() {
    let server = TestServer::with_reach().await;
    let other = server.other_tenant("other").await;
    let body = Some(json!({ "value": "theirs" }));
    assert_eq!(server.api(Method::PUT, "/tenants/other/secrets/API_KEY", &other, body).await.0, 204);
    assert_eq!(server.reach_fails(json!({ "do": "secret", "name": "API_KEY" })).await.0, "not_found");
    let (_, list) = server.api(Method::GET, SECRETS, &server.deploy, None).await;
    assert_eq!(list["secrets"], json!([]));
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused_without_being_quoted() {
    let server = TestServer::start().await;
    let most = "x".repeat(64 * 1024);
    assert_eq!(server.put("/secrets/BIG", &most).await.0, 204);
    let quotes = "\u{1}".repeat(64 * 1024);
    assert_eq!(server.put("/secrets/BIG", &quotes).await.0, 204, "however long its JSON is");
    for (name, value, words) in [
        ("BIG", format!("{VALUE}{most}"), "the value has 65557 bytes; the most is 65536"),
        ("NUL", format!("{VALUE}\0"), "U+0000"),
        ("a-b", VALUE.to_owned(), "`a-b` cannot name a secret"),
        ("1A", VALUE.to_owned(), "`1A` cannot name a secret"),
        (&"N".repeat(129), VALUE.to_owned(), "cannot name a secret"),
    ] {
        let (status, answer) = server.put(&format!("/secrets/{name}"), &value).await;
        let text = answer.to_string();
        assert_eq!((status, &answer["error"]["code"]), (400, &json!("invalid")), "{name}");
        assert!(text.contains(words) && !text.contains(VALUE), "{name}: {text}");
    }
    for body in
        [json!({ "value": 1 }), json!({ "valeu": VALUE }), json!({ "value": VALUE, "x": VALUE }), json!([VALUE])]
    {
        let (status, answer) = server.api(Method::PUT, &format!("{SECRETS}/A"), &server.deploy, Some(body)).await;
        assert!(status == 400 && !answer.to_string().contains(VALUE), "{answer}");
    }
}

#[tokio::test]
async fn a_tenant_has_at_most_two_hundred() {
    let server = TestServer::start().await;
    for number in 0..200 {
        assert_eq!(server.put(&format!("/secrets/N{number}"), "x").await.0, 204);
    }
    let (status, answer) = server.put("/secrets/ONE_MORE", "x").await;
    assert_eq!(status, 400, "{answer}");
    assert_eq!(answer["error"]["message"], "a tenant has at most 200 of these; remove one first");
    assert_eq!(server.put("/secrets/N7", "y").await.0, 204, "one that is there can be replaced");
}

#[tokio::test]
async fn the_log_says_that_a_secret_was_set_and_not_what() {
    // The functions' own logs and tasks: the guest does not repeat it, so that nothing else may.
    let server = TestServer::with_reach().await;
    server.put("/secrets/API_KEY", VALUE).await;
    server.reach(json!({ "do": "call", "skill": "reach", "input": { "do": "context" } })).await;
    for path in ["/tenants/acme/tasks", "/tenants/acme/logs", "/tenants/acme/functions/reach"] {
        let (status, answer) = server.api(Method::GET, path, &server.admin, None).await;
        assert!(status == 200 && !answer.to_string().contains(VALUE), "{path}: {answer}");
    }
}
