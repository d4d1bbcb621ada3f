//! Each receiver is told in the words in which it was registered.

use std::collections::HashSet;

use futures::future::join_all;
use pleat_a2a::MESSAGE_ONCE;
use serde_json::{Value, json};

use super::{Heard, Receiver, log, platform, until};
use crate::harness::TestServer;

const INPUT: &str = r#"{ "do": "emit", "chunks": 3, "delay_ms": 80 }"#;

fn input() -> Value {
    serde_json::from_str(INPUT).unwrap()
}

fn message_03(id: &str) -> Value {
    json!({ "kind": "message", "role": "user", "messageId": id, "metadata": { "skill": "probe" },
        "parts": [{ "kind": "data", "data": input() }] })
}

fn message_10(id: &str) -> Value {
    json!({ "role": "ROLE_USER", "messageId": id, "metadata": { "skill": "probe" }, "parts": [{ "data": input() }] })
}

async fn call(server: &TestServer, method: &str, params: Value) -> Value {
    let (_, answer) = server.rpc_as(&server.invoke, method, params).await;
    assert!(answer["error"].is_null(), "{method}: {answer}");
    answer["result"].clone()
}

#[tokio::test]
async fn version_0_3_tells_the_task_at_every_change_of_its_state() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    let config = json!({ "id": "mine", "url": receiver.url("/03"), "token": "t0ken",
        "authentication": { "schemes": ["Bearer"], "credentials": "s3cret" } });
    let params =
        json!({ "message": message_03("m1"), "configuration": { "blocking": true, "pushNotificationConfig": config } });
    let task = call(&server, "message/send", params).await;
    let heard = receiver.some(2).await;
    assert_eq!([heard[0].state(), heard[1].state()], ["working", "completed"]);
    for one in &heard {
        assert_eq!((&one.body["kind"], &one.body["id"]), (&json!("task"), &task["id"]), "{}", one.body);
        assert_eq!(one.body.get("type"), None, "pure 0.3: {}", one.body);
        assert_eq!(one.header("content-type"), "application/json");
        assert_eq!(one.header("x-a2a-notification-token"), "t0ken");
        assert_eq!(one.header("authorization"), "Bearer s3cret");
    }
    assert_eq!(heard[1].body["artifacts"], task["artifacts"], "with the end come the artifacts");
    let listed = call(&server, "tasks/pushNotificationConfig/list", json!({ "id": task["id"] })).await;
    assert_eq!(listed[0]["pushNotificationConfig"]["id"], "mine", "{listed}");
    assert!(receiver.is_quiet().await);
}

#[tokio::test]
async fn version_1_0_tells_every_event_in_order() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    let config = json!({ "url": receiver.url("/10"), "token": "t0ken",
        "authentication": { "scheme": "Basic", "credentials": "dTpw" } });
    let params = json!({ "message": message_10("m1"), "configuration": { "taskPushNotificationConfig": config } });
    let sent = call(&server, "SendMessage", params).await;
    let id = sent["task"]["id"].as_str().unwrap_or_else(|| panic!("{sent}"));
    let mut heard: Vec<Heard> = Vec::new();
    while heard.last().is_none_or(|last| last.body["statusUpdate"]["status"]["state"] != "TASK_STATE_COMPLETED") {
        heard.push(receiver.next().await);
    }
    assert_eq!(heard[0].body["statusUpdate"]["status"]["state"], "TASK_STATE_WORKING", "{}", heard[0].body);
    let pieces: Vec<&Value> =
        heard.iter().map(|one| &one.body["artifactUpdate"]).filter(|one| !one.is_null()).collect();
    assert_eq!(pieces.len(), heard.len() - 2, "between the two states only pieces of artifacts");
    assert!(!pieces.is_empty());
    assert!(!pieces[0]["append"].as_bool().unwrap_or(false), "{}", pieces[0]);
    for one in &heard {
        let update = one.body["statusUpdate"].as_object().or(one.body["artifactUpdate"].as_object()).unwrap();
        assert_eq!(update["taskId"], id);
        assert_eq!(one.header("content-type"), "application/a2a+json");
        assert_eq!(one.header("authorization"), "Basic dTpw");
    }
    let log = until("all of it", async || Some(log(&server, id).await).filter(|log| log.len() == heard.len())).await;
    let told: Vec<&str> = log.iter().map(|one| one["id"].as_str().unwrap()).collect();
    let names: Vec<&str> = heard.iter().map(|one| one.header("webhook-id")).collect();
    assert_eq!(told, names, "by their numbers in the order in which they were heard");
}

#[tokio::test]
async fn receivers_of_several_versions_hear_of_one_task_each_in_its_own_words() {
    let server = platform().await;
    let (old, middle, new) = (Receiver::start([]).await, Receiver::start([]).await, Receiver::start([]).await);
    let finished = call(&server, "SendMessage", json!({ "message": message_10("m1") })).await;
    let id = finished["task"]["id"].as_str().unwrap();
    let config = json!({ "id": id, "pushNotificationConfig": { "url": old.url("/") } });
    call(&server, "tasks/pushNotification/set", config).await;
    let config = json!({ "taskId": id, "pushNotificationConfig": { "id": "b", "url": middle.url("/") } });
    call(&server, "tasks/pushNotificationConfig/set", config).await;
    let config = json!({ "taskId": id, "id": "c", "url": new.url("/") });
    call(&server, "CreateTaskPushNotificationConfig", config).await;
    assert_eq!((old.next().await.state(), middle.next().await.state()), ("completed", "completed"));
    assert_eq!(new.next().await.body["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
    let all = call(&server, "ListTaskPushNotificationConfigs", json!({ "taskId": id })).await;
    let ids: Vec<&Value> = all["configs"].as_array().unwrap().iter().map(|config| &config["id"]).collect();
    assert_eq!(ids, ["default", "b", "c"], "{all}");
}

#[tokio::test]
async fn a_message_counts_once_in_every_version_for_whoever_asks() {
    let server = platform().await;
    let send = async |method: &str, params: Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = server.client.post(format!("{}/_a2a/", server.tenant_url())).bearer_auth(&server.invoke);
        let request = request.header("a2a-extensions", MESSAGE_ONCE).json(&body);
        let answer: Value = request.send().await.unwrap().json().await.unwrap();
        let task = answer["result"].get("task").unwrap_or(&answer["result"]);
        task["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let new = join_all((0..20).map(|_| send("SendMessage", json!({ "message": message_10("m1") })))).await;
    assert_eq!(new.iter().collect::<HashSet<_>>().len(), 1, "{new:?}");
    let middle = join_all((0..5).map(|_| send("message/send", json!({ "message": message_03("m1") })))).await;
    assert_eq!(middle.iter().collect::<HashSet<_>>().len(), 1, "{middle:?}");
    assert_eq!(middle[0], new[0], "the same message in other words is the same message");
}
