//! Requests that make no task.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{TestServer, answering, read};

fn error(code: &str, message: &str) -> Value {
    json!({ "error": { "code": code, "message": message } })
}

async fn post(server: &TestServer, content_type: &str, body: impl Into<reqwest::Body>) -> (u16, Value) {
    read(server.post("/echo", content_type, body).send().await.unwrap()).await
}

#[tokio::test]
async fn a_body_that_is_no_acceptable_json_is_refused() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    for (body, message) in [
        (&b""[..], "the body cannot be taken: not valid JSON: EOF while parsing a value at line 1 column 0"),
        (b"{", "the body cannot be taken: not valid JSON: EOF while parsing an object at line 1 column 1"),
        (b"1 2", "the body cannot be taken: not valid JSON: trailing characters at line 1 column 3"),
        (b"{\"a\":1,\"\\u0061\":2}", "the body cannot be taken: the key `a` occurs twice in one object"),
        (b"\"\xff\"", "the body is not UTF-8"),
    ] {
        assert_eq!(post(&server, "application/json", body).await, (400, error("invalid", message)));
    }
    for (depth, status) in [(64, 200), (65, 400)] {
        let body = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(post(&server, "application/json", body).await.0, status, "{depth}");
    }
    let (_, page) = server.api(Method::GET, "/tenants/acme/tasks", &server.admin, None).await;
    assert_eq!(page["tasks"].as_array().unwrap().len(), 1, "only the good one became a task");
}

#[tokio::test]
async fn a_body_that_does_not_say_it_is_json_is_refused() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let mut refused = error("unsupported_media_type", "the body must be JSON and say so");
    refused["error"]["hint"] = json!("add the header `Content-Type: application/json`");
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        assert_eq!(post(&server, kind, "1").await, (415, refused.clone()), "{kind}");
    }
    for kind in ["application/json", "application/json;charset=utf-8", "application/vnd.shop+json"] {
        assert_eq!(post(&server, kind, "1").await, (200, json!(1)), "{kind}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let server = TestServer::start_with(|_| {}, |gateway| gateway.request_body = 100).await;
    server.deploy_echo().await;
    let sized = |size: usize| format!("\"{}\"", "x".repeat(size - 2));
    assert_eq!(post(&server, "application/json", sized(100)).await.0, 200);
    let refused = error("too_large", "the body is larger than 100 bytes");
    assert_eq!(post(&server, "application/json", sized(101)).await, (413, refused));
}

#[tokio::test]
async fn an_input_that_breaks_the_schema_is_refused_with_its_pointer() {
    let server = TestServer::start().await;
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let guest = answering(&json!({ "description": "d", "input": schema }), "1");
    server.deploy("typed.wat", guest, "&visibility=public").await;
    let (status, answer) = server.http("", "typed", json!({ "n": "one" })).await;
    let message = "\"one\" is not of type \"integer\"";
    let mut expected =
        error("invalid_input", &format!("the input does not match the skill's schema: at `/n`: {message}"));
    expected["error"]["details"] = json!({ "violations": [{ "pointer": "/n", "message": message }] });
    assert_eq!((status, answer), (422, expected));
    let (status, answer) = server.http("", "typed", json!({})).await;
    assert_eq!((status, &answer["error"]["details"]["violations"][0]["pointer"]), (422, &json!("")));
}

#[tokio::test]
async fn other_methods_and_other_paths_are_told_so() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let wrong = error("method_not_allowed", "this path does not take that method");
    for method in [Method::PUT, Method::DELETE, Method::PATCH] {
        let response = server.client.request(method, format!("{}/echo", server.tenant_url())).send().await.unwrap();
        let allow = response.headers().get("allow").map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(read(response).await, (405, wrong.clone()));
        assert_eq!(allow.as_deref(), Some("GET,HEAD,POST"));
    }
    let unknown = error("unknown_skill", "unknown skill `absent`; the agent card lists what there is");
    assert_eq!(server.http("", "absent", json!(1)).await, (404, unknown.clone()));
    let shown = server.client.get(format!("{}/absent", server.tenant_url())).send().await.unwrap();
    assert_eq!(read(shown).await, (404, unknown));
    let nothing = error("not_found", "there is nothing at this address");
    assert_eq!(server.http("", "echo/more", json!(1)).await, (404, nothing));
    let elsewhere = server.client.post(format!("{}/t/nobody/echo", server.url)).json(&1).send().await.unwrap();
    assert_eq!(read(elsewhere).await, (404, error("unknown_tenant", "there is no such tenant")));
}

#[tokio::test]
async fn a_function_that_is_not_public_needs_a_key() {
    let server = TestServer::start().await;
    let guest = answering(&json!({ "description": "d" }), "1");
    server.deploy("closed.wat", guest.clone(), "&visibility=listed").await;
    server.deploy("hidden.wat", guest, "&visibility=unlisted").await;
    let needed = error("unauthenticated", "this needs a valid key: send `Authorization: Bearer <key>`");
    let response = server.post("/closed", "application/json", "1").send().await.unwrap();
    assert_eq!(response.headers()["www-authenticate"], "Bearer");
    assert_eq!(read(response).await, (401, needed.clone()));
    let shown = server.client.get(format!("{}/closed", server.tenant_url())).send().await.unwrap();
    assert_eq!(read(shown).await, (401, needed.clone()), "its schema needs the same right as a call");
    assert_eq!(server.http("plt_bad", "closed", json!(1)).await, (401, needed));

    let lacking = "this key lacks the scope `invoke`; ask an admin of the tenant for one that has it";
    assert_eq!(server.http(&server.deploy, "closed", json!(1)).await, (403, error("forbidden", lacking)));
    let unknown = error("unknown_skill", "unknown skill `hidden`; the agent card lists what there is");
    assert_eq!(server.http("", "hidden", json!(1)).await, (404, unknown));
    for function in ["closed", "hidden"] {
        assert_eq!(server.http(&server.invoke, function, json!(1)).await, (200, json!(1)));
    }
}
