//! Ids of the client's making, sessions, and how much history an answer holds.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use super::{code, result_json, result_text};
use crate::harness::TestServer;

#[tokio::test]
async fn an_id_of_the_clients_making_is_echoed_and_found_again() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let params = json!({ "id": "my task/1 é", "skill": "echo", "message": "hi" });
    let (_, sent) = server.rpc_as(&server.invoke, "tasks/send", params).await;
    assert_eq!(sent["result"]["id"], "my task/1 é");
    assert_eq!(result_text(&sent), "hi");
    let (_, found) = server.rpc_as(&server.invoke, "tasks/get", json!({ "id": "my task/1 é" })).await;
    assert_eq!(found["result"], sent["result"]);
    // It is the same task under our own id, shown under the client's.
    let owned = server.task_in("completed").await;
    assert_eq!(owned["alias"], "my task/1 é");
    let (_, found) = server.rpc_as(&server.invoke, "tasks/get", json!({ "id": owned["id"] })).await;
    assert_eq!(found["result"], sent["result"]);
}

#[tokio::test]
async fn an_id_is_its_callers_own() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let mine = json!({ "id": "mine", "skill": "echo", "message": "first" });
    server.rpc_as(&server.invoke, "tasks/send", mine).await;
    for nobody in [
        server.rpc("tasks/get", json!({ "id": "mine" })).await,
        server.rpc_as(&server.admin, "tasks/get", json!({ "id": "mine" })).await.1,
    ] {
        assert_eq!(nobody["error"], json!({ "code": -32001, "message": "task not found" }));
    }
    // Another caller may choose the same one, and each finds its own.
    let theirs = json!({ "id": "mine", "skill": "echo", "message": "second" });
    let (_, sent) = server.rpc_as(&server.admin, "tasks/send", theirs).await;
    assert_eq!(result_text(&sent), "second");
    let (_, first) = server.rpc_as(&server.invoke, "tasks/get", json!({ "id": "mine" })).await;
    assert_eq!(result_text(&first), "first");
}

/// Callers without a key cannot be told apart: an id that one of them chose must lead nobody to the task.
#[tokio::test]
async fn nobody_has_ids_of_its_own() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    for input in ["first", "second"] {
        let params = json!({ "id": "guessable", "skill": "echo", "message": input });
        let answer = server.rpc("tasks/send", params).await;
        assert_eq!(result_text(&answer), input, "never another caller's task");
        let id = answer["result"]["id"].as_str().unwrap();
        assert!(id.starts_with("task_"), "only an id of ours finds it again: {id}");
        assert_eq!(server.rpc("tasks/get", json!({ "id": id })).await["result"], answer["result"]);
    }
    for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
        assert_eq!(code(&server.rpc(method, json!({ "id": "guessable" })).await), -32001, "{method}");
    }
}

#[tokio::test]
async fn the_id_of_a_finished_task_begins_no_second_one() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let params = json!({ "id": "once", "skill": "echo", "message": "hi" });
    let (_, first) = server.rpc_as(&server.invoke, "tasks/send", params.clone()).await;
    let error = json!({ "code": -32004, "message": "the task is completed and takes no further message" });
    for method in ["tasks/send", "tasks/sendSubscribe"] {
        let (status, again) = server.rpc_as(&server.invoke, method, params.clone()).await;
        assert_eq!((status, &again["error"]), (200, &error));
    }
    // An id that the platform gave is no different.
    let sent = server.rpc("tasks/send", json!({ "skill": "echo", "message": "hi" })).await;
    let again = json!({ "id": sent["result"]["id"], "skill": "echo", "message": "again" });
    assert_eq!(server.rpc("tasks/send", again).await["error"], error);
    let (_, found) = server.rpc_as(&server.invoke, "tasks/get", json!({ "id": "once" })).await;
    assert_eq!(found["result"], first["result"]);
}

#[tokio::test]
async fn an_unknown_id_of_our_form_is_no_id_to_choose() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let id = format!("task_{}", "a".repeat(32));
    for key in ["", server.invoke.as_str()] {
        let params = json!({ "id": id, "skill": "echo", "message": "hi" });
        let (_, answer) = server.rpc_as(key, "tasks/send", params).await;
        assert_eq!(answer["error"], json!({ "code": -32001, "message": "task not found" }));
    }
}

/// A client that repeats a request before it has its answer gets one task, not two.
#[tokio::test]
async fn one_id_sent_many_times_at_once_is_one_task() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let params = json!({ "id": "burst", "skill": "probe", "message": { "do": "sleep", "ms": 50 } });
    let sends = (0..8).map(|_| server.rpc_as(&server.invoke, "tasks/send", params.clone()));
    let answers = futures::future::join_all(sends).await;
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for (_, answer) in &answers {
        let outcome = match answer["error"]["code"].as_i64() {
            None => result_text(answer).to_owned(),
            Some(-32004 | -32602) => "refused".to_owned(),
            Some(code) => panic!("{code}: {answer}"),
        };
        *outcomes.entry(outcome).or_default() += 1;
    }
    assert_eq!(outcomes, BTreeMap::from([("done".to_owned(), 1), ("refused".to_owned(), 7)]));
    let (_, page) = server.api(Method::GET, "/tenants/acme/tasks", &server.admin, None).await;
    assert_eq!(page["tasks"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_session_joins_tasks_and_the_function_sees_it() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let params = json!({ "sessionId": "talk 7", "skill": "probe", "message": { "do": "context" } });
    for _ in 0..2 {
        let (_, answer) = server.rpc_as(&server.invoke, "tasks/send", params.clone()).await;
        assert_eq!(
            (&answer["result"]["sessionId"], &answer["result"]["contextId"]),
            (&json!("talk 7"), &json!("talk 7"))
        );
        assert_eq!(result_json(&answer)["contextId"], "talk 7");
    }
    let (_, page) = server.api(Method::GET, "/tenants/acme/tasks?context=talk%207", &server.admin, None).await;
    assert_eq!(page["tasks"].as_array().unwrap().len(), 2);
    // Without one, each task is a session of its own.
    let alone = json!({ "skill": "probe", "message": { "do": "context" } });
    let (_, first) = server.rpc_as(&server.invoke, "tasks/send", alone.clone()).await;
    let (_, second) = server.rpc_as(&server.invoke, "tasks/send", alone).await;
    assert_ne!(first["result"]["sessionId"], second["result"]["sessionId"]);
}

#[tokio::test]
async fn what_the_function_is_told_of_its_call() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let (_, answer) =
        server.rpc_as("", "tasks/send", json!({ "skill": "probe", "message": { "do": "context" } })).await;
    let told = result_json(&answer);
    let expected = json!({
        "taskId": answer["result"]["id"], "contextId": answer["result"]["contextId"], "skill": "probe", "version": "1",
        "caller": "anonymous", "door": "a2a", "attempt": 1, "turn": 1,
    });
    assert_eq!(told, expected);
}

#[tokio::test]
async fn the_history_is_shown_to_whoever_asks_for_it() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let history = |answer: &Value| -> Option<Vec<String>> {
        let messages = answer["result"].get("history")?.as_array().unwrap();
        Some(messages.iter().map(|message| message["parts"].to_string()).collect())
    };
    let said = json!([{ "type": "text", "kind": "text", "text": "hi" }]).to_string();
    for (length, shown) in
        [(None, None), (Some(0), None), (Some(1), Some(vec![said.clone()])), (Some(9), Some(vec![said.clone()]))]
    {
        let params = json!({ "skill": "echo", "message": "hi", "historyLength": length });
        let sent = server.rpc("tasks/send", params).await;
        assert_eq!(history(&sent), shown, "{length:?}");
        let get = json!({ "id": sent["result"]["id"], "historyLength": length });
        assert_eq!(history(&server.rpc("tasks/get", get).await), shown, "{length:?}");
    }
    let sent = server.rpc("tasks/send", json!({ "skill": "echo", "message": { "n": 1 }, "historyLength": 1 })).await;
    assert_eq!(sent["result"]["history"][0]["parts"], json!([{ "type": "data", "kind": "data", "data": { "n": 1 } }]));
    assert_eq!(sent["result"]["history"][0]["role"], "user");
}
