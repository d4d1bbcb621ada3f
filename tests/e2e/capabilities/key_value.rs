//! The key-value store as functions see it: shared in the tenant, unknown outside, limited.

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use crate::harness::{TestServer, database, fixture, read};
use pleat_store::StoreConfig;

#[tokio::test]
async fn values_outlive_the_call_and_are_shared_by_the_tenants_functions() {
    let server = TestServer::with_reach().await;
    server.deploy("reach.wasm", fixture("reach.wasm"), "&name=echo&visibility=public&grant=kv").await;
    assert_eq!(server.reach(json!({ "do": "get", "key": "k" })).await, json!(null));
    server.reach(json!({ "do": "set", "key": "k", "value": "v1" })).await;
    let (_, seen) = server.http("", "echo", json!({ "do": "get", "key": "k" })).await;
    assert_eq!(seen, "v1", "another function of the tenant");
    assert_eq!(server.reach(json!({ "do": "delete", "key": "k" })).await, true);
    assert_eq!(server.reach(json!({ "do": "delete", "key": "k" })).await, false);
    server.reach(json!({ "do": "set", "key": "k", "value": "v2", "ttl": 0 })).await;
    assert_eq!(server.reach(json!({ "do": "get", "key": "k" })).await, json!(null), "its time was up at once");
}

#[tokio::test]
async fn calls_that_add_at_the_same_time_lose_nothing() {
    let server = TestServer::with_reach().await;
    let add = || server.reach(json!({ "do": "increment", "key": "n", "delta": 2 }));
    let mut sums: Vec<i64> =
        futures::future::join_all((0..30).map(|_| add())).await.iter().filter_map(Value::as_i64).collect();
    sums.sort_unstable();
    assert_eq!(sums, (1..=30).map(|turn| turn * 2).collect::<Vec<_>>());
    server.reach(json!({ "do": "set", "key": "word", "value": "abc" })).await;
    let refused = server.reach_fails(json!({ "do": "increment", "key": "word", "delta": 1 })).await;
    assert_eq!(refused.1, "KvError::NotANumber");
}

#[tokio::test]
async fn a_flood_of_values_leaves_connections_to_everybody_else() {
    let url = database().await;
    let server = TestServer::start_on(StoreConfig::new(url.as_str()), |_| {}, |_| {}).await;
    server.deploy_reach("&grant=all").await;
    let add = || server.reach(json!({ "do": "increment", "key": "n", "delta": 1 }));
    add().await;
    let (mut holder, mut outside) =
        (PgConnection::connect(&url).await.unwrap(), PgConnection::connect(&url).await.unwrap());
    let mut held = holder.begin().await.unwrap();
    sqlx::query("SELECT FROM key_values FOR UPDATE").execute(&mut *held).await.unwrap();
    // Many more than there are connections, and each has to wait for the row.
    let flood = futures::future::join_all((0..20).map(|_| add()));
    let others = async {
        while waiting_for_locks(&mut outside).await == 0 {}
        let tasks = server.api(Method::GET, "/tenants/acme/tasks", &server.deploy, None);
        assert_eq!(tasks.await.0, 200);
        held.rollback().await.unwrap();
    };
    let (sums, ()) = futures::join!(flood, others);
    assert_eq!(sums.iter().filter_map(Value::as_i64).max(), Some(21));
}

async fn waiting_for_locks(connection: &mut PgConnection) -> i64 {
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    sqlx::query_scalar(waiting).fetch_one(connection).await.unwrap()
}

#[tokio::test]
async fn keys_are_listed_page_by_page() {
    let server = TestServer::with_reach().await;
    for number in 0..7 {
        server.reach(json!({ "do": "set", "key": format!("user/{number}"), "value": "x" })).await;
    }
    server.reach(json!({ "do": "set", "key": "other", "value": "x" })).await;
    let (mut keys, mut cursor) = (Vec::new(), json!(null));
    loop {
        let page = server.reach(json!({ "do": "list", "prefix": "user/", "cursor": cursor, "limit": 3 })).await;
        keys.extend(page["keys"].as_array().unwrap().iter().map(|key| key.as_str().unwrap().to_owned()));
        cursor = page["cursor"].clone();
        if cursor.is_null() {
            break;
        }
        assert!(!cursor.as_str().unwrap().contains("user"), "a cursor is opaque: {cursor}");
    }
    assert_eq!(keys, (0..7).map(|number| format!("user/{number}")).collect::<Vec<_>>());
    let bad = server.reach_fails(json!({ "do": "list", "prefix": "", "cursor": "nonsense!", "limit": 3 })).await;
    assert!(bad.1.contains("the cursor is not one that a list has given out"), "{bad:?}");
}

#[tokio::test]
async fn keys_and_values_have_their_sizes() {
    let server = TestServer::with_reach().await;
    let set = |key: String, bytes: usize| json!({ "do": "fill", "key": key, "bytes": bytes });
    server.reach(set("k".repeat(512), 64 * 1024)).await;
    assert_eq!(server.reach_fails(set("k".to_owned(), 64 * 1024 + 1)).await.1, "KvError::TooLarge");
    for key in ["k".repeat(513), String::new(), "a\nb".to_owned(), "a\0b".to_owned(), "\u{10ffff}".to_owned()] {
        let refused = server.reach_fails(set(key.clone(), 1)).await;
        assert!(refused.1.starts_with("KvError::InvalidKey"), "{key:?}: {refused:?}");
    }
}

#[tokio::test]
async fn a_tenants_share_is_used_up_and_can_be_freed() {
    let url = database().await;
    let server = TestServer::start_on(StoreConfig::new(url.as_str()), |_| {}, |_| {}).await;
    server.deploy_reach("&grant=all").await;
    server.reach(json!({ "do": "fill", "key": "a", "bytes": 1000 })).await;
    // As if 64 MiB less 1,000 bytes were there: filling them would take a thousand calls.
    let mut outside = PgConnection::connect(&url).await.unwrap();
    let fill = format!("UPDATE key_value_usage SET bytes = {}", (64 << 20) - 1_000);
    sqlx::raw_sql(sqlx::AssertSqlSafe(fill)).execute(&mut outside).await.unwrap();
    let refused = server.reach_fails(json!({ "do": "fill", "key": "b", "bytes": 1000 })).await;
    assert_eq!(refused.1, "KvError::QuotaExceeded");
    assert_eq!(server.reach(json!({ "do": "get", "key": "b" })).await, json!(null));
    server.reach(json!({ "do": "delete", "key": "a" })).await;
    server.reach(json!({ "do": "fill", "key": "b", "bytes": 1000 })).await;
}

#[tokio::test]
async fn another_tenant_sees_nothing() {
    let server = TestServer::with_reach().await;
    let other = server.other_tenant("other").await;
    let path = "/api/v1/tenants/other/functions?fileName=reach.wasm&name=reach&grant=all";
    let request = server.client.post(format!("{}{path}", server.url)).bearer_auth(&other).body(fixture("reach.wasm"));
    assert_eq!(request.send().await.unwrap().status(), 201);
    server.reach(json!({ "do": "set", "key": "k", "value": "mine" })).await;
    let theirs = async |input: Value| {
        let request = server.client.post(format!("{}/t/other/reach", server.url)).bearer_auth(&other).json(&input);
        read(request.send().await.unwrap()).await.1
    };
    assert_eq!(theirs(json!({ "do": "get", "key": "k" })).await, json!(null));
    assert_eq!(theirs(json!({ "do": "list", "prefix": "", "limit": 9 })).await["keys"], json!([]));
    assert_eq!(theirs(json!({ "do": "delete", "key": "k" })).await, false);
    theirs(json!({ "do": "set", "key": "k", "value": "theirs" })).await;
    assert_eq!(server.reach(json!({ "do": "get", "key": "k" })).await, "mine");
}
