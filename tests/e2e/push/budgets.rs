//! What notifications may cost others: bodies have a cap, and a destination that accepts nothing gets little.

use serde_json::{Value, json};

use super::receiver::Answer::Status;
use super::{Heard, Receiver, logged, platform, platform_with, send, shown, told};
use crate::harness::TestServer;

const CAP: usize = 256 << 10;

fn large() -> Value {
    json!({ "do": "echo", "value": "x".repeat(600 << 10) })
}

async fn result(server: &TestServer, method: &str, params: Value) -> Value {
    let (_, answer) = server.rpc_as(&server.invoke, method, params).await;
    assert!(answer["error"].is_null(), "{method}: {answer}");
    answer["result"].clone()
}

/// Says that it is not whole, and where the whole is.
fn is_shortened(heard: &Heard, metadata: &Value, method: &str, task: &str) {
    assert!(heard.raw.len() < 4_096, "{}", heard.raw.len());
    let notification = &metadata["notification"];
    assert_eq!(notification["truncated"], true, "{}", heard.body);
    assert_eq!(notification["limit"], CAP, "{}", heard.body);
    assert!(notification["bytes"].as_u64().unwrap() > 600 << 10, "{}", heard.body);
    assert_eq!(notification["get"], json!({ "method": method, "id": task }), "{}", heard.body);
}

#[tokio::test]
async fn large_task_is_told_of_without_its_artifacts_in_0_1() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    let task = send(&server, told(large(), &receiver.url("/"))).await;
    let heard = receiver.some(2).await;
    assert_eq!([heard[0].state(), heard[1].state()], ["working", "completed"]);
    is_shortened(&heard[1], &heard[1].body["metadata"], "tasks/get", &task);
    assert_eq!(heard[1].body["id"], task.as_str());
    let whole = result(&server, "tasks/get", json!({ "id": task })).await;
    assert!(whole["artifacts"].to_string().len() > 600 << 10);
}

#[tokio::test]
async fn large_task_is_told_of_without_its_artifacts_in_0_3() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    let message = json!({ "kind": "message", "role": "user", "messageId": "m1", "metadata": { "skill": "probe" },
                          "parts": [{ "kind": "data", "data": large() }] });
    let config = json!({ "blocking": true, "pushNotificationConfig": { "url": receiver.url("/") } });
    let task = result(&server, "message/send", json!({ "message": message, "configuration": config })).await;
    let heard = receiver.some(2).await;
    let body = &heard[1].body;
    is_shortened(&heard[1], &body["metadata"], "tasks/get", task["id"].as_str().unwrap());
    assert_eq!((&body["kind"], &body["id"], &body["contextId"]), (&json!("task"), &task["id"], &task["contextId"]));
}

#[tokio::test]
async fn large_artifact_is_told_of_by_a_text_in_1_0() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    let message = json!({ "role": "ROLE_USER", "messageId": "m1", "metadata": { "skill": "probe" },
                          "parts": [{ "data": large() }] });
    let config = json!({ "taskPushNotificationConfig": { "url": receiver.url("/") } });
    let sent = result(&server, "SendMessage", json!({ "message": message, "configuration": config })).await;
    let task = sent["task"]["id"].as_str().unwrap_or_else(|| panic!("{sent}"));
    let heard = receiver.some(3).await;
    let update = &heard[1].body["artifactUpdate"];
    is_shortened(&heard[1], &update["metadata"], "GetTask", task);
    let parts = update["artifact"]["parts"].as_array().unwrap();
    assert!(parts.len() == 1 && parts[0]["text"].as_str().unwrap().contains("too large"), "{parts:?}");
    assert_eq!(heard[2].body["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED", "{}", heard[2].body);
}

#[tokio::test]
async fn destination_that_has_accepted_nothing_gets_few_attempts_and_its_configurations_end() {
    let server = platform_with(|config| config.push.unverified_attempts = 2).await;
    let receiver = Receiver::start([Status(500), Status(404), Status(500)]).await;
    let first = send(&server, told(json!({ "do": "echo", "value": 1 }), &receiver.url("/"))).await;
    let dead = logged(&server, &first, "dead").await;
    assert!(dead["fault"].as_str().unwrap().contains("has not accepted any notification"), "{dead}");
    assert_eq!(shown(&server, &first).await["ended"], dead["fault"]);
    assert_eq!(receiver.states(2).await, ["working"; 2]);
    let second = send(&server, told(json!({ "do": "echo", "value": 1 }), &receiver.url("/other"))).await;
    logged(&server, &second, "dead").await;
    assert!(receiver.is_quiet().await);
}

#[tokio::test]
async fn destination_that_has_accepted_one_gets_all_attempts() {
    let server = platform_with(|config| config.push.unverified_attempts = 2).await;
    let receiver = Receiver::start([Status(204), Status(500), Status(500), Status(500)]).await;
    send(&server, told(json!({ "do": "echo", "value": 1 }), &receiver.url("/"))).await;
    let states = receiver.states(5).await;
    assert_eq!(states, ["working", "completed", "completed", "completed", "completed"]);
}
