//! Tasks that fail or ask: the status, the words, and whether to try again.

use serde_json::{Value, json};

use crate::harness::{TestServer, answering, read, recursing, spinning};

struct Failed {
    status: u16,
    retry_after: Option<String>,
    body: Value,
}

async fn call(server: &TestServer, function: &str, input: &Value) -> Failed {
    let response = server.post(&format!("/{function}"), "application/json", input.to_string()).send().await.unwrap();
    let retry_after = response.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
    let id = response.headers()["pleat-task-id"].to_str().unwrap().to_owned();
    let (status, mut body) = read(response).await;
    assert_eq!(body["taskId"], id, "{body}");
    body.as_object_mut().unwrap().remove("taskId");
    Failed { status, retry_after, body }
}

#[tokio::test]
async fn what_the_function_reports_is_told_as_it_is() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let input = json!({ "do": "fail", "code": "closed", "message": "the order is closed", "details": { "order": 17 } });
    let failed = call(&server, "probe", &input).await;
    let error = json!({ "code": "closed", "message": "the order is closed", "details": { "order": 17 } });
    assert_eq!(failed.body, json!({ "error": error, "reason": "function_error", "retryable": false }));
    assert_eq!((failed.status, failed.retry_after), (422, None));

    let input = json!({ "do": "fail", "code": "later", "message": "come back", "retryable": true });
    let failed = call(&server, "probe", &input).await;
    let error = json!({ "code": "later", "message": "come back" });
    assert_eq!(failed.body, json!({ "error": error, "reason": "function_error", "retryable": true }));
    assert_eq!((failed.status, failed.retry_after.as_deref()), (422, Some("1")));

    let failed = call(&server, "probe", &json!({ "do": "reject", "reason": "not today" })).await;
    let error = json!({ "code": "rejected", "message": "not today" });
    assert_eq!(failed.body, json!({ "error": error, "reason": "rejected", "retryable": false }));
    assert_eq!(failed.status, 422);
}

/// Each reason has its status; the code is the reason, the words name the function.
#[tokio::test]
async fn every_limit_has_its_status() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let wall = json!({ "description": "d", "limits": { "cpuMs": 30_000, "wallMs": 100 } });
    server.deploy("slow.wat", spinning(&wall), "&visibility=public").await;
    let cpu = json!({ "description": "d", "limits": { "cpuMs": 50 } });
    server.deploy("busy.wat", spinning(&cpu), "&visibility=public").await;
    server.deploy("deep.wat", recursing(&json!({ "description": "d" })), "&visibility=public").await;
    let typed = json!({ "description": "d", "output": { "type": "string" } });
    server.deploy("typed.wat", answering(&typed, "3"), "&visibility=public").await;
    for (function, input, status, reason) in [
        ("busy", json!(null), 504, "cpu_limit"),
        ("slow", json!(null), 504, "wall_limit"),
        ("probe", json!({ "do": "alloc_forever" }), 507, "memory_limit"),
        ("deep", json!(null), 502, "stack_limit"),
        ("probe", json!({ "do": "flood_output", "bytes": 9_000_000 }), 502, "output_limit"),
        ("probe", json!({ "do": "panic" }), 502, "trap"),
        ("probe", json!({ "do": "abort" }), 502, "trap"),
        ("probe", json!({ "do": "wild_pointer" }), 502, "trap"),
        ("probe", json!({ "do": "exit", "code": 3 }), 502, "exit"),
        ("probe", json!({ "do": "raw", "text": "not json" }), 502, "bad_output"),
        ("probe", json!({ "do": "raw", "text": "{\"a\":1,\"a\":2}" }), 502, "bad_output"),
        ("typed", json!(null), 502, "bad_output"),
    ] {
        let failed = call(&server, function, &input).await;
        assert_eq!((failed.status, &failed.body["reason"]), (status, &json!(reason)), "{input} {}", failed.body);
        assert_eq!(failed.body["error"]["code"], reason, "{input}");
        assert_eq!((&failed.body["retryable"], failed.retry_after), (&json!(false), None), "{input}");
        let message = failed.body["error"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("`{function}`")), "{input}: {message}");
        assert!(!failed.body.to_string().contains("panicked at"), "the detail is the owner's: {message}");
    }
    // All that, and the server is unharmed.
    assert_eq!(server.http("", "probe", json!({ "do": "echo", "value": 1 })).await, (200, json!(1)));
}

/// The same failure seen from the other door is a failed task, not an error.
#[tokio::test]
async fn over_a2a_the_reason_is_in_the_metadata() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    for (input, reason) in [(json!({ "do": "panic" }), "trap"), (json!({ "do": "exit", "code": 0 }), "exit")] {
        let answer = server.rpc("tasks/send", json!({ "skill": "probe", "message": input })).await;
        assert_eq!(answer["result"]["status"]["state"], "failed");
        assert_eq!(answer["result"]["metadata"], json!({ "failure": { "reason": reason, "retryable": false } }));
    }
}

/// This door has no conversation: it says where the task goes on, and there it does.
#[tokio::test]
async fn a_question_is_a_conflict_that_a2a_resolves() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let input = json!({ "do": "need_input", "prompt": "name?", "schema": { "type": "object" }, "state": 1 });
    let (status, body) = server.http("", "probe", input).await;
    let id = body["taskId"].as_str().unwrap();
    let hint = format!("continue the task over A2A: `tasks/send` with `id` `{id}`");
    let error = json!({ "code": "input-required", "message": "name?", "hint": hint, "schema": { "type": "object" } });
    assert_eq!((status, &body), (409, &json!({ "error": error, "taskId": id, "reason": "input-required" })));
    let done = server.rpc("tasks/send", json!({ "id": id, "message": { "do": "echo", "value": "Ada" } })).await;
    assert_eq!(done["result"]["artifacts"][0]["parts"][0]["text"], "Ada");
}

#[tokio::test]
async fn a_call_that_is_canceled_from_elsewhere_is_a_conflict() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let call = call_sleeping(&server);
    let cancel = async {
        let running = server.task_in("working").await;
        let path = format!("/tenants/acme/tasks/{}/cancel", running["id"].as_str().unwrap());
        server.api(reqwest::Method::POST, &path, &server.deploy, None).await
    };
    let (failed, (status, canceled)) = tokio::join!(call, cancel);
    assert_eq!((status, &canceled["state"]), (200, &json!("canceled")));
    let error = json!({ "code": "canceled", "message": "the task was canceled" });
    assert_eq!((failed.status, failed.body), (409, json!({ "error": error, "reason": "canceled" })));
}

async fn call_sleeping(server: &TestServer) -> Failed {
    call(server, "probe", &json!({ "do": "sleep", "ms": 29_000 })).await
}
