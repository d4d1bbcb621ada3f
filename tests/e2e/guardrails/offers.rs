//! What functions offer beside being called, resources and prompts, is input and output like any other.

use serde_json::{Value, json};

use super::{EMAIL, checks, set, violations};
use crate::harness::TestServer;
use crate::mcp::{Client, Modern};

async fn offering() -> TestServer {
    let server = TestServer::start().await;
    let source = format!(
        "export const description = 'Offers';
         export const prompts = [{{ name: 'letter', description: 'A letter', arguments: [{{ name: 'to' }}] }}];
         export const resources = [{{ uri: 'people://jane', name: 'Jane' }}];
         export const resourceTemplates = [{{ uriTemplate: 'people://{{id}}', name: 'Somebody' }}];
         export default () => 1;
         export function getPrompt(name, values) {{
           const text = values.to ? 'to ' + values.to : 'to {EMAIL}';
           return {{ messages: [{{ role: 'user', content: {{ type: 'text', text }} }}] }};
         }}
         export function readResource(uri) {{
           return {{ contents: [{{ uri, text: uri === 'people://jane' ? '{EMAIL}' : uri }}] }};
         }}"
    );
    server.deploy("offers.js", source, "&visibility=public").await;
    server
}

/// Over a session and without one.
async fn ask(server: &TestServer, method: &str, params: Value) -> [Value; 2] {
    let session = Client::open(server, json!({})).await.ask(method, params.clone()).await;
    [session, Modern::new(server, json!({})).ask(method, params).await.1]
}

#[tokio::test]
async fn blocked_prompts_and_resources_are_told_as_blocked() {
    let server = offering().await;
    let output = [("prompts/get", json!({ "name": "letter" })), ("resources/read", json!({ "uri": "people://jane" }))];
    let input = [
        ("prompts/get", json!({ "name": "letter", "arguments": { "to": EMAIL } })),
        ("resources/read", json!({ "uri": format!("people://{EMAIL}") })),
    ];
    for (side, asked) in [("output", output), ("input", input)] {
        set(&server, "", checks(json!([{ "type": "pii", "action": "block", "target": side }]))).await;
        for (method, params) in asked {
            for answer in ask(&server, method, params.clone()).await {
                let error = &answer["error"];
                assert_eq!((&error["code"], &error["data"]["check"]), (&json!(-32050), &json!("pii")), "{answer}");
                assert!(!answer.to_string().contains("jane.doe"), "{answer}");
            }
        }
    }
    assert_eq!(violations(&server, "?action=block").await.len(), 8);
}

#[tokio::test]
async fn prompts_and_resources_are_redacted() {
    let server = offering().await;
    set(&server, "", checks(json!([{ "type": "pii", "action": "redact" }]))).await;
    for (method, params) in [
        ("prompts/get", json!({ "name": "letter" })),
        ("prompts/get", json!({ "name": "letter", "arguments": { "to": EMAIL } })),
        ("resources/read", json!({ "uri": "people://jane" })),
        ("resources/read", json!({ "uri": format!("people://{EMAIL}") })),
    ] {
        for answer in ask(&server, method, params).await {
            let text = answer["result"].to_string();
            assert!(text.contains("[EMAIL_1]") && !text.contains("jane.doe"), "{answer}");
        }
    }
}
