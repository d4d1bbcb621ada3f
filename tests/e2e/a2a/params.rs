//! Parameters that do not fit: refused with the place, and nothing has run.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{TestServer, answering};

fn invalid(message: &str, pointer: &str) -> Value {
    json!({ "code": -32602, "message": message, "data": { "pointer": pointer } })
}

fn with_part(part: &Value) -> Value {
    json!({ "skill": "echo", "message": { "role": "user", "parts": [{ "type": "text", "text": "" }, part] } })
}

async fn assert_nothing_ran(server: &TestServer) {
    let (_, page) = server.api(Method::GET, "/tenants/acme/tasks", &server.admin, None).await;
    assert_eq!(page["tasks"], json!([]));
}

#[tokio::test]
async fn faults_of_a_send_say_where_they_are() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let ids = "must have 1 to 256 bytes and no control characters";
    let count = "`historyLength` must be a whole number of 0 or more";
    let fields = |name: &str, value: Value| json!({ "skill": "echo", "message": 1, name: value });
    let message = |message: Value| json!({ "message": message });
    for (params, message, pointer) in [
        (json!([]), "`params` must be an object".to_owned(), ""),
        (
            json!({ "skill": "echo" }),
            "`message` is missing; send the input itself, or a message with `role` and `parts`".to_owned(),
            "/message",
        ),
        (fields("skill", json!(3)), "`skill` must be a string".to_owned(), "/skill"),
        (fields("id", json!("")), format!("`id` {ids}"), "/id"),
        (fields("id", json!("x".repeat(257))), format!("`id` {ids}"), "/id"),
        (fields("id", json!("a\nb")), format!("`id` {ids}"), "/id"),
        (fields("id", json!(7)), "`id` must be a string".to_owned(), "/id"),
        (fields("sessionId", json!("")), format!("`sessionId` {ids}"), "/sessionId"),
        (fields("historyLength", json!(-1)), count.to_owned(), "/historyLength"),
        (fields("historyLength", json!(1.5)), count.to_owned(), "/historyLength"),
        (fields("historyLength", json!("2")), count.to_owned(), "/historyLength"),
        (fields("metadata", json!([])), "`metadata` must be an object".to_owned(), "/metadata"),
        (
            message(json!({ "parts": [] })),
            "`role` is missing; name the `skill` if this is the input itself".to_owned(),
            "/message/role",
        ),
        (
            message(json!({ "role": "user" })),
            "`parts` is missing; name the `skill` if this is the input itself".to_owned(),
            "/message/parts",
        ),
        (
            message(json!({ "role": "user", "parts": {} })),
            "`parts` must be an array; name the `skill` if this is the input itself".to_owned(),
            "/message/parts",
        ),
        (
            message(json!({ "role": "user", "parts": [] })),
            "`parts` must have at least one part".to_owned(),
            "/message/parts",
        ),
        (
            message(json!({ "role": "system", "parts": [{ "type": "text", "text": "" }] })),
            "`role` must be `user` or `agent`".to_owned(),
            "/message/role",
        ),
    ] {
        let answer = server.rpc("tasks/send", params.clone()).await;
        assert_eq!(answer["error"], invalid(&message, pointer), "{params}");
        let streamed = server.rpc("tasks/sendSubscribe", params.clone()).await;
        assert_eq!(streamed, answer, "an error before the first event is no stream: {params}");
    }
    assert_nothing_ran(&server).await;
}

#[tokio::test]
async fn faults_of_a_part_say_where_they_are() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let file = |file: Value| json!({ "type": "file", "file": file });
    for (part, message, pointer) in [
        (json!("text"), "`part` must be an object", ""),
        (json!({}), "`type` is missing; it must be a string", "/type"),
        (json!({ "type": "video" }), "`type` must be `text`, `file` or `data`", "/type"),
        (json!({ "kind": "video" }), "`kind` must be `text`, `file` or `data`", "/kind"),
        (json!({ "type": "text" }), "`text` is missing; it must be a string", "/text"),
        (json!({ "type": "text", "text": 1 }), "`text` must be a string", "/text"),
        (json!({ "type": "data" }), "`data` is missing; it may be any JSON", "/data"),
        (json!({ "type": "file" }), "`file` is missing; it must be an object", "/file"),
        (file(json!({})), "`bytes` and `uri` are both missing; send one of them", "/file/bytes"),
        (
            file(json!({ "bytes": "aGk=", "uri": "https://example.com" })),
            "`uri` and `bytes` exclude each other; send one of them",
            "/file/uri",
        ),
        (file(json!({ "bytes": "not base64" })), "`bytes` must be base64", "/file/bytes"),
        (file(json!({ "uri": "" })), "`uri` must not be empty", "/file/uri"),
        (json!({ "type": "text", "text": "", "metadata": 1 }), "`metadata` must be an object", "/metadata"),
    ] {
        let answer = server.rpc("tasks/send", with_part(&part)).await;
        assert_eq!(answer["error"], invalid(message, &format!("/message/parts/1{pointer}")), "{part}");
    }
    assert_nothing_ran(&server).await;
}

#[tokio::test]
async fn faults_of_the_other_methods_say_where_they_are() {
    let server = TestServer::start().await;
    for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
        for (params, message, pointer) in [
            (json!({}), "`id` is missing; it must name a task", "/id"),
            (json!({ "id": null }), "`id` is missing; it must name a task", "/id"),
            (json!({ "id": 3 }), "`id` must be a string", "/id"),
            (
                json!({ "id": "x", "historyLength": -1 }),
                "`historyLength` must be a whole number of 0 or more",
                "/historyLength",
            ),
        ] {
            assert_eq!(server.rpc(method, params).await["error"], invalid(message, pointer), "{method}");
        }
    }
}

#[tokio::test]
async fn an_input_that_breaks_the_schema_is_refused_with_its_pointers() {
    let server = TestServer::start().await;
    let order = json!({
        "type": "object",
        "required": ["customer", "lines"],
        "properties": {
            "customer": { "type": "string", "minLength": 1 },
            "lines": { "type": "array", "items": {
                "type": "object", "properties": { "count": { "type": "integer", "minimum": 1 } } } },
        },
        "additionalProperties": false,
    });
    let guest = answering(&json!({ "description": "Takes orders", "input": order }), "1");
    server.deploy("order.wat", guest, "&visibility=public").await;
    let input = json!({ "customer": "", "lines": [{ "count": 1 }, { "count": 0 }], "coupon": 3 });
    let answer = server.rpc("tasks/send", json!({ "skill": "order", "message": input })).await;
    assert_eq!(answer["error"]["code"], -32602);
    let mut violations = answer["error"]["data"]["violations"].as_array().unwrap().clone();
    violations.sort_by_key(|violation| violation["pointer"].as_str().unwrap().to_owned());
    assert_eq!(
        violations,
        [
            json!({ "pointer": "", "message": "Additional properties are not allowed ('coupon' was unexpected)" }),
            json!({ "pointer": "/customer", "message": "\"\" is shorter than 1 character" }),
            json!({ "pointer": "/lines/1/count", "message": "0 is less than the minimum of 1" }),
        ]
    );
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("the input does not match the skill's schema: "), "{message}");
    assert!(message.contains("at `/lines/1/count`: 0 is less than the minimum of 1"), "{message}");
    let right = json!({ "skill": "order", "message": { "customer": "Ada", "lines": [] } });
    assert_nothing_ran(&server).await;
    assert_eq!(server.rpc("tasks/send", right).await["result"]["status"]["state"], "completed");
}
