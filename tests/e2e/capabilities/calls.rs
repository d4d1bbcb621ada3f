//! One function calls another: in the caller's name, as a task of its own, several at once, and not for ever.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{TestServer, answering, fixture};

/// `reach` calls `reach`.
fn calling(input: Value) -> Value {
    json!({ "do": "call", "skill": "reach", "input": input })
}

impl TestServer {
    /// A task over A2A, started and running.
    async fn start_reach(&self, input: Value) -> String {
        let params = json!({ "skill": "reach", "message": input });
        let mut stream = self.rpc_stream(&self.invoke, "tasks/sendSubscribe", params, None).await;
        let first = stream.next().await.unwrap();
        first.data["result"]["id"].as_str().unwrap_or_else(|| panic!("{first:?}")).to_owned()
    }

    /// A task that has ended, over A2A.
    async fn reach_task(&self, input: Value) -> String {
        let params = json!({ "skill": "reach", "message": input });
        let (_, answer) = self.rpc_as(&self.invoke, "tasks/send", params).await;
        answer["result"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    async fn trace(&self, id: &str) -> Vec<Value> {
        let (status, trace) = self.api(Method::GET, &format!("/tenants/acme/tasks/{id}/trace"), &self.read, None).await;
        assert_eq!(status, 200, "{trace}");
        trace["tasks"].as_array().unwrap().clone()
    }

    /// Waits until the task's first child is in this state, and gives it.
    async fn child_in(&self, id: &str, state: &str) -> Value {
        let patience = Instant::now() + Duration::from_secs(20);
        loop {
            let trace = self.trace(id).await;
            if let Some(child) = trace.get(1).filter(|child| child["state"] == state) {
                return child.clone();
            }
            assert!(Instant::now() < patience, "no child became {state}: {trace:?}");
        }
    }
}

#[tokio::test]
async fn a_call_is_a_task_of_its_own_in_the_name_of_the_same_caller() {
    let server = TestServer::with_reach().await;
    let id = server.reach_task(calling(calling(json!({ "do": "context" })))).await;
    let trace = server.trace(&id).await;
    let [root, child, grandchild] = trace.as_slice() else { panic!("{trace:?}") };
    assert_eq!(root["id"], json!(id));
    assert_eq!((&child["parentTaskId"], &grandchild["parentTaskId"]), (&root["id"], &child["id"]));
    for called in [child, grandchild] {
        assert_eq!((&called["door"], &called["state"]), (&json!("call"), &json!("completed")));
        assert_eq!((&called["caller"], &called["contextId"]), (&root["caller"], &root["contextId"]));
    }
    let seen = &grandchild["artifacts"][0]["value"];
    assert_eq!((&seen["door"], &seen["caller"], &seen["taskId"]), (&json!("call"), &root["caller"], &grandchild["id"]));
    assert_eq!(server.task(&id).await["artifacts"][0]["value"], *seen, "the result came all the way up");
    assert_eq!(server.task(child["id"].as_str().unwrap()).await["parentTaskId"], json!(id));
    let (status, _) = server.api(Method::GET, "/tenants/acme/tasks/task_0/trace", &server.read, None).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn several_calls_run_at_the_same_time() {
    let server = TestServer::with_reach().await;
    let inputs: Vec<Value> = (1..=5).map(|_| json!({ "do": "sleep", "ms": 600 })).collect();
    let id = server.reach_task(json!({ "do": "call_all", "skill": "reach", "inputs": inputs })).await;
    let trace = server.trace(&id).await;
    assert_eq!(trace[0]["artifacts"][0]["value"], json!([600, 600, 600, 600, 600]));
    let times = |field: &str| -> Vec<&str> { trace[1..].iter().map(|task| task[field].as_str().unwrap()).collect() };
    let (begun, ended) = (times("createdAt"), times("updatedAt"));
    assert_eq!(begun.len(), 5);
    assert!(begun.iter().max() < ended.iter().min(), "the last began before the first ended: {begun:?} {ended:?}");
    let wall = |task: &Value| task["wallUs"].as_i64().unwrap();
    let sum: i64 = trace[1..].iter().map(wall).sum();
    assert!(wall(&trace[0]) < sum, "waiting for all took {} of {sum} µs", wall(&trace[0]));
    assert!(trace[0]["cpuUs"].as_i64().unwrap() * 2 < wall(&trace[0]), "waiting is no CPU time: {}", trace[0]);
}

#[tokio::test]
async fn whichever_is_ready_first_can_be_taken_once() {
    let server = TestServer::with_reach().await;
    let inputs = json!([{ "do": "sleep", "ms": 20_000 }, { "do": "echo", "value": "quick" }]);
    let race = server.reach(json!({ "do": "call_race", "skill": "reach", "inputs": inputs })).await;
    assert_eq!(race, json!({ "winner": 1, "value": "quick", "again": false }));
}

#[tokio::test]
async fn a_function_that_calls_itself_ends_at_the_limit() {
    let server = TestServer::with_reach().await;
    let dive = server.reach(json!({ "do": "dive", "skill": "reach" })).await;
    assert_eq!(dive, json!({ "levels": 8, "end": "too_deep" }));
}

#[tokio::test]
async fn a_function_that_calls_itself_cannot_block_a_small_pool() {
    let (server, runtime, _directory) = TestServer::start_alone().await;
    server.deploy_reach("&grant=all").await;
    // Nine instances are wanted and fewer are there: the last call is refused, none waits for another for ever.
    let dive = server.reach(json!({ "do": "dive", "skill": "reach" })).await;
    assert!(dive["levels"].as_u64().unwrap() < 8, "{dive}");
    assert!(["busy", "unavailable"].contains(&dive["end"].as_str().unwrap()), "{dive}");
    assert_eq!(runtime.occupancy().running, 0);
    assert_eq!(server.reach(json!({ "do": "echo", "value": 1 })).await, 1);
}

#[tokio::test]
async fn cancelling_a_task_cancels_the_calls_it_has_made() {
    let server = TestServer::with_reach().await;
    let id = server.start_reach(calling(calling(json!({ "do": "sleep", "ms": 25_000 })))).await;
    let child = server.child_in(&id, "working").await;
    let grandchild = server.child_in(child["id"].as_str().unwrap(), "working").await;
    let (status, answer) = server.rpc_as(&server.invoke, "tasks/cancel", json!({ "id": id })).await;
    assert_eq!((status, &answer["result"]["status"]["state"]), (200, &json!("canceled")), "{answer}");
    server.child_in(&id, "canceled").await;
    server.child_in(child["id"].as_str().unwrap(), "canceled").await;
    assert_eq!(server.task(grandchild["id"].as_str().unwrap()).await["state"], "canceled");
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_any_more_is_stopped() {
    let server = TestServer::with_reach().await;
    let slow = json!({ "do": "sleep", "ms": 25_000 });
    let id = server.reach_task(json!({ "do": "call_and_leave", "skill": "reach", "input": slow })).await;
    assert_eq!(server.task(&id).await["state"], "completed");
    // It may have been dropped before it became a task at all.
    let patience = Instant::now() + Duration::from_secs(20);
    while server.trace(&id).await[1..].iter().any(|child| child["state"] != "canceled") {
        assert!(Instant::now() < patience, "it still runs: {:?}", server.trace(&id).await);
    }
}

#[tokio::test]
async fn the_callers_rights_go_along() {
    let server = TestServer::with_reach().await;
    server.deploy("echo.wasm", fixture("echo.wasm"), "&name=echo").await;
    server.deploy("echo.wasm", fixture("echo.wasm"), "&name=hidden&visibility=unlisted").await;
    let call = |skill: &str| json!({ "do": "call", "skill": skill, "input": { "a": 1 } });
    for skill in ["echo", "hidden"] {
        assert_eq!(server.reach(call(skill)).await, json!({ "a": 1 }), "{skill} with a key");
    }
    for (skill, code) in [("echo", "forbidden"), ("hidden", "unknown_skill")] {
        let (status, answer) = server.http("", "reach", call(skill)).await;
        assert_eq!((status, &answer["error"]["code"]), (422, &json!(code)), "{skill} as nobody: {answer}");
    }
    assert_eq!(server.reach_fails(call("missing")).await.0, "unknown_skill");
    assert_eq!(server.reach_fails(call("another")).await.0, "not_granted", "not even whether it exists is told");
}

#[tokio::test]
async fn how_a_call_fails_is_told_to_whoever_called() {
    let server = TestServer::with_reach().await;
    let input = calling(json!({ "do": "fail", "code": "out_of_stock", "message": "no more" }));
    let (status, answer) = server.http("", "reach", input).await;
    assert_eq!(status, 422, "{answer}");
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["message"], &answer["error"]["details"], &answer["retryable"]),
        (&json!("out_of_stock"), &json!("no more"), &json!({ "why": "told to" }), &json!(true)),
        "{answer}"
    );
    let manifest = json!({ "description": "d", "input": { "type": "object", "required": ["n"] } });
    server.deploy("strict.wat", answering(&manifest, "1"), "&name=echo").await;
    let strict = |input: Value| json!({ "do": "call", "skill": "echo", "input": input });
    assert_eq!(server.reach(strict(json!({ "n": 1 }))).await, 1);
    let (code, message) = server.reach_fails(strict(json!({}))).await;
    assert!(code == "invalid_input" && message.contains("does not match the skill's schema"), "{message}");
}

#[tokio::test]
async fn a_question_ends_the_call_that_cannot_be_answered() {
    let server = TestServer::with_reach().await;
    let id = server.reach_task(calling(json!({ "do": "ask", "prompt": "which one?" }))).await;
    let failure = &server.task(&id).await["failure"];
    assert_eq!((&failure["code"], &failure["message"]), (&json!("input-required"), &json!("which one?")));
    server.child_in(&id, "canceled").await;
}
