//! The session era's beginning, and the client that does not know how to begin.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Client, initialize_params};
use crate::harness::{TestServer, read};

#[tokio::test]
async fn a_handshake_gets_the_version_it_asks_for_or_the_newest_that_has_one() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let url = format!("{}/mcp", server.tenant_url());
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("tomorrow", "2025-11-25"),
    ] {
        let client = Client::open_at(&server, &url, "", asked, json!({})).await;
        assert_eq!(client.version, given, "{asked}");
        assert_eq!(client.result("ping", json!({})).await, json!({}));
    }
}

#[tokio::test]
async fn the_handshake_says_what_there_is() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-11-25", json!({})) });
    let response = server.client.post(format!("{}/mcp", server.tenant_url())).json(&body).send().await.unwrap();
    let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    assert_eq!(session.len(), 32);
    let mut answer: Value = response.json().await.unwrap();
    answer["result"]["serverInfo"]["version"] = json!("#");
    insta::assert_json_snapshot!(answer);
}

/// The whole of what the invocation packet demands: the error leads back to the card.
#[tokio::test]
async fn a_client_that_begins_in_the_middle_is_shown_the_way() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let body = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/list" });
    let response = server.client.post(format!("{}/mcp", server.tenant_url())).json(&body).send().await.unwrap();
    let (status, answer) = read(response).await;
    assert_eq!(status, 400);
    let recipe = format!("{}/.well-known/agent-card.json#/transport/protocols/0/handshake", server.tenant_url());
    let error = json!({
        "code": -32600,
        "message": "Invalid Request: server must receive a JSON-RPC 'initialize' before any other method.",
        "data": { "expectedMethod": "initialize", "transport": "streamable-http", "recipeUrl": recipe },
    });
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 9, "error": error }));
}

#[tokio::test]
async fn a_session_ends_when_it_is_told_to() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let client = Client::open(&server, json!({})).await;
    let ended = client.headers(client.http.request(Method::DELETE, &client.url)).send().await.unwrap();
    assert_eq!(ended.status(), 204);
    let response = client.post(client.body(1, "ping", json!({}))).send().await.unwrap();
    let (status, answer) = read(response).await;
    assert_eq!((status, &answer["error"]["code"]), (404, &json!(-32001)), "{answer}");
    let again = client.headers(client.http.request(Method::DELETE, &client.url)).send().await.unwrap();
    assert_eq!(again.status(), 404);
}

#[tokio::test]
async fn only_the_version_that_has_batches_takes_them() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let url = format!("{}/mcp", server.tenant_url());
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        { "jsonrpc": "2.0", "method": "notifications/roots/list_changed" },
        { "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "echo", "arguments": { "a": 1 } } },
        { "jsonrpc": "2.0", "id": 3, "method": "no/such" },
    ]);
    let old = Client::open_at(&server, &url, "", "2025-03-26", json!({})).await;
    let (status, answers) = read(old.post(batch.clone()).send().await.unwrap()).await;
    assert_eq!(status, 200);
    let ids: Vec<_> = answers.as_array().unwrap().iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [1, 2, 3]);
    assert_eq!(answers[1]["result"]["content"][0]["text"], r#"{"a":1}"#);
    assert_eq!(answers[2]["error"]["code"], -32601);
    let new = Client::open(&server, json!({})).await;
    let (status, answer) = read(new.post(batch).send().await.unwrap()).await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32600)), "{answer}");
}
