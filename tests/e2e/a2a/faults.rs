//! Requests that are none: each gets its code, its words, and the id it came with.

use serde_json::{Value, json};

use super::post;
use crate::harness::{TestServer, read};

fn refusal(id: &Value, code: i32, message: &str) -> (u16, Value) {
    (200, json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
}

#[tokio::test]
async fn what_is_no_json_is_a_parse_error() {
    let server = TestServer::start().await;
    for (body, message) in [
        ("", "not valid JSON: EOF while parsing a value at line 1 column 0"),
        ("{", "not valid JSON: EOF while parsing an object at line 1 column 1"),
        ("{\"jsonrpc\":\"2.0\",}", "not valid JSON: trailing comma at line 1 column 18"),
        ("{} {}", "not valid JSON: trailing characters at line 1 column 4"),
        (r#"{"a":NaN}"#, "not valid JSON: expected value at line 1 column 6"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"a","id":"b"}}"#,
            "the key `id` occurs twice in one object",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tasks/get","params":{}}"#,
            "the key `id` occurs twice in one object",
        ),
    ] {
        assert_eq!(post(&server, body).await, refusal(&json!(null), -32700, message), "{body}");
    }
    let not_text = post(&server, &b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"[..]).await;
    assert_eq!(not_text, refusal(&json!(null), -32700, "the text is not UTF-8"));
}

#[tokio::test]
async fn nesting_and_the_number_of_values_are_bounded() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let send = |input: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{{"skill":"echo","message":{input}}}}}"#)
    };
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    // The envelope and `params` are two levels.
    let (_, deepest) = post(&server, send(&nested(62))).await;
    assert_eq!(deepest["result"]["artifacts"][0]["parts"][0]["text"], nested(62), "{deepest}");
    for depth in [63, 100_000] {
        let answer = post(&server, send(&nested(depth))).await;
        assert_eq!(answer, refusal(&json!(null), -32700, "nested more than 64 deep"), "{depth}");
    }
    let many = post(&server, send(&format!("[{}0]", "0,".repeat(250_000)))).await;
    assert_eq!(many, refusal(&json!(null), -32700, "more than 250000 values"));
}

#[tokio::test]
async fn a_wrong_envelope_is_an_invalid_request() {
    let server = TestServer::start().await;
    let object = "a request must be a JSON object with `jsonrpc`, `id`, `method` and `params`";
    let batch = "batch requests are not supported; send one request at a time";
    let version = "`jsonrpc` must be \"2.0\"";
    let id = "`id` must be a string, a number or null, of at most 1024 bytes";
    let method = "`method` must be a string";
    let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"tasks/get"}}"#, "x".repeat(1024));
    for (body, shown, message) in [
        ("3", json!(null), object),
        ("\"tasks/send\"", json!(null), object),
        ("null", json!(null), object),
        ("[]", json!(null), batch),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"x"}}]"#, json!(null), batch),
        ("{}", json!(null), version),
        (r#"{"id":7,"method":"tasks/get"}"#, json!(7), version),
        (r#"{"jsonrpc":"1.0","id":7,"method":"tasks/get"}"#, json!(7), version),
        (r#"{"jsonrpc":2.0,"id":7,"method":"tasks/get"}"#, json!(7), version),
        (r#"{"jsonrpc":"2.0","id":{},"method":"tasks/get"}"#, json!(null), id),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"tasks/get"}"#, json!(null), id),
        (r#"{"jsonrpc":"2.0","id":true,"method":"tasks/get"}"#, json!(null), id),
        (long.as_str(), json!(null), id),
        (r#"{"jsonrpc":"2.0","id":"a"}"#, json!("a"), method),
        (r#"{"jsonrpc":"2.0","id":"a","method":null}"#, json!("a"), method),
        (r#"{"jsonrpc":"2.0","id":"a","method":["tasks/get"]}"#, json!("a"), method),
    ] {
        assert_eq!(post(&server, body.to_owned()).await, refusal(&shown, -32600, message), "{body}");
    }
}

/// Also where the method would take none, and without an id.
#[tokio::test]
async fn params_of_the_wrong_type_are_invalid_params() {
    let server = TestServer::start().await;
    let message = "`params` must be an object or an array";
    for (method, params) in [("tasks/get", "\"x\""), ("message/send", "3"), ("GetExtendedAgentCard", "true")] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":"a","method":"{method}","params":{params}}}"#);
        assert_eq!(post(&server, body).await, refusal(&json!("a"), -32602, message), "{method} {params}");
    }
    let nobody = r#"{"jsonrpc":"2.0","method":"message/send","params":"x"}"#;
    assert_eq!(post(&server, nobody).await, refusal(&json!(null), -32602, message));
}

#[tokio::test]
async fn an_unknown_method_is_named() {
    let server = TestServer::start().await;
    for method in ["tasks/none", "tasks/Send", "message/Send", "sendMessage", "", "tasks/pushNotification/list"] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": {} }).to_string();
        let message = format!("method `{method}` not found");
        assert_eq!(post(&server, body).await, refusal(&json!(1), -32601, &message));
    }
}

/// Numbers that a reader would round, and no id at all.
#[tokio::test]
async fn the_id_comes_back_byte_for_byte() {
    let server = TestServer::start().await;
    for id in ["1", "-3", "1.50", "123456789012345678901234567890", "\"\"", r#""\u00e9\n""#, "null"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id": {id} ,"method":"x"}}"#);
        let response = server.post("/_a2a/", "application/json", body).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "application/json");
        let text = response.text().await.unwrap();
        assert!(text.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":"#)), "{text}");
    }
    let notification = post(&server, r#"{"jsonrpc":"2.0","method":"x"}"#).await;
    assert_eq!(notification, refusal(&json!(null), -32601, "method `x` not found"));
}

#[tokio::test]
async fn the_content_type_must_be_json() {
    let server = TestServer::start().await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"x"}}"#;
    for good in ["application/json", "application/json; charset=utf-8", "Application/JSON", "application/a2a+json"] {
        let response = server.post("/_a2a/", good, body).send().await.unwrap();
        assert_eq!(read(response).await, refusal(&json!(1), -32001, "task not found"), "{good}");
    }
    for bad in ["text/plain", "application/x-www-form-urlencoded", "text/json", "", "application/jsonx", "image/a+json"]
    {
        let response = server.post("/_a2a/", bad, body).send().await.unwrap();
        let (status, answer) = read(response).await;
        let (_, expected) = refusal(&json!(null), -32005, "the body must be JSON and say so");
        assert_eq!((status, answer), (415, expected), "{bad}");
    }
    let none = server.client.post(format!("{}/_a2a/", server.tenant_url())).body(body).send().await.unwrap();
    assert_eq!(none.status(), 415);
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_and_one_at_it_is_served() {
    let server = TestServer::start_with(|_| {}, |gateway| gateway.request_body = 1_000).await;
    server.deploy_echo().await;
    let sized = |size: usize| {
        let empty = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/send",
                            "params": { "skill": "echo", "message": "" } });
        let padding = "x".repeat(size - empty.to_string().len());
        let body = empty.to_string().replace("\"message\":\"\"", &format!("\"message\":\"{padding}\""));
        assert_eq!(body.len(), size);
        body
    };
    let (status, fits) = post(&server, sized(1_000)).await;
    assert_eq!((status, &fits["result"]["status"]["state"]), (200, &json!("completed")));
    let (_, expected) = refusal(&json!(null), -32600, "the body is larger than 1000 bytes");
    assert_eq!(post(&server, sized(1_001)).await, (413, expected.clone()));
    // Without a length, and far over it.
    let chunks =
        futures::stream::iter((0..100).map(|_| Ok::<_, std::io::Error>(bytes::Bytes::from(vec![b' '; 1_000]))));
    assert_eq!(post(&server, reqwest::Body::wrap_stream(chunks)).await, (413, expected));
    assert_eq!(post(&server, sized(1_000)).await.0, 200, "the server is unharmed");
}

#[tokio::test]
async fn four_mebibytes_are_the_default_limit() {
    let server = TestServer::start().await;
    let (status, answer) = post(&server, vec![b' '; 4 * 1024 * 1024 + 1]).await;
    let (_, expected) = refusal(&json!(null), -32600, "the body is larger than 4194304 bytes");
    assert_eq!((status, answer), (413, expected));
    let (status, answer) = post(&server, vec![b' '; 4 * 1024 * 1024]).await;
    assert_eq!((status, &answer["error"]["code"]), (200, &json!(-32700)), "{answer}");
}
