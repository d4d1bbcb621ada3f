//! A2A 1.0 to the letter: every method's answer and error, versions and extensions.

mod versions;

use serde_json::{Value, json};

use crate::harness::{TestServer, Tongue, redacted};

const V1: Tongue = Tongue::V1;

async fn started() -> TestServer {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    server
}

fn call(input: Value) -> Value {
    let mut message = V1.call("probe", input);
    message["messageId"] = json!("m-1");
    json!({ "message": message })
}

async fn ask(server: &TestServer, method: &str, params: Value) -> Value {
    redacted(V1.read(V1.rpc(server, method, &params)).await.body)
}

#[tokio::test]
async fn every_method_answers_as_the_specification_has_it() {
    let server = started().await;
    let sent = V1.send(&server, "", call(json!({ "do": "echo", "value": { "n": 1 } }))).await;
    insta::assert_json_snapshot!("v1_send_message", redacted(sent.body.clone()));
    insta::assert_json_snapshot!("v1_get_task", ask(&server, "GetTask", json!({ "id": sent.id() })).await);
    let asked = V1.send(&server, "", call(json!({ "do": "need_input", "prompt": "?", "schema": {} }))).await;
    insta::assert_json_snapshot!("v1_input_required", redacted(asked.body.clone()));
    insta::assert_json_snapshot!("v1_cancel_task", ask(&server, "CancelTask", json!({ "id": asked.id() })).await);
    let failed = call(json!({ "do": "fail", "code": "no", "message": "it broke", "retryable": true }));
    insta::assert_json_snapshot!("v1_failed", redacted(V1.send(&server, "", failed).await.body));
    V1.send(&server, &server.invoke, call(json!({ "do": "echo", "value": "x" }))).await;
    let list = V1.list(&server, &server.invoke, json!({ "includeArtifacts": true })).await;
    insta::assert_json_snapshot!("v1_list_tasks", redacted(list.body));
}

#[tokio::test]
async fn a_stream_tells_events_by_their_member() {
    let server = started().await;
    let params = call(json!({ "do": "emit", "chunks": 1, "delay_ms": 0 }));
    let request = V1.rpc(&server, "SendStreamingMessage", &params);
    let frames = crate::harness::Stream::of(request.send().await.unwrap()).all().await;
    let frames: Vec<Value> = frames.into_iter().map(|frame| redacted(frame.data)).collect();
    insta::assert_json_snapshot!("v1_send_streaming_message", frames);
}

#[tokio::test]
async fn errors_have_details() {
    let server = started().await;
    server
        .deploy("strict.js", "export const input = { type: 'object', required: ['city'], properties: { city: { type: 'string' } } }; export default () => 1;", "&name=strict&visibility=public")
        .await;
    let done = V1.send(&server, "", call(json!({ "do": "echo", "value": 1 }))).await.id();
    let fresh = pleat_domain::TaskId::new().to_string();
    let mut errors = serde_json::Map::new();
    for (name, method, params) in [
        ("task not found", "GetTask", json!({ "id": fresh })),
        ("task not found, canceled", "CancelTask", json!({ "id": fresh })),
        ("task not found, followed", "SubscribeToTask", json!({ "id": fresh })),
        ("task not cancelable", "CancelTask", json!({ "id": done })),
        ("unsupported operation", "SendMessage", json!({ "message": V1.answer(&done, json!(1)) })),
        ("followed after its end", "SubscribeToTask", json!({ "id": done })),
        ("invalid parameters", "SendMessage", json!({ "message": { "role": "ROLE_USER", "parts": [] } })),
        ("invalid part", "SendMessage", json!({ "message": V1.message(json!([{ "text": "x" }, { "raw": "!" }])) })),
        ("input that does not fit", "SendMessage", json!({ "message": V1.call("strict", json!({ "city": 7 })) })),
        ("unknown skill", "SendMessage", json!({ "message": V1.call("nothing", json!(1)) })),
        ("another tenant", "GetTask", json!({ "id": done, "tenant": "other" })),
        ("unknown method", "SendMassage", json!({})),
        ("page token", "ListTasks", json!({ "pageToken": "x" })),
    ] {
        errors.insert(name.to_owned(), ask(&server, method, params).await["error"].clone());
    }
    let wrong_key = V1.rpc(&server, "GetTask", &json!({ "id": done })).bearer_auth("plt_no_key");
    errors.insert("wrong key".to_owned(), V1.read(wrong_key).await.body["error"].clone());
    let deploy = V1.rpc(&server, "GetTask", &json!({ "id": done })).bearer_auth(&server.deploy);
    errors.insert("wrong scope".to_owned(), V1.read(deploy).await.body["error"].clone());
    insta::assert_json_snapshot!("v1_errors", errors);
}

/// Nothing of the envelope is special to a version.
#[tokio::test]
async fn batches_notifications_and_broken_envelopes_are_answered_as_ever() {
    let server = started().await;
    let post = async |body: &str| {
        let request = server.post("/_a2a/", "application/json", body.to_owned()).header("a2a-version", "1.0");
        V1.read(request).await
    };
    let one = json!({ "jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": { "id": "x" } });
    let batch = post(&json!([one]).to_string()).await;
    assert_eq!((batch.code(), &batch.body["id"]), (-32600, &json!(null)));
    let mut notification = one.clone();
    notification.as_object_mut().unwrap().remove("id");
    let answered = post(&notification.to_string()).await;
    assert_eq!((answered.code(), &answered.body["id"]), (-32001, &json!(null)));
    assert_eq!(post("{").await.code(), -32700);
    assert_eq!(post("{\"jsonrpc\":\"2.0\",\"id\":1}").await.code(), -32600);
    let plain = server.post("/_a2a/", "text/plain", one.to_string()).header("a2a-version", "1.0");
    let plain = V1.read(plain).await;
    assert_eq!((plain.status, plain.code(), &plain.body["id"]), (415, -32005, &json!(null)));
    assert_eq!(plain.body["error"]["data"][0]["reason"], "CONTENT_TYPE_NOT_SUPPORTED");
}

/// What a receiver is set up with, read and taken away, and what is wrong with those that are none.
#[tokio::test]
async fn push_configurations_are_set_read_and_deleted() {
    let server = started().await;
    let key = server.invoke.clone();
    let task = V1.send(&server, &key, call(json!({ "do": "echo", "value": 1 }))).await.id();
    let fresh = pleat_domain::TaskId::new().to_string();
    let mut told = serde_json::Map::new();
    for (name, key, method, params) in [
        (
            "create",
            key.as_str(),
            "CreateTaskPushNotificationConfig",
            json!({
            "taskId": task, "id": "mine", "url": "https://receiver.invalid/x", "token": "t",
            "authentication": { "scheme": "Bearer", "credentials": "c" } }),
        ),
        ("get", &key, "GetTaskPushNotificationConfig", json!({ "taskId": task, "id": "mine" })),
        ("list", &key, "ListTaskPushNotificationConfigs", json!({ "taskId": task })),
        ("delete", &key, "DeleteTaskPushNotificationConfig", json!({ "taskId": task, "id": "mine" })),
        ("deleted twice", &key, "DeleteTaskPushNotificationConfig", json!({ "taskId": task, "id": "mine" })),
        ("list of none", &key, "ListTaskPushNotificationConfigs", json!({ "taskId": task })),
        ("not found", &key, "GetTaskPushNotificationConfig", json!({ "taskId": task, "id": "mine" })),
        ("task not found", &key, "ListTaskPushNotificationConfigs", json!({ "taskId": fresh })),
        ("no address", &key, "CreateTaskPushNotificationConfig", json!({ "taskId": task })),
        (
            "private address",
            &key,
            "CreateTaskPushNotificationConfig",
            json!({ "taskId": task, "url": "http://10.0.0.1/" }),
        ),
        ("no id", &key, "GetTaskPushNotificationConfig", json!({ "taskId": task })),
        ("no key", "", "ListTaskPushNotificationConfigs", json!({ "taskId": task })),
    ] {
        let request = V1.rpc(&server, method, &params);
        let request = if key.is_empty() { request } else { request.bearer_auth(key) };
        told.insert(name.to_owned(), redacted(V1.read(request).await.body));
    }
    insta::assert_json_snapshot!("v1_push", told);
}

/// The task as it is, then what follows, to its end.
#[tokio::test]
async fn a_task_is_followed_from_what_it_is() {
    let server = started().await;
    let asked = V1.send(&server, "", call(json!({ "do": "need_input", "prompt": "?" }))).await.id();
    let request = V1.rpc(&server, "SubscribeToTask", &json!({ "id": asked }));
    let mut stream = crate::harness::Stream::of(request.send().await.unwrap());
    let mut frames = vec![redacted(stream.next().await.unwrap().data)];
    V1.cancel(&server, "", &asked).await;
    frames.extend(stream.all().await.into_iter().map(|frame| redacted(frame.data)));
    insta::assert_json_snapshot!("v1_subscribe_to_task", frames);
}
