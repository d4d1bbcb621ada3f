//! Sessions: whose they are, where they are known, and how they end.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use sqlx::Connection;

use super::{Client, initialize_params};
use crate::harness::{TestServer, read};

/// Another tenant's and another caller's session answer like one that never was, byte for byte.
#[tokio::test]
async fn a_session_is_known_to_its_tenant_and_its_caller_only() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let other = server.other_tenant("other").await;
    let query = "/api/v1/tenants/other/functions?fileName=echo.wasm&name=echo&visibility=public";
    let deploy = server.client.post(format!("{}{query}", server.url)).bearer_auth(&other);
    assert_eq!(deploy.body(crate::harness::fixture("echo.wasm")).send().await.unwrap().status(), 201);
    let mine = Client::open_as(&server, &server.invoke).await;
    let there = format!("{}/t/other/mcp", server.url);
    let (status, made_up) = read(
        Client { session: "0".repeat(32), ..mine.clone() }
            .post(mine.body(1, "tools/list", json!({})))
            .send()
            .await
            .unwrap(),
    )
    .await;
    assert_eq!((status, &made_up["error"]["code"]), (404, &json!(-32001)), "{made_up}");
    for (url, key) in [
        (there.as_str(), ""),
        (there.as_str(), other.as_str()),
        (mine.url.as_str(), ""),
        (mine.url.as_str(), server.admin.as_str()),
    ] {
        let thief = Client { url: url.to_owned(), key: key.to_owned(), ..mine.clone() };
        for request in [
            thief.post(thief.body(1, "tools/list", json!({}))),
            thief.get(),
            thief.headers(thief.http.request(Method::DELETE, &thief.url)),
        ] {
            let (status, answer) = read(request.send().await.unwrap()).await;
            assert_eq!(status, 404, "{url}");
            assert_eq!(answer["error"], made_up["error"], "{url}");
        }
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(thief.send(ready).await, 404);
    }
    assert!(mine.result("tools/list", json!({})).await["tools"].is_array(), "it still is its caller's");
    // A tenant's session is none at the operators' door.
    let control = Client { url: format!("{}/mcp", server.url), key: server.admin.clone(), ..mine };
    assert_eq!(control.post(control.body(1, "tools/list", json!({}))).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_session_is_good_at_every_node_until_it_is_ended_at_any() {
    let database = crate::harness::database().await;
    let store = || pleat_store::StoreConfig::new(database.clone());
    let server = TestServer::start_on(store(), |_| {}, |_| {}).await;
    let other = TestServer::start_on(store(), |_| {}, |_| {}).await;
    server.deploy_echo().await;
    let here = Client::open(&server, json!({})).await;
    let there = Client { url: format!("{}/mcp", other.tenant_url()), ..here.clone() };
    assert_eq!(there.call("echo", json!({ "a": 1 })).await["content"][0]["text"], r#"{"a":1}"#);
    let ended = there.headers(there.http.request(Method::DELETE, &there.url)).send().await.unwrap();
    assert_eq!(ended.status(), 204);
    let gone = async { while here.post(here.body(1, "ping", json!({}))).send().await.unwrap().status() != 404 {} };
    tokio::time::timeout(Duration::from_secs(3), gone).await.expect("the other node hears of it");
}

#[tokio::test]
async fn sessions_expire_quickly_before_and_slowly_after_the_handshake() {
    let limits = |config: &mut pleat_engine::EngineConfig| {
        config.sessions.handshake = Duration::from_millis(300);
        config.sessions.idle = Duration::from_secs(3);
    };
    let server = TestServer::start_with(limits, |_| {}).await;
    server.deploy_echo().await;
    let url = format!("{}/mcp", server.tenant_url());
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-11-25", json!({})) });
    let response = server.client.post(&url).json(&body).send().await.unwrap();
    let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let finished = Client::open(&server, json!({})).await;
    let begun = Client { session, ..finished.clone() };
    assert_eq!(begun.ask("ping", json!({})).await["result"], json!({}));
    tokio::time::sleep(Duration::from_millis(700)).await;
    let answer = begun.ask("ping", json!({})).await;
    assert_eq!(answer["error"]["code"], -32001, "the handshake was never finished: {answer}");
    // Being used keeps it alive for longer than it may lie idle.
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(finished.ask("ping", json!({})).await["result"], json!({}));
    }
    tokio::time::sleep(Duration::from_millis(3_300)).await;
    assert_eq!(finished.ask("ping", json!({})).await["error"]["code"], -32001);
}

/// What a client says of itself may be megabytes; what is kept of it is what is read of it.
#[tokio::test]
async fn what_a_session_keeps_of_its_client_is_small() {
    let database = crate::harness::database().await;
    let server = TestServer::start_on(pleat_store::StoreConfig::new(database.clone()), |_| {}, |_| {}).await;
    server.deploy_echo().await;
    let wide = json!({ "elicitation": {}, "experimental": { "x": "y".repeat(1_000_000) } });
    let client = Client::open(&server, wide).await;
    let long = format!("a2a://task/{}", "1".repeat(2_048));
    let refused = client.ask("resources/subscribe", json!({ "uri": long })).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("2048"), "{refused}");
    let modern = super::Modern::new(&server, json!({}));
    let wanted = json!({ "notifications": { "resourceSubscriptions": [long] } });
    assert_eq!(modern.ask("subscriptions/listen", wanted).await.1["error"]["code"], -32602);
    let mut outside = sqlx::PgConnection::connect(&database).await.unwrap();
    let kept: String =
        sqlx::query_scalar("SELECT capabilities::text FROM mcp_sessions").fetch_one(&mut outside).await.unwrap();
    assert_eq!(kept, r#"{"elicitation":{}}"#);
}

#[tokio::test]
async fn a_caller_has_so_many_sessions_and_a_tenant_so_many_in_all() {
    let limits = |config: &mut pleat_engine::EngineConfig| {
        config.sessions.per_caller = 3;
        config.sessions.per_tenant = 4;
    };
    let server = TestServer::start_with(limits, |_| {}).await;
    server.deploy_echo().await;
    let mut mine = Vec::new();
    for _ in 0..4 {
        mine.push(Client::open_as(&server, &server.invoke).await);
    }
    assert_eq!(mine[0].ask("ping", json!({})).await["error"]["code"], -32001, "the oldest made room");
    assert_eq!(mine[3].ask("ping", json!({})).await["result"], json!({}));
    let _fourth = Client::open(&server, json!({})).await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-11-25", json!({})) });
    let response = server.client.post(&mine[0].url).json(&body).send().await.unwrap();
    assert!(response.headers().contains_key("retry-after"));
    let (status, answer) = read(response).await;
    assert_eq!(
        (status, &answer["error"]["code"], &answer["error"]["data"]["limit"]),
        (429, &json!(-32051), &json!("sessions")),
        "{answer}"
    );
}
