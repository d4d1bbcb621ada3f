//! Sends that are repeated happen once: by `Idempotency-Key`, and for whoever asks for it by `messageId`.

use std::collections::HashSet;

use futures::future::join_all;
use pleat_a2a::MESSAGE_ONCE;
use reqwest::Method;
use serde_json::{Value, json};

use super::{platform, send};
use crate::harness::{Stream, TestServer, read};

/// With one header more.
async fn post(server: &TestServer, key: &str, method: &str, params: &Value, header: (&str, &str)) -> Value {
    read(request(server, key, method, params, header).send().await.unwrap()).await.1
}

fn request(
    server: &TestServer,
    key: &str,
    method: &str,
    params: &Value,
    (name, value): (&str, &str),
) -> reqwest::RequestBuilder {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = server.client.post(format!("{}/_a2a/", server.tenant_url())).json(&body).header(name, value);
    if key.is_empty() { request } else { request.bearer_auth(key) }
}

fn message(id: &str, value: u32) -> Value {
    let data = json!({ "do": "sleep", "ms": 200 + value });
    json!({ "skill": "probe", "message":
        { "role": "user", "messageId": id, "parts": [{ "type": "data", "data": data }] } })
}

fn ids(answers: &[Value]) -> HashSet<&str> {
    answers.iter().map(|answer| answer["result"]["id"].as_str().unwrap_or_else(|| panic!("{answer}"))).collect()
}

async fn tasks(server: &TestServer) -> usize {
    let (_, page) = server.api(Method::GET, "/tenants/acme/tasks", &server.read, None).await;
    page["tasks"].as_array().unwrap().len()
}

#[tokio::test]
async fn twenty_sends_of_one_message_are_one_task_for_whoever_asks_for_that() {
    let server = platform().await;
    let (extension, params) = (("a2a-extensions", MESSAGE_ONCE), message("m-1", 0));
    let answers = join_all((0..20).map(|_| post(&server, &server.invoke, "tasks/send", &params, extension))).await;
    assert_eq!(ids(&answers).len(), 1, "{answers:?}");
    assert_eq!(tasks(&server).await, 1);
    // Under the older name of the header, among other extensions, and as a stream.
    let listed = format!("https://other.example/ext, {MESSAGE_ONCE}");
    let older = ("x-a2a-extensions", listed.as_str());
    let again = post(&server, &server.invoke, "tasks/send", &params, older).await;
    assert_eq!(again["result"]["id"], answers[0]["result"]["id"]);
    let response = request(&server, &server.invoke, "tasks/sendSubscribe", &params, extension).send().await.unwrap();
    let frames = Stream::of(response).all().await;
    assert_eq!(frames[0].data["result"]["id"], answers[0]["result"]["id"], "{frames:?}");
    assert_eq!(tasks(&server).await, 1);
    // The same id with another message is a mistake, and said to be one.
    let other = post(&server, &server.invoke, "tasks/send", &message("m-1", 1), extension).await;
    assert_eq!(other["error"]["code"], -32602, "{other}");
    assert!(other["error"]["message"].as_str().unwrap().contains("another call"), "{other}");
    // Another caller's message of the same name is another message.
    let (_, key) =
        server.api(Method::POST, "/tenants/acme/keys", &server.admin, Some(json!({ "scopes": ["invoke"] }))).await;
    let theirs = post(&server, key["key"].as_str().unwrap(), "tasks/send", &params, extension).await;
    assert_ne!(theirs["result"]["id"], answers[0]["result"]["id"]);
    let nobody = post(&server, "", "tasks/send", &params, extension).await;
    assert_eq!(nobody["error"]["code"], -32602, "who has no name cannot be told from others: {nobody}");
}

#[tokio::test]
async fn without_asking_the_same_message_id_is_another_send_and_a_key_is_never_a_message_id() {
    let server = platform().await;
    let params = message("m-1", 0);
    let plain = ("accept", "application/json");
    let answers = join_all((0..3).map(|_| post(&server, &server.invoke, "tasks/send", &params, plain))).await;
    assert_eq!(ids(&answers).len(), 3);
    let once = post(&server, &server.invoke, "tasks/send", &params, ("a2a-extensions", MESSAGE_ONCE)).await;
    let keyed = post(&server, &server.invoke, "tasks/send", &params, ("idempotency-key", "m-1")).await;
    assert_ne!(once["result"]["id"], keyed["result"]["id"]);
    assert_eq!(tasks(&server).await, 5);
}

#[tokio::test]
async fn twenty_sends_under_one_key_are_one_task() {
    let server = platform().await;
    let (key, params) = (("idempotency-key", "order-1"), message("m-1", 0));
    let answers = join_all((0..20).map(|_| post(&server, &server.invoke, "tasks/send", &params, key))).await;
    assert_eq!(ids(&answers).len(), 1, "{answers:?}");
    assert!(answers.iter().all(|answer| answer["result"]["status"]["state"] == "completed"), "{answers:?}");
    assert_eq!(tasks(&server).await, 1);
}

#[tokio::test]
async fn an_answer_to_a_waiting_task_counts_once_too() {
    let server = platform().await;
    let ask = json!({ "do": "need_input", "prompt": "which?" });
    let id = send(&server, json!({ "skill": "probe", "message": ask })).await;
    let answer = json!({ "id": id, "message": ask });
    let key = ("idempotency-key", "answer-1");
    let answers = join_all((0..20).map(|_| post(&server, &server.invoke, "tasks/send", &answer, key))).await;
    assert!(answers.iter().all(|one| one["result"]["status"]["state"] == "input-required"), "{answers:?}");
    assert_eq!(server.task(&id).await["turn"], 2, "one turn for all of them");
    let late = post(&server, &server.invoke, "tasks/send", &answer, key).await;
    assert_eq!(late["result"]["id"], id.as_str(), "{late}");
    assert_eq!(server.task(&id).await["turn"], 2);
    let streamed = request(&server, &server.invoke, "tasks/sendSubscribe", &answer, key).send().await.unwrap();
    assert_eq!(Stream::of(streamed).all().await.last().unwrap().data["result"]["status"]["state"], "input-required");
    assert_eq!(server.task(&id).await["turn"], 2);
    // Another answer needs a key of its own, or none.
    let end = json!({ "id": id, "message": { "do": "echo", "value": 1 } });
    let reused = post(&server, &server.invoke, "tasks/send", &end, key).await;
    assert_eq!(reused["error"]["code"], -32602, "{reused}");
    let done = post(&server, &server.invoke, "tasks/send", &end, ("idempotency-key", "answer-2")).await;
    assert_eq!(done["result"]["status"]["state"], "completed", "{done}");
    let again = post(&server, &server.invoke, "tasks/send", &end, ("idempotency-key", "answer-2")).await;
    assert_eq!(again["result"], done["result"], "although the task takes no further message");
    assert_eq!(server.task(&id).await["turn"], 3);
}
