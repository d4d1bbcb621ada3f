//! What receivers are told, in which order, and how they can know that it is true.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;

use super::{Heard, Receiver, log, platform, send, set, shown, told, until};
use crate::harness::{TestServer, redacted};

async fn key(server: &TestServer) -> Vec<u8> {
    let (status, body) = server.api(Method::GET, "/tenants/acme/push-key", &server.deploy, None).await;
    assert_eq!(status, 200, "{body}");
    STANDARD.decode(body["key"].as_str().unwrap().strip_prefix("whsec_").unwrap()).unwrap()
}

/// As docs/push.md tells receivers to do it.
fn signature(key: &[u8], heard: &Heard) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(format!("{}.{}.", heard.header("webhook-id"), heard.header("webhook-timestamp")).as_bytes());
    mac.update(&heard.raw);
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

/// Without what differs from run to run.
fn plain(value: Value) -> Value {
    let mut value = redacted(value);
    for name in ["tookMs", "firstAt", "createdAt", "caller"] {
        if let Some(field) = value.get_mut(name) {
            *field = json!("#");
        }
    }
    if value["id"].as_str().is_some_and(|id| id.starts_with("msg_")) {
        value["id"] = json!("#");
    }
    value
}

#[tokio::test]
async fn a_receiver_given_with_the_send_hears_every_state_signed_and_in_order() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    let mut params = told(json!({ "do": "emit", "chunks": 3, "delay_ms": 60 }), &receiver.url("/hooks/1?a=b"));
    params["pushNotification"]["token"] = json!("t0ken");
    params["pushNotification"]["authentication"] = json!({ "schemes": ["Bearer"], "credentials": "s3cret" });
    let id = send(&server, params).await;
    let heard = receiver.some(2).await;
    assert_eq!([heard[0].state(), heard[1].state()], ["working", "completed"]);
    let key = key(&server).await;
    for one in &heard {
        assert_eq!(one.path, "/hooks/1?a=b");
        assert_eq!(one.header("content-type"), "application/json");
        assert_eq!(one.header("x-a2a-notification-token"), "t0ken");
        assert_eq!(one.header("authorization"), "Bearer s3cret");
        assert_eq!(one.header("x-pleat-tenant"), "acme");
        assert_eq!(one.header("webhook-signature"), signature(&key, one));
        let age =
            time::OffsetDateTime::now_utc().unix_timestamp() - one.header("webhook-timestamp").parse::<i64>().unwrap();
        assert!((0..60).contains(&age), "{age}");
    }
    assert!(heard[0].body["artifacts"].as_array().unwrap().is_empty(), "artifacts come with the end: {heard:?}");
    let (_, found) = server.rpc_as(&server.invoke, "tasks/get", json!({ "id": id })).await;
    assert_eq!(heard[1].body, found["result"], "the last notification is the task as it is");
    let log = until("both in the log", async || Some(log(&server, &id).await).filter(|log| log.len() == 2)).await;
    let named: Vec<&str> = log.iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(named, [heard[0].header("webhook-id"), heard[1].header("webhook-id")]);
    let destination = receiver.url("");
    let last = json!({ "id": "#", "task": "task_#", "push": "default", "event": log[1]["event"],
        "destination": destination, "state": "delivered", "attempts": 1, "status": 204, "tookMs": "#",
        "firstAt": "#", "at": "#" });
    assert_eq!(plain(log[1].clone()), last);
    let done = until("the end", async || Some(shown(&server, &id).await).filter(|push| push["state"] == "done")).await;
    let expected = json!({ "task": "task_#", "id": "default", "caller": "#", "dialect": "a2a/0.1",
        "destination": destination, "state": "done", "delivered": log[1]["event"], "attempts": 0, "createdAt": "#" });
    assert_eq!(plain(done), expected, "of the URL only its origin, of what is secret nothing");
    assert!(receiver.is_quiet().await);
}

#[tokio::test]
async fn a_quick_call_is_told_of_too_and_every_end_is() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    for (input, end) in [
        (json!({ "do": "echo", "value": 1 }), "completed"),
        (json!({ "do": "fail", "code": "no", "message": "not today" }), "failed"),
        (json!({ "do": "reject", "reason": "never" }), "rejected"),
        (json!({ "do": "need_auth", "prompt": "log in" }), "auth-required"),
    ] {
        let id = send(&server, told(input, &receiver.url("/"))).await;
        let heard = receiver.some(2).await;
        assert!(heard.iter().all(|one| one.body["id"] == id.as_str()));
        assert_eq!([heard[0].state(), heard[1].state()], ["working", end]);
    }
    let running = told(json!({ "do": "sleep", "ms": 25_000 }), &receiver.url("/"));
    let mut stream = server.rpc_stream(&server.invoke, "tasks/sendSubscribe", running, None).await;
    let id = stream.next().await.unwrap().data["result"]["id"].clone();
    assert_eq!(receiver.next().await.state(), "working");
    let (_, canceled) = server.rpc_as(&server.invoke, "tasks/cancel", json!({ "id": id })).await;
    assert_eq!(canceled["result"]["status"]["state"], "canceled", "{canceled}");
    assert_eq!(receiver.next().await.state(), "canceled");
}

#[tokio::test]
async fn a_conversation_is_told_of_turn_by_turn() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    let ask = json!({ "do": "need_input", "prompt": "which?" });
    let id = send(&server, told(ask.clone(), &receiver.url("/"))).await;
    assert_eq!(receiver.states(2).await, ["working", "input-required"]);
    let again = json!({ "id": id, "message": ask });
    server.rpc_as(&server.invoke, "tasks/send", again).await;
    assert_eq!(receiver.states(2).await, ["working", "input-required"]);
    // 0.1 has one receiver for a task: one that comes with a later message takes the place of the first.
    let second = Receiver::start([]).await;
    let last = json!({ "id": id, "message": { "do": "echo", "value": 7 },
        "pushNotification": { "url": second.url("/") } });
    let (_, done) = server.rpc_as(&server.invoke, "tasks/send", last).await;
    assert_eq!(done["result"]["status"]["state"], "completed", "{done}");
    assert_eq!(second.states(2).await, ["working", "completed"]);
    let waiting = send(&server, told(json!({ "do": "need_input", "prompt": "which?" }), &receiver.url("/"))).await;
    assert_eq!(receiver.states(2).await, ["working", "input-required"]);
    server.rpc_as(&server.invoke, "tasks/cancel", json!({ "id": waiting })).await;
    assert_eq!(receiver.next().await.state(), "canceled", "also of a task that nobody runs");
    assert!(receiver.is_quiet().await && second.is_quiet().await);
}

#[tokio::test]
async fn a_receiver_that_comes_later_hears_what_follows_or_how_it_ended() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    let config = json!({ "url": receiver.url("/late"), "token": "t" });
    let finished = send(&server, json!({ "skill": "probe", "message": { "do": "echo", "value": 1 } })).await;
    let answer = set(&server, &server.invoke, &finished, config.clone()).await;
    assert_eq!(answer["result"], json!({ "id": finished, "pushNotificationConfig": config }), "{answer}");
    let got = server.rpc_as(&server.invoke, "tasks/pushNotification/get", json!({ "id": finished })).await.1;
    assert_eq!(got["result"], answer["result"]);
    assert_eq!(receiver.next().await.state(), "completed");

    let running = json!({ "skill": "probe", "message": { "do": "sleep", "ms": 700 } });
    let mut stream = server.rpc_stream(&server.invoke, "tasks/sendSubscribe", running, None).await;
    let id = stream.next().await.unwrap().data["result"]["id"].as_str().unwrap().to_owned();
    set(&server, &server.invoke, &id, config).await;
    assert_eq!(receiver.next().await.state(), "completed", "`working` was before its time");
    assert!(receiver.is_quiet().await);
}

#[tokio::test]
async fn a_deleted_receiver_hears_nothing_more_and_a_new_url_takes_the_place_of_the_old() {
    let (server, first, second) = (platform().await, Receiver::start([]).await, Receiver::start([]).await);
    let ask = json!({ "do": "need_input", "prompt": "which?" });
    let id = send(&server, told(ask.clone(), &first.url("/"))).await;
    assert_eq!(first.states(2).await, ["working", "input-required"]);
    set(&server, &server.invoke, &id, json!({ "url": second.url("/") })).await;
    assert_eq!(second.next().await.state(), "input-required", "it is told where the task is");
    server.rpc_as(&server.invoke, "tasks/send", json!({ "id": id, "message": ask })).await;
    assert_eq!(second.states(2).await, ["working", "input-required"]);
    let (tenant, principal) = super::tenant_view::caller(&server, &server.invoke).await;
    server.engine.delete_push(&tenant, &principal, &id, "default").await.unwrap();
    server.engine.delete_push(&tenant, &principal, &id, "default").await.expect("deleting twice is no fault");
    server.rpc_as(&server.invoke, "tasks/send", json!({ "id": id, "message": { "do": "echo", "value": 1 } })).await;
    let missing = server.rpc_as(&server.invoke, "tasks/pushNotification/get", json!({ "id": id })).await.1;
    assert_eq!(missing["error"], json!({ "code": -32001, "message": "push configuration not found" }));
    assert!(first.is_quiet().await && second.is_quiet().await);
}

#[tokio::test]
async fn many_tasks_are_told_of_at_once_each_in_its_order() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    let tasks = 40;
    let sends = (0..tasks).map(|_| send(&server, told(json!({ "do": "echo", "value": 1 }), &receiver.url("/"))));
    let ids: HashSet<String> = futures::future::join_all(sends).await.into_iter().collect();
    let heard = receiver.some(2 * tasks).await;
    for id in &ids {
        let own: Vec<&str> = heard.iter().filter(|one| one.body["id"] == id.as_str()).map(Heard::state).collect();
        assert_eq!(own, ["working", "completed"], "{id}");
    }
    let names: HashSet<&str> = heard.iter().map(|one| one.header("webhook-id")).collect();
    assert_eq!(names.len(), 2 * tasks, "every notification has a name of its own");
}
