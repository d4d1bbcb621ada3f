//! The plain HTTP door: JSON in, JSON out, a stream for who asks, and a status for every way to fail.

mod failures;
mod leftover;
mod refusals;

use reqwest::Response;
use serde_json::{Value, json};

use crate::harness::{Stream, TestServer, answering, read, redacted};

async fn call(server: &TestServer, function: &str, accept: &str, body: impl Into<reqwest::Body>) -> Response {
    let request = server.post(&format!("/{function}"), "application/json", body);
    request.header("accept", accept).send().await.unwrap()
}

fn content_type(response: &Response) -> &str {
    response.headers()["content-type"].to_str().unwrap()
}

#[tokio::test]
async fn values_pass_exactly_as_they_are_written() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    for text in [
        "null",
        "true",
        "\"plain\"",
        "\"\"",
        r#""\u0000 \u00e9 \ud83d\ude00 \" \\ \/""#,
        "\"é 😀\"",
        "0",
        "-0.0",
        "1e3",
        "123456789012345678901234567890",
        "0.1000000000000000055511151231257827",
        "[]",
        r#"{"z":1,"a":[{"b" : null}],"":2}"#,
        r#"{"do":"echo","role":"user","parts":[]}"#,
    ] {
        let response = call(&server, "echo", "*/*", text).await;
        assert_eq!((response.status().as_u16(), content_type(&response)), (200, "application/json"), "{text}");
        let id = response.headers()["pleat-task-id"].to_str().unwrap().to_owned();
        assert_eq!(response.text().await.unwrap(), text);
        let (_, task) =
            server.api(reqwest::Method::GET, &format!("/tenants/acme/tasks/{id}"), &server.read, None).await;
        assert_eq!((&task["door"], &task["state"]), (&json!("http"), &json!("completed")));
    }
}

/// Every call is a task: the header names it, and the other door finds it, as 0.3 has it.
#[tokio::test]
async fn the_answer_names_its_task() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let response = call(&server, "echo", "application/json", r#"{"n":1}"#).await;
    let id = response.headers()["pleat-task-id"].to_str().unwrap().to_owned();
    let found = server.rpc("tasks/get", json!({ "id": id })).await;
    assert_eq!(found["result"]["artifacts"][0]["parts"][0], json!({ "kind": "data", "data": { "n": 1 } }));
}

#[tokio::test]
async fn text_is_for_who_asks_for_it() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    server.deploy_probe().await;
    let plain = "text/plain; charset=utf-8";
    for (accept, kind, body) in [
        ("text/plain", plain, "a \"quoted\" é\0"),
        ("text/plain;q=0.9", plain, "a \"quoted\" é\0"),
        ("TEXT/PLAIN", plain, "a \"quoted\" é\0"),
        ("application/json", "application/json", r#""a \"quoted\" é\u0000""#),
        ("*/*", "application/json", r#""a \"quoted\" é\u0000""#),
        ("application/json, text/plain;q=0.5", "application/json", r#""a \"quoted\" é\u0000""#),
        ("text/plain;q=0.5, application/json", "application/json", r#""a \"quoted\" é\u0000""#),
        ("text/plain, application/json;q=0.5", plain, "a \"quoted\" é\0"),
        ("text/plain;q=0, */*", "application/json", r#""a \"quoted\" é\u0000""#),
        ("text/event-stream;q=0, text/plain", plain, "a \"quoted\" é\0"),
    ] {
        let response = call(&server, "echo", accept, r#""a \"quoted\" é\u0000""#).await;
        assert_eq!(content_type(&response), kind, "{accept}");
        assert_eq!(response.text().await.unwrap(), body, "{accept}");
    }
    let other = call(&server, "echo", "text/plain", r#"{"n":1.50}"#).await;
    assert_eq!((content_type(&other), other.status().as_u16()), (plain, 200));
    assert_eq!(other.text().await.unwrap(), r#"{"n":1.50}"#, "other values come as JSON text");
    let block = json!({ "do": "content", "blocks": [{ "type": "text", "text": "said" }] }).to_string();
    let response = call(&server, "probe", "text/plain", block).await;
    assert_eq!(response.text().await.unwrap(), "said");
}

#[tokio::test]
async fn content_comes_as_blocks_or_in_its_structured_form() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let blocks = json!([{ "type": "text", "text": "a" }, { "type": "thinking", "thinking": "secret" }]);
    let (status, plain) = server.http("", "probe", json!({ "do": "content", "blocks": blocks })).await;
    assert_eq!((status, plain), (200, json!({ "content": [{ "type": "text", "text": "a" }] })));
    let both = json!({ "do": "content", "blocks": blocks, "structured": { "n": 1 } });
    assert_eq!(server.http("", "probe", both).await, (200, json!({ "n": 1 })));
}

#[tokio::test]
async fn a_stream_tells_everything_in_order() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let input = json!({ "do": "emit", "chunks": 2, "delay_ms": 0 }).to_string();
    let response = call(&server, "probe", "text/event-stream", input).await;
    assert_eq!((response.status().as_u16(), content_type(&response)), (200, "text/event-stream"));
    let id = response.headers()["pleat-task-id"].to_str().unwrap().to_owned();
    let frames = Stream::of(response).all().await;
    let ids: Vec<u32> = frames.iter().map(|frame| frame.id.unwrap()).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6, 7]);
    let chunk = |text: &str, append: bool, last: bool| {
        let artifact = json!({ "name": "probe-stream", "blocks": [{ "type": "text", "text": text }] });
        json!({ "artifact": { "artifact": artifact, "append": append, "last": last } })
    };
    let bodies: Vec<Value> = frames.iter().map(|frame| redacted(frame.data.clone())["body"].clone()).collect();
    assert_eq!(
        bodies,
        [
            json!({ "status": { "state": "working" } }),
            chunk("chunk 1", false, false),
            json!({ "progress": { "done": 1.0, "total": 2.0 } }),
            chunk("chunk 2", true, true),
            json!({ "progress": { "done": 2.0, "total": 2.0 } }),
            json!({ "artifact": { "artifact": { "name": "probe-result", "value": "done" }, "append": false, "last": true } }),
            json!({ "status": { "state": "completed" } }),
        ]
    );
    assert!(frames.iter().all(|frame| frame.data["seq"] == json!(frame.id)));
    // The other door resumes it.
    let rest = server.rpc_stream("", "tasks/resubscribe", json!({ "id": id }), Some(5)).await.all().await;
    assert_eq!(rest.iter().map(|frame| frame.id.unwrap()).collect::<Vec<_>>(), [6, 7]);
}

#[tokio::test]
async fn a_stream_hides_what_belongs_to_the_owner() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let response = call(&server, "probe", "text/event-stream", r#"{"do":"panic"}"#).await;
    let frames = Stream::of(response).all().await;
    let failure = &frames.last().unwrap().data["body"]["status"]["failure"];
    assert_eq!((&failure["reason"], failure.get("detail")), (&json!("trap"), None));
    let trace = json!([{ "type": "thinking", "thinking": "secret" }]).to_string();
    let input = json!({ "do": "emit_raw", "kind": "blocks", "text": trace }).to_string();
    let frames = Stream::of(call(&server, "probe", "text/event-stream", input).await).all().await;
    assert!(!format!("{frames:?}").contains("secret"), "{frames:?}");
    let ask = json!({ "do": "need_input", "prompt": "?", "state": "secret" }).to_string();
    let frames = Stream::of(call(&server, "probe", "text/event-stream", ask).await).all().await;
    assert_eq!(frames.last().unwrap().data["body"]["status"]["ask"]["prompt"], "?");
    // The input is the caller's own; what the function keeps is not.
    assert!(!format!("{:?}", frames.last()).contains("secret"), "{frames:?}");
}

#[tokio::test]
async fn a_function_shows_its_schema() {
    let server = TestServer::start().await;
    let manifest = json!({
        "title": "Orders", "description": "Takes orders", "tags": ["shop"], "examples": [{ "n": 1 }],
        "input": { "type": "object", "properties": { "n": { "type": "integer" } } }, "output": { "type": "string" },
    });
    server.deploy("order.wat", answering(&manifest, "\"ok\""), "&visibility=public").await;
    let response = server.client.get(format!("{}/order", server.tenant_url())).send().await.unwrap();
    let shown = json!({
        "name": "order", "title": "Orders", "description": "Takes orders", "version": 1, "visibility": "public",
        "tags": ["shop"], "examples": [{ "n": 1 }], "input": manifest["input"], "output": manifest["output"],
        "call": { "method": "POST", "url": format!("{}/order", server.tenant_url()), "contentType": "application/json" },
    });
    assert_eq!(read(response).await, (200, shown));
    let request = server.client.get(format!("{}/order", server.url)).header("host", "acme.localhost:81");
    let (_, by_host) = read(request.send().await.unwrap()).await;
    assert_eq!(by_host["call"]["url"], "http://acme.localhost:81/order");
}
