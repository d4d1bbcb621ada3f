//! What the function gets from each kind of message, and what comes back of it.

use serde_json::{Value, json};

use super::{code, post, result_json, result_text};
use crate::harness::{TestServer, answering, redacted};

fn message(parts: &Value) -> Value {
    json!({ "role": "user", "parts": parts })
}

async fn echoed(server: &TestServer, message: Value) -> Value {
    let answer = server.rpc("tasks/send", json!({ "skill": "echo", "message": message })).await;
    let id = answer["result"]["id"].as_str().unwrap_or_else(|| panic!("{answer}"));
    server.task(id).await["input"].clone()
}

#[tokio::test]
async fn the_input_itself_may_be_any_json_and_passes_unchanged() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    for text in [
        "null",
        "true",
        "-0.10",
        "123456789012345678901234567890",
        "[1, 2]",
        r#"{"b" : 1, "a":"\u0000\ud83d\ude00", "digits":0.1234567890123456789012345}"#,
        r#"{"role":"user"}"#,
        r#"{"role":"user","parts":"none"}"#,
    ] {
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{{"skill":"echo","message":{text}}}}}"#);
        let (_, answer) = post(&server, body).await;
        assert_eq!(result_text(&answer), text);
    }
    let (_, answer) = post(
        &server,
        r#"{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"skill":"echo","message":"a\u0000\"b\""}}"#,
    )
    .await;
    assert_eq!(result_text(&answer), "a\0\"b\"", "a string comes back as itself");
}

#[tokio::test]
async fn parts_of_every_kind_become_the_input() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let text = json!({ "type": "text", "text": "hi" });
    let data = json!({ "type": "data", "data": { "n": [1, null] } });
    let file = json!({ "type": "file", "file": { "name": "a.txt", "mimeType": "text/plain", "bytes": "aGk=" } });
    for (parts, input) in [
        (json!([text]), json!("hi")),
        (json!([text, { "type": "text", "text": "there" }]), json!("hi\nthere")),
        (json!([{ "kind": "text", "text": "by kind" }]), json!("by kind")),
        (json!([{ "type": "text", "text": "" }]), json!("")),
        (json!([data]), json!({ "n": [1, null] })),
        (json!([{ "type": "data", "data": "a string" }]), json!("a string")),
        (json!([{ "type": "data", "data": null }]), json!(null)),
        (json!([text, data, file]), json!({ "n": [1, null] })),
        (json!([text, file]), json!("hi")),
        (json!([file]), json!(null)),
    ] {
        assert_eq!(echoed(&server, message(&parts)).await, input, "{parts}");
    }
    let several = json!({ "skill": "echo", "message": message(&json!([data, data])) });
    let refused = server.rpc("tasks/send", several).await;
    let text = "the message has 2 data parts, and the input is one value; put them into one data part";
    assert_eq!(refused["error"], json!({ "code": -32602, "message": text }));
}

/// The skill's schema decides how a text is read.
#[tokio::test]
async fn a_text_is_read_as_the_object_that_the_schema_wants() {
    let server = TestServer::start().await;
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" }, "days": { "type": "integer" } },
                         "required": ["city"] });
    let guest = answering(&json!({ "description": "d", "input": schema }), "1");
    server.deploy("weather.wat", guest, "&visibility=public").await;
    for (text, input) in [
        ("Rome", json!({ "city": "Rome" })),
        (r#"{"city":"Rome","days":3}"#, json!({ "city": "Rome", "days": 3 })),
        ("{no object}", json!({ "city": "{no object}" })),
    ] {
        let params = json!({ "message": message(&json!([{ "type": "text", "text": text }])) });
        let answer = server.rpc("tasks/send", params).await;
        assert_eq!(server.task(answer["result"]["id"].as_str().unwrap()).await["input"], input, "{text}");
    }
    let params = json!({ "message": message(&json!([{ "type": "text", "text": r#"{"days":3}"# }])) });
    assert_eq!(code(&server.rpc("tasks/send", params).await), -32602);
}

#[tokio::test]
async fn the_function_sees_all_parts_and_the_history_gives_them_back_unchanged() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let parts = json!([
        { "type": "data", "data": { "do": "conversation" } },
        { "type": "text", "text": "look", "metadata": { "lang": "en" } },
        { "type": "file", "file": { "name": "a.png", "mimeType": "image/png", "bytes": "aGk=" } },
        { "type": "file", "file": { "name": "notes", "bytes": "aGk=" } },
        { "type": "file", "file": { "mimeType": "text/html", "uri": "https://example.com/a" } },
    ]);
    let params = json!({ "skill": "probe", "message": { "role": "user", "parts": parts, "metadata": { "trace": 7 } },
                         "historyLength": 5 });
    let answer = server.rpc("tasks/send", params).await;
    let seen = result_json(&answer);
    assert_eq!(
        seen["message"]["content"],
        json!([
            { "type": "data", "data": { "do": "conversation" } },
            { "type": "text", "text": "look", "_meta": { "lang": "en" } },
            { "type": "image", "data": "aGk=", "mimeType": "image/png", "name": "a.png" },
            { "type": "resource", "resource": { "uri": "attachment:3", "blob": "aGk=" }, "name": "notes" },
            { "type": "resource_link", "uri": "https://example.com/a", "name": "https://example.com/a",
              "mimeType": "text/html" },
        ])
    );
    assert_eq!((&seen["history"], &seen["state"]), (&json!([]), &json!(null)));
    let mut expected = parts;
    for part in expected.as_array_mut().unwrap() {
        part["kind"] = part["type"].clone();
    }
    let history = redacted(answer)["result"]["history"].clone();
    assert_eq!(
        history,
        json!([{ "kind": "message", "messageId": "#", "role": "user", "parts": expected, "taskId": "task_#",
                 "contextId": "ctx_#", "metadata": { "trace": 7 } }])
    );
}

#[tokio::test]
async fn content_blocks_come_back_one_to_one_and_traces_do_not() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let blocks = json!([
        { "type": "text", "text": "see" },
        { "type": "thinking", "thinking": "secret" },
        { "type": "tool_use", "id": "1", "name": "secret", "input": {} },
        { "type": "data", "data": { "n": 1 } },
        { "type": "audio", "data": "aGk=", "mimeType": "audio/ogg" },
        { "type": "resource_link", "uri": "https://example.com/a", "name": "a" },
        { "type": "resource", "resource": { "uri": "file:///r.txt", "mimeType": "text/plain", "text": "hi" } },
    ]);
    let params = json!({ "skill": "probe", "message": { "do": "content", "blocks": blocks } });
    let answer = server.rpc("tasks/send", params).await;
    let parts = json!([
        { "type": "text", "kind": "text", "text": "see" },
        { "type": "data", "kind": "data", "data": { "n": 1 } },
        { "type": "file", "kind": "file", "file": { "mimeType": "audio/ogg", "bytes": "aGk=" } },
        { "type": "file", "kind": "file", "file": { "name": "a", "uri": "https://example.com/a" } },
        { "type": "file", "kind": "file", "metadata": { "uri": "file:///r.txt" },
          "file": { "name": "r.txt", "mimeType": "text/plain", "bytes": "aGk=" } },
    ]);
    assert_eq!(answer["result"]["artifacts"][0]["parts"], parts);
    let id = answer["result"]["id"].as_str().unwrap();
    let again = server.rpc("tasks/get", json!({ "id": id })).await;
    assert_eq!(again["result"], answer["result"]);
    assert!(!again.to_string().contains("secret"));
    assert_eq!(server.task(id).await["artifacts"][0]["blocks"], blocks, "the owner sees the traces");
}
