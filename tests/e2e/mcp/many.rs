//! Sessions that nobody ends cost nothing that lasts.

use std::time::Duration;

use futures::StreamExt;
use pleat_store::StoreConfig;
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::initialize_params;
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
    let server = TestServer::start_on(StoreConfig::new(database.clone()), limits, |_| {}).await;
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
