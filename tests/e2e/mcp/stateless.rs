//! Requests that stand for themselves: what they must say, in their body and in their headers.

use reqwest::Method;
use serde_json::{Value, json};

use super::Modern;
use crate::harness::{TestServer, read};

#[tokio::test]
async fn a_server_says_what_it_is() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let (status, mut answer) = Modern::new(&server, json!({})).ask("server/discover", json!({})).await;
    assert_eq!(status, 200);
    answer["result"]["serverInfo"]["version"] = json!("#");
    answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["version"] = json!("#");
    insta::assert_json_snapshot!(answer);
}

#[tokio::test]
async fn every_result_says_of_which_kind_it_is() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let client = Modern::new(&server, json!({}));
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        let result = client.result(method, json!({})).await;
        assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("private")), "{method}");
        assert!(result["ttlMs"].as_u64().is_some(), "{method}: {result}");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "pleat-acme", "{method}");
    }
    let result = client.result("tools/call", json!({ "name": "echo", "arguments": { "a": 1 } })).await;
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "pleat-acme");
}

#[tokio::test]
async fn what_is_missing_or_disagrees_is_refused_and_named() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let client = Modern::new(&server, json!({}));
    let call = json!({ "name": "echo", "arguments": {} });
    let without = |field: &str| {
        let mut params = client.params(call.clone());
        params["_meta"].as_object_mut().unwrap().remove(field);
        params
    };
    let send = async |params: Value, headers: &[(&str, &str)]| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let mut request = server.client.post(&client.url).json(&body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (status, answer) = read(request.send().await.unwrap()).await;
        assert_eq!(answer["id"], 1, "{answer}");
        (status, answer["error"]["code"].as_i64().unwrap_or_default())
    };
    let full = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "echo")];
    let good = client.params(call.clone());
    assert_eq!(send(good.clone(), &full).await, (200, 0));
    assert_eq!(send(call.clone(), &full).await, (400, -32602), "no `_meta`");
    assert_eq!(send(without("io.modelcontextprotocol/protocolVersion"), &full).await, (400, -32602));
    assert_eq!(send(without("io.modelcontextprotocol/clientCapabilities"), &full).await, (400, -32602));
    assert_eq!(send(good.clone(), &full[1..]).await, (400, -32020), "no version in a header");
    assert_eq!(send(good.clone(), &[full[0], full[2]]).await, (400, -32020), "no method in a header");
    assert_eq!(send(good.clone(), &full[..2]).await, (400, -32020), "no name in a header");
    assert_eq!(send(good.clone(), &[full[0], full[1], ("mcp-name", "other")]).await, (400, -32020));
    assert_eq!(send(good.clone(), &[full[0], ("mcp-method", "TOOLS/CALL"), full[2]]).await, (400, -32020));
    assert_eq!(send(good.clone(), &[full[0], full[1], ("mcp-name", "=?base64?ZWNobw==?=")]).await, (200, 0));
    let mut strange = good.clone();
    strange["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    assert_eq!(send(strange.clone(), &full).await, (400, -32020));
    assert_eq!(send(strange, &[("mcp-protocol-version", "1900-01-01"), full[1], full[2]]).await, (400, -32022));
}

#[tokio::test]
async fn methods_of_the_other_era_do_not_exist() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let client = Modern::new(&server, json!({}));
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/list", "no/such"] {
        let (status, answer) = client.ask(method, json!({})).await;
        assert_eq!((status, &answer["error"]["code"]), (404, &json!(-32601)), "{method}: {answer}");
    }
    for method in [Method::GET, Method::DELETE] {
        let request = server.client.request(method, &client.url).header("mcp-protocol-version", "2026-07-28");
        assert_eq!(request.send().await.unwrap().status(), 405);
    }
    let response = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    let request = server.client.post(&client.url).header("mcp-protocol-version", "2026-07-28").json(&response);
    assert_eq!(request.send().await.unwrap().status(), 400);
}

#[tokio::test]
async fn arguments_that_a_schema_wants_in_headers_must_be_there() {
    let server = TestServer::start().await;
    let script = r#"
        export const description = "Routed by region";
        export const input = {
          type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } }, required: ["region"] };
        export default (input) => input.region;"#;
    server.deploy("routed.js", script, "&visibility=public").await;
    let client = Modern::new(&server, json!({}));
    let call = |region: &str| client.post("tools/call", json!({ "name": "routed", "arguments": { "region": region } }));
    let (status, answer) = read(call("eu").header("mcp-param-region", "eu").send().await.unwrap()).await;
    assert_eq!((status, &answer["result"]["content"][0]["text"]), (200, &json!("eu")), "{answer}");
    for request in [call("eu"), call("eu").header("mcp-param-region", "us")] {
        let (status, answer) = read(request.send().await.unwrap()).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32020)), "{answer}");
    }
}
