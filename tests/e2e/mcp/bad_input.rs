//! Whatever is sent gets an answer that says what is wrong, as JSON-RPC and with the status of its era.

use serde_json::{Value, json};

use super::{Client, Modern};
use crate::harness::{TestServer, read};

#[tokio::test]
async fn what_is_no_message_is_answered_with_400_and_a_body() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32700),
        ("[]", -32600),
        ("3", -32600),
        (r#"{"id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32600),
    ] {
        let (status, answer) = read(server.post("/mcp", "application/json", body).send().await.unwrap()).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(code)), "{body}: {answer}");
        assert_eq!(answer["id"], Value::Null);
    }
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{}{}}}}}"#, "[".repeat(70), "]".repeat(70));
    let (status, answer) = read(server.post("/mcp", "application/json", deep).send().await.unwrap()).await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32700)));
    let (status, answer) = read(server.post("/mcp", "text/plain", "{}").send().await.unwrap()).await;
    assert_eq!((status, &answer["error"]["code"]), (415, &json!(-32600)));
    let long = "x".repeat(5 << 20);
    let (status, _) = read(server.post("/mcp", "application/json", long).send().await.unwrap()).await;
    assert_eq!(status, 413);
    let request = server.post("/mcp", "application/json", "{}").header("accept", "image/png");
    assert_eq!(request.send().await.unwrap().status(), 406);
}

#[tokio::test]
async fn a_version_that_nobody_speaks_is_refused_in_a_session_too() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let client = Client::open(&server, json!({})).await;
    let strange = Client { version: "1900-01-01".to_owned(), ..client };
    let (status, answer) = read(strange.post(strange.body(1, "ping", json!({}))).send().await.unwrap()).await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32022)), "{answer}");
    assert!(answer["error"]["data"]["supported"].as_array().unwrap().contains(&json!("2025-11-25")));
}

#[tokio::test]
async fn parameters_that_do_not_fit_are_named() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let session = Client::open(&server, json!({})).await;
    let modern = Modern::new(&server, json!({}));
    for (method, params) in [
        ("tools/call", json!({})),
        ("tools/call", json!({ "name": 3 })),
        ("resources/read", json!({})),
        ("prompts/get", json!({ "name": "none" })),
        ("completion/complete", json!({ "ref": { "type": "ref/none" }, "argument": { "name": "a", "value": "" } })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "none" }, "argument": { "name": "a", "value": "" } }),
        ),
        ("tools/list", json!({ "cursor": 3 })),
    ] {
        assert_eq!(session.ask(method, params.clone()).await["error"]["code"], -32602, "{method} {params}");
        let (status, answer) = modern.ask(method, params.clone()).await;
        assert_eq!((status, &answer["error"]["code"]), (200, &json!(-32602)), "{method} {params}: {answer}");
    }
    let bad = json!({ "name": "echo", "_meta": { "progressToken": {} } });
    assert_eq!(session.ask("tools/call", bad).await["error"]["code"], -32602);
    let unknown = session.ask("no/such", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601);
}

/// Forged ids of events, sessions and answers lead nowhere, and are no fault of ours.
#[tokio::test]
async fn forged_ids_lead_nowhere() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let client = Client::open(&server, json!({})).await;
    let task = format!("task_{}", "0".repeat(32));
    let unknown = client.get().header("last-event-id", format!("{task}.MQ.1")).send().await.unwrap();
    let (status, answer) = read(unknown).await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32602)), "{answer}");
    // What is no id of a call's stream is a wish to hear what changes.
    for id in [format!("{task}.IA.1"), "changes.99".to_owned(), "x".to_owned(), "..".to_owned()] {
        let response = client.get().header("last-event-id", &id).send().await.unwrap();
        assert_eq!(response.status(), 200, "{id}");
    }
    for id in [json!(1), json!("x"), json!(format!("{task}.1.input")), json!(format!("{task}.x.input"))] {
        let reply = json!({ "jsonrpc": "2.0", "id": id, "result": {} });
        assert_eq!(client.send(reply).await, 202);
    }
}
