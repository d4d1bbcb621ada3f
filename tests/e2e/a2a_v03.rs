//! A2A 0.3 to the letter: every method's answer and error, as its clients read them.

use serde_json::{Value, json};

use crate::harness::{TestServer, Tongue, redacted};

const V03: Tongue = Tongue::V03;

async fn started() -> TestServer {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    server
}

fn call(input: Value) -> Value {
    let mut message = V03.call("probe", input);
    message["messageId"] = json!("m-1");
    json!({ "message": message })
}

async fn ask(server: &TestServer, method: &str, params: Value) -> Value {
    redacted(V03.read(V03.rpc(server, method, &params)).await.body)
}

#[tokio::test]
async fn every_method_answers_as_the_specification_has_it() {
    let server = started().await;
    let sent = V03.send(&server, "", call(json!({ "do": "echo", "value": { "n": 1 } }))).await;
    insta::assert_json_snapshot!("v03_message_send", redacted(sent.body.clone()));
    insta::assert_json_snapshot!("v03_tasks_get", ask(&server, "tasks/get", json!({ "id": sent.id() })).await);
    let asked = V03.send(&server, "", call(json!({ "do": "need_input", "prompt": "?", "schema": {} }))).await;
    insta::assert_json_snapshot!("v03_input_required", redacted(asked.body.clone()));
    insta::assert_json_snapshot!("v03_tasks_cancel", ask(&server, "tasks/cancel", json!({ "id": asked.id() })).await);
    let failed = call(json!({ "do": "fail", "code": "no", "message": "it broke", "retryable": true }));
    insta::assert_json_snapshot!("v03_failed", redacted(V03.send(&server, "", failed).await.body));
    V03.send(&server, &server.invoke, call(json!({ "do": "echo", "value": "x" }))).await;
    let list = V03.list(&server, &server.invoke, json!({ "includeArtifacts": true })).await;
    insta::assert_json_snapshot!("v03_tasks_list", redacted(list.body));
}

#[tokio::test]
async fn a_stream_tells_events_by_their_kind() {
    let server = started().await;
    let params = call(json!({ "do": "emit", "chunks": 1, "delay_ms": 0 }));
    let request = V03.rpc(&server, "message/stream", &params);
    let frames = crate::harness::Stream::of(request.send().await.unwrap()).all().await;
    let frames: Vec<Value> = frames.into_iter().map(|frame| redacted(frame.data)).collect();
    insta::assert_json_snapshot!("v03_message_stream", frames);
}

#[tokio::test]
async fn errors_are_plain() {
    let server = started().await;
    let done = V03.send(&server, "", call(json!({ "do": "echo", "value": 1 }))).await.id();
    let fresh = pleat_domain::TaskId::new().to_string();
    let mut errors = serde_json::Map::new();
    for (name, method, params) in [
        ("task not found", "tasks/get", json!({ "id": fresh })),
        ("task not found, canceled", "tasks/cancel", json!({ "id": fresh })),
        ("task not found, followed", "tasks/resubscribe", json!({ "id": fresh })),
        ("task not cancelable", "tasks/cancel", json!({ "id": done })),
        ("unsupported operation", "message/send", json!({ "message": V03.answer(&done, json!(1)) })),
        ("invalid parameters", "message/send", json!({ "message": { "role": "user", "parts": [] } })),
        ("unknown skill", "message/send", json!({ "message": V03.call("nothing", json!(1)) })),
        ("unknown method", "message/sned", json!({})),
        ("no parameters", "message/send", json!([])),
    ] {
        errors.insert(name.to_owned(), ask(&server, method, params).await["error"].clone());
    }
    insta::assert_json_snapshot!("v03_errors", errors);
}

/// The clients of 0.3 read what refuses a stream out of a stream, and only that; parameters that do not fit begin none.
#[tokio::test]
async fn a_stream_is_refused_in_one_to_who_asks_for_one() {
    let server = started().await;
    let done = V03.send(&server, "", call(json!({ "do": "echo", "value": 1 }))).await.id();
    let fresh = pleat_domain::TaskId::new().to_string();
    for (method, params, code) in [
        ("tasks/resubscribe", json!({ "id": fresh }), -32001),
        ("message/stream", json!({ "message": V03.answer(&done, json!(1)) }), -32004),
    ] {
        let request = || V03.rpc(&server, method, &params);
        let refused = request().header("accept", "text/event-stream").send().await.unwrap();
        assert_eq!(
            (refused.status(), &refused.headers()["content-type"]),
            (200.try_into().unwrap(), &"text/event-stream".parse().unwrap())
        );
        let frames = crate::harness::Stream::of(refused).all().await;
        let errors: Vec<_> = frames.iter().map(|frame| &frame.data["error"]["code"]).collect();
        assert_eq!(errors, [&json!(code)], "{method}");
        let plain = V03.read(request().header("accept", "application/json")).await.body;
        assert_eq!(plain["error"], frames[0].data["error"], "the same to who asks for none");
    }
    let request = V03.rpc(&server, "message/stream", &json!({ "none": 1 })).header("accept", "text/event-stream");
    let refused = request.send().await.unwrap();
    assert_eq!(refused.headers()["content-type"], "application/json");
}

/// What 0.1 and 0.3 share by name is answered in the words that the task was made in.
#[tokio::test]
async fn shared_methods_answer_in_the_words_of_the_task() {
    let server = started().await;
    let old = server.rpc("tasks/send", json!({ "skill": "probe", "message": { "do": "echo", "value": 1 } })).await;
    let old = server.rpc("tasks/get", json!({ "id": old["result"]["id"] })).await;
    assert!(old["result"].get("sessionId").is_some(), "{old}");
    let new = V03.send(&server, "", call(json!({ "do": "echo", "value": { "n": 1 } }))).await;
    let new = server.rpc("tasks/get", json!({ "id": new.id() })).await;
    assert!(new["result"].get("sessionId").is_none(), "{new}");
    assert!(new["result"]["artifacts"][0].get("index").is_none(), "{new}");
    assert_eq!(new["result"]["artifacts"][0]["parts"][0], json!({ "kind": "data", "data": { "n": 1 } }));
}

/// The kind of a message may be left out, but not be another.
#[tokio::test]
async fn a_message_of_another_kind_is_refused() {
    let server = started().await;
    let mut params = call(json!({ "do": "echo", "value": 1 }));
    params["message"].as_object_mut().unwrap().remove("kind");
    assert_eq!(V03.send(&server, "", params.clone()).await.state(), "completed");
    params["message"]["kind"] = json!("task");
    assert_eq!(V03.send(&server, "", params).await.code(), -32602);
}

/// As the bridge to external agents writes it.
#[tokio::test]
async fn the_skill_may_be_an_object_in_the_message() {
    let server = started().await;
    server.deploy_echo().await;
    let mut message = V03.message(json!([{ "data": { "projectId": "p" } }]));
    message["skill"] = json!({ "skillId": "echo" });
    let answer = V03.send(&server, "", json!({ "message": message })).await;
    assert_eq!(answer.task()["artifacts"][0]["parts"][0]["data"], json!({ "projectId": "p" }));
}

/// What a receiver is set up with, read and taken away, and what is wrong with those that are none.
#[tokio::test]
async fn push_configurations_are_set_read_and_deleted() {
    let server = started().await;
    let key = server.invoke.clone();
    let task = V03.send(&server, &key, call(json!({ "do": "echo", "value": 1 }))).await.id();
    let fresh = pleat_domain::TaskId::new().to_string();
    let mut told = serde_json::Map::new();
    for (name, key, method, params) in [
        (
            "set",
            key.as_str(),
            "tasks/pushNotificationConfig/set",
            json!({ "taskId": task, "pushNotificationConfig": {
            "id": "mine", "url": "https://receiver.invalid/x", "token": "t",
            "authentication": { "schemes": ["Bearer"], "credentials": "c" } } }),
        ),
        ("get", &key, "tasks/pushNotificationConfig/get", json!({ "id": task, "pushNotificationConfigId": "mine" })),
        ("get the only one", &key, "tasks/pushNotificationConfig/get", json!({ "id": task })),
        ("list", &key, "tasks/pushNotificationConfig/list", json!({ "id": task })),
        (
            "delete",
            &key,
            "tasks/pushNotificationConfig/delete",
            json!({ "id": task, "pushNotificationConfigId": "mine" }),
        ),
        ("list of none", &key, "tasks/pushNotificationConfig/list", json!({ "id": task })),
        ("not found", &key, "tasks/pushNotificationConfig/get", json!({ "id": task })),
        ("task not found", &key, "tasks/pushNotificationConfig/list", json!({ "id": fresh })),
        ("no configuration", &key, "tasks/pushNotificationConfig/set", json!({ "taskId": task })),
        (
            "private address",
            &key,
            "tasks/pushNotificationConfig/set",
            json!({
            "taskId": task, "pushNotificationConfig": { "url": "http://10.0.0.1/" } }),
        ),
        ("no key", "", "tasks/pushNotificationConfig/list", json!({ "id": task })),
    ] {
        let request = V03.rpc(&server, method, &params);
        let request = if key.is_empty() { request } else { request.bearer_auth(key) };
        told.insert(name.to_owned(), redacted(V03.read(request).await.body));
    }
    insta::assert_json_snapshot!("v03_push", told);
}

/// The task as it is, then what follows, to its end.
#[tokio::test]
async fn a_task_is_followed_from_what_it_is() {
    let server = started().await;
    let asked = V03.send(&server, "", call(json!({ "do": "need_input", "prompt": "?" }))).await.id();
    let request = V03.rpc(&server, "tasks/resubscribe", &json!({ "id": asked }));
    let mut stream = crate::harness::Stream::of(request.send().await.unwrap());
    let mut frames = vec![redacted(stream.next().await.unwrap().data)];
    V03.cancel(&server, "", &asked).await;
    frames.extend(stream.all().await.into_iter().map(|frame| redacted(frame.data)));
    insta::assert_json_snapshot!("v03_tasks_resubscribe", frames);
}
