//! Sessions that nobody ends cost nothing that lasts.

use std::time::Duration;

use futures::StreamExt;
use pleat_store::StoreConfig;
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::{Client, initialize_params};
use crate::harness::TestServer;

/// Opened and abandoned, over and over: the table stays within its bounds, and so does what a node remembers.
#[tokio::test]
async fn ten_thousand_abandoned_sessions_leave_nothing_behind() {
    let limits = |config: &mut pleat_engine::EngineConfig| {
        config.sessions.per_caller = 500;
        config.sessions.handshake = Duration::from_secs(2);
        config.plans = pleat_domain::Plans::generous();
    };
    let database = crate::harness::database().await;
    // More than one address may send without a key.
    let unlimited = |gateway: &mut pleat_gateway::GatewayConfig| gateway.strangers.per_minute = 0;
    let server = TestServer::start_on(StoreConfig::new(database.clone()), limits, unlimited).await;
    let mut outside = PgConnection::connect(&database).await.unwrap();
    server.deploy_echo().await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-11-25", json!({})) });
    let url = format!("{}/mcp", server.tenant_url());
    let open = async |_: u32| {
        let response = server.client.post(&url).json(&body).send().await.unwrap();
        let session = response.headers().get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
        match session {
            Some(session) => session,
            None => panic!("{}", response.text().await.unwrap()),
        }
    };
    let sessions: Vec<String> = futures::stream::iter(0..10_000).map(open).buffer_unordered(16).collect().await;
    assert_eq!(sessions.iter().collect::<std::collections::HashSet<_>>().len(), 10_000);
    let mut kept = async || -> i64 {
        sqlx::query_scalar("SELECT count(*) FROM mcp_sessions").fetch_one(&mut outside).await.unwrap()
    };
    let alive = kept().await;
    assert!((1..=520).contains(&alive), "{alive} sessions are kept");
    tokio::time::sleep(Duration::from_millis(2_200)).await;
    server.store.maintain(time::OffsetDateTime::now_utc()).await.unwrap();
    assert_eq!(kept().await, 0);
}

/// The same with clients that finish the handshake, subscribe, listen, and never say that they leave.
#[tokio::test]
async fn abandoned_sessions_take_their_streams_and_subscriptions_with_them() {
    let limits = |config: &mut pleat_engine::EngineConfig| {
        config.sessions.per_caller = 20;
        config.sessions.idle = Duration::from_secs(4);
    };
    let database = crate::harness::database().await;
    let server = TestServer::start_on(StoreConfig::new(database.clone()), limits, |_| {}).await;
    let mut outside = PgConnection::connect(&database).await.unwrap();
    server.deploy_echo().await;
    let first = Client::open(&server, json!({})).await;
    let called = first.call("echo", json!({ "a": 1 })).await;
    let uri = format!("a2a://task/{}", called["_meta"]["pleat/taskId"].as_str().unwrap());
    let mut abandoned = Vec::new();
    for _ in 0..60 {
        let client = Client::open(&server, json!({})).await;
        client.result("resources/subscribe", json!({ "uri": uri })).await;
        abandoned.push(client.get().send().await.unwrap());
    }
    let mut kept = async |table: &str| -> i64 {
        let count = format!("SELECT count(*) FROM {table}");
        sqlx::query_scalar(sqlx::AssertSqlSafe(count)).fetch_one(&mut outside).await.unwrap()
    };
    for (table, most) in [("mcp_sessions", 20), ("mcp_streams", 20), ("mcp_told", 40)] {
        let rows = kept(table).await;
        assert!((1..=most).contains(&rows), "{table}: {rows}");
    }
    drop(abandoned);
    tokio::time::sleep(Duration::from_millis(4_200)).await;
    server.store.maintain(time::OffsetDateTime::now_utc()).await.unwrap();
    for table in ["mcp_sessions", "mcp_streams", "mcp_told", "mcp_calls"] {
        assert_eq!(kept(table).await, 0, "{table}");
    }
}
