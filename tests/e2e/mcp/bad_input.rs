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
    // An event that was never told is no place to go on from.
    for forged in [&format!("{task}.IA.1"), "x", "' or 1=1", "-1", "..", "changes.", "changes.1", "changes.x.1.1"] {
        let (status, answer) = read(client.get().header("last-event-id", forged).send().await.unwrap()).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32602)), "{forged}: {answer}");
    }
    for id in [json!(1), json!("x"), json!(format!("{task}.1.input")), json!(format!("{task}.x.input"))] {
        let reply = json!({ "jsonrpc": "2.0", "id": id, "result": {} });
        assert_eq!(client.send(reply).await, 202);
    }
}

/// Who is turned away before anything is read is told so in the same words as everybody else.
#[tokio::test]
async fn every_refusal_is_json_rpc_whatever_its_status() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let client = Client::open(&server, json!({})).await;
    let modern = Modern::new(&server, json!({}));
    let gone = Client { session: "0".repeat(32), ..client.clone() };
    let ping = || client.body(1, "ping", json!({}));
    let long = server.post("/mcp", "application/json", "x".repeat(5 << 20));
    for (status, request) in [
        (400, server.post("/mcp", "application/json", "{")),
        (400, server.client.post(&client.url).json(&ping())),
        (403, client.post(ping()).header("origin", "https://evil.example")),
        (404, gone.post(ping())),
        (404, gone.get()),
        (404, modern.post("ping", json!({}))),
        (405, server.client.get(&client.url)),
        (405, server.client.delete(&client.url)),
        (406, client.http.get(&client.url).header("mcp-session-id", &client.session).header("accept", "text/html")),
        (406, server.post("/mcp", "application/json", "{}").header("accept", "image/png")),
        (413, long),
        (415, server.post("/mcp", "text/plain", "{}")),
        (401, client.post(ping()).bearer_auth("plt_nonsense")),
    ] {
        let response = request.send().await.unwrap();
        let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
        let (given, answer) = read(response).await;
        assert_eq!((given, kind.as_deref()), (status, Some("application/json")), "{answer}");
        assert_eq!((&answer["jsonrpc"], answer["error"]["code"].is_i64()), (&json!("2.0"), true), "{status}: {answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{status}: {answer}");
    }
}

/// What each era has and the other does not: batches, sessions, and the status of a method that is not there.
#[tokio::test]
async fn the_eras_keep_to_their_own_rules() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let url = format!("{}/mcp", server.tenant_url());
    let modern = Modern::new(&server, json!({}));
    for version in ["2025-06-18", "2025-11-25"] {
        let client = Client::open_at(&server, &url, "", version, json!({})).await;
        let batch = json!([client.body(1, "ping", json!({}))]);
        let (status, answer) = read(client.post(batch).send().await.unwrap()).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32600)), "{version}: {answer}");
        let unknown = client.post(client.body(1, "no/such", json!({}))).send().await.unwrap();
        let (status, answer) = read(unknown).await;
        assert_eq!((status, &answer["error"]["code"]), (200, &json!(-32601)), "{version}: {answer}");
        // A version that is not said is the first that had sessions, not a fault.
        let silent = client.http.post(&url).header("mcp-session-id", &client.session);
        let (status, answer) = read(silent.json(&client.body(1, "ping", json!({}))).send().await.unwrap()).await;
        assert_eq!((status, &answer["result"]), (200, &json!({})));
        let notice = client.post(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let response = notice.send().await.unwrap();
        assert_eq!((response.status().as_u16(), response.text().await.unwrap().as_str()), (202, ""));
    }
    let one = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": modern.params(json!({})) });
    let request = server.client.post(&url).header("mcp-protocol-version", "2026-07-28").json(&json!([one]));
    let (status, answer) = read(request.send().await.unwrap()).await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32600)), "{answer}");
    // A session is nothing to a request that stands for itself: it is not looked for, and none is given.
    let response = modern.post("tools/list", json!({})).header("mcp-session-id", "0").send().await.unwrap();
    assert_eq!((response.status().as_u16(), response.headers().get("mcp-session-id")), (200, None));
    let said = |version: &str| {
        let mut params = modern.params(json!({}));
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params });
        let request = server.client.post(&url).header("mcp-protocol-version", version);
        request.header("mcp-method", "tools/list").json(&body)
    };
    let (status, answer) = read(said("1900-01-01").send().await.unwrap()).await;
    assert_eq!((status, &answer["error"]["data"]["requested"]), (400, &json!("1900-01-01")), "{answer}");
    assert!(answer["error"]["data"]["supported"].as_array().unwrap().contains(&json!("2026-07-28")), "{answer}");
}

#[tokio::test]
async fn arguments_have_names() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let session = Client::open(&server, json!({})).await;
    let modern = Modern::new(&server, json!({}));
    for arguments in [json!([1]), json!("s"), json!(5), json!(true)] {
        let params = json!({ "name": "probe", "arguments": arguments });
        for answer in
            [session.ask("tools/call", params.clone()).await, modern.ask("tools/call", params.clone()).await.1]
        {
            assert_eq!(answer["error"]["code"], -32602, "{arguments}: {answer}");
        }
    }
    let params = json!({ "name": "use-probe", "arguments": { "request": 5 } });
    assert_eq!(session.ask("prompts/get", params).await["error"]["code"], -32602);
}
