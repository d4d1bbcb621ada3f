//! A client that has read the card, and nothing else, makes its first call through the MCP door.

use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::{card_for, deploy};
use crate::harness::{TestServer, frames};

/// Sends a request of the card as it stands there, but for what the client has to fill in.
async fn send(server: &TestServer, url: &str, request: &Value, session: Option<&str>) -> Response {
    let method = Method::from_bytes(request["method"].as_str().unwrap().as_bytes()).unwrap();
    let mut sent = server.client.request(method, url);
    for (name, value) in request["headers"].as_object().unwrap() {
        let value = match value.as_str().unwrap() {
            "<value-from-initialize-response>" => session.expect("a session"),
            "Bearer <your-key>" => &format!("Bearer {}", server.invoke),
            other => other,
        };
        assert!(!value.contains('<'), "{name}: {value}");
        sent = sent.header(name, value);
    }
    if let Some(body) = request.get("body") {
        sent = sent.body(body.to_string().replace("<your-agent-name>", "test"));
    }
    sent.send().await.unwrap()
}

/// An answer as JSON or as the first event of a stream: the card lets the server choose.
async fn answer(response: Response) -> Value {
    let status = response.status();
    let streamed = response.headers()["content-type"].to_str().unwrap().starts_with("text/event-stream");
    let text = response.text().await.unwrap();
    assert_eq!(status, 200, "{text}");
    if streamed {
        let last = frames(&text).into_iter().rfind(|frame| frame.data.get("result").is_some());
        return last.unwrap_or_else(|| panic!("{text}")).data;
    }
    serde_json::from_str(&text).unwrap()
}

async fn deployed(visibility: &str) -> TestServer {
    let server = TestServer::start().await;
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let manifest = json!({ "description": "d", "input": schema, "examples": [{ "city": "Rome" }] });
    deploy(&server, "weather", visibility, manifest).await;
    server
}

fn protocol(card: &Value, id: &str) -> Value {
    let transport = card.get("transport").unwrap_or(&card["capabilities"]["extensions"][0]["params"]);
    let protocols = transport["protocols"].as_array().unwrap();
    protocols.iter().find(|protocol| protocol["id"] == id).unwrap_or_else(|| panic!("{card}")).clone()
}

fn tools(listed: &Value) -> Vec<&str> {
    listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn with_a_session() {
    for (visibility, version) in [("public", ""), ("listed", ""), ("public", "1.0")] {
        let server = deployed(visibility).await;
        let mcp = protocol(&card_for(&server, version).await, "mcp-streamable-http");
        let (url, handshake) = (mcp["url"].as_str().unwrap(), &mcp["handshake"]);
        let response = send(&server, url, handshake, None).await;
        let header = handshake["responseSessionHeader"]["name"].as_str().unwrap();
        let session = response.headers()[header].to_str().unwrap().to_owned();
        let begun = answer(response).await;
        assert_eq!(begun["result"]["protocolVersion"], mcp["protocolVersions"][0], "{begun}");
        let noted = send(&server, url, &handshake["postInitializeNotification"], Some(&session)).await;
        assert_eq!(noted.status(), 202);
        let listed = answer(send(&server, url, &handshake["exampleNextCall"], Some(&session)).await).await;
        assert_eq!(tools(&listed), ["weather"]);
        let called = answer(send(&server, url, &handshake["exampleToolCall"], Some(&session)).await).await;
        assert_eq!(called["result"]["content"][0]["text"], "1", "{called}");
        let ended = send(&server, url, &handshake["endOfSession"], Some(&session)).await;
        assert!(ended.status().is_success(), "{ended:?}");
    }
}

#[tokio::test]
async fn without_a_session() {
    for visibility in ["public", "listed"] {
        let server = deployed(visibility).await;
        let mcp = protocol(&card_for(&server, "").await, "mcp-streamable-http-stateless");
        let (url, handshake) = (mcp["url"].as_str().unwrap(), &mcp["handshake"]);
        let discovered = answer(send(&server, url, handshake, None).await).await;
        let versions = discovered["result"]["supportedVersions"].as_array().unwrap();
        assert!(versions.contains(&mcp["protocolVersions"][0]), "{discovered}");
        let listed = answer(send(&server, url, &handshake["exampleNextCall"], None).await).await;
        assert_eq!(tools(&listed), ["weather"]);
        let called = answer(send(&server, url, &handshake["exampleToolCall"], None).await).await;
        assert_eq!(called["result"]["content"][0]["text"], "1", "{called}");
    }
}

/// Whoever begins with something else gets the answer that the card foretells, and finds the way from there.
#[tokio::test]
async fn whoever_comes_without_a_handshake_is_led_to_it() {
    let server = deployed("public").await;
    let card = card_for(&server, "").await;
    let mcp = protocol(&card, "mcp-streamable-http");
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list" });
    let request = server.client.post(mcp["url"].as_str().unwrap()).json(&body);
    let request = request.header("accept", "application/json, text/event-stream");
    let answer: Value = request.send().await.unwrap().json().await.unwrap();
    let foretold = &mcp["errorShape"]["missingInitialize"]["error"];
    assert_eq!(&answer["error"], foretold);
    let recipe = answer["error"]["data"]["recipeUrl"].as_str().unwrap();
    let (url, pointer) = recipe.split_once('#').unwrap();
    let found: Value = server.client.get(url).send().await.unwrap().json().await.unwrap();
    assert_eq!(found.pointer(pointer), Some(&mcp["handshake"]));
}
