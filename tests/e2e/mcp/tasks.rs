//! The tasks extension: a call that goes on is a task, the same that A2A shows.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Client, Modern};
use crate::harness::TestServer;

const JOBS: &str = r#"
    export const description = "Works as told";
    export default async function (input, ctx) {
      if (input.fail) throw new Error("it went wrong");
      if (input.ask && ctx.turn === 1) {
        return ctx.needClient("several", {
          first: { kind: "elicit", params: { message: "one?" } }, second: { kind: "elicit", params: { message: "two?" } } });
      }
      await new Promise((go) => setTimeout(go, (input.seconds ?? 0) * 1000));
      return ctx.reply ?? "done";
    }"#;

fn capabilities() -> Value {
    json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

async fn started() -> (TestServer, Modern) {
    let server = TestServer::start().await;
    server.deploy("job.js", JOBS, "&visibility=public").await;
    let required =
        JOBS.replace("export default", "export const annotations = { taskSupport: \"required\" };\nexport default");
    server.deploy("long.js", required, "&visibility=public").await;
    let forbidden =
        JOBS.replace("export default", "export const annotations = { taskSupport: \"forbidden\" };\nexport default");
    server.deploy("short.js", forbidden, "&visibility=public").await;
    let client = Modern::new(&server, capabilities());
    (server, client)
}

async fn until(client: &Modern, id: &Value, status: &str) -> Value {
    let reached = async {
        loop {
            let task = client.result("tasks/get", json!({ "taskId": id })).await;
            if task["status"] == status {
                return task;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reached).await.unwrap_or_else(|_| panic!("never {status}"))
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

#[tokio::test]
async fn a_long_call_is_a_task_that_everybody_can_ask_for() {
    let (server, client) = started().await;
    let created = client.result("tools/call", call("job", json!({ "seconds": 1 }))).await;
    assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")), "{created}");
    let id = &created["taskId"];
    let over_a2a = server.rpc("tasks/get", json!({ "id": id })).await;
    assert_eq!(over_a2a["result"]["status"]["state"], "working", "the same task");
    let done = until(&client, id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "done");
    assert_eq!((&done["resultType"], done.get("requestState")), (&json!("complete"), None));
    let quick = client.result("tools/call", call("job", json!({}))).await;
    assert_eq!(quick["resultType"], "complete", "what is over at once needs no task");
}

#[tokio::test]
async fn a_function_decides_whether_its_calls_are_tasks() {
    let (server, client) = started().await;
    assert_eq!(client.result("tools/call", call("long", json!({}))).await["resultType"], "task");
    assert_eq!(client.result("tools/call", call("short", json!({ "seconds": 0.6 }))).await["resultType"], "complete");
    let unable = Modern::new(&server, json!({}));
    let (status, answer) = unable.ask("tools/call", call("long", json!({}))).await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32021)), "{answer}");
    let needed = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    assert_eq!(answer["error"]["data"]["requiredCapabilities"], needed);
    assert_eq!(unable.result("tools/call", call("job", json!({ "seconds": 0.6 }))).await["resultType"], "complete");
    assert_eq!(unable.ask("tasks/get", json!({ "taskId": "x" })).await.1["error"]["code"], -32021);
}

/// A session's versions have no tasks as results, whatever its client declares.
#[tokio::test]
async fn a_session_gets_results_even_where_it_speaks_of_tasks() {
    let (server, _) = started().await;
    let session = Client::open(&server, capabilities()).await;
    for name in ["job", "long"] {
        let done = session.call(name, json!({ "seconds": 0.6 })).await;
        assert_eq!((&done["content"][0]["text"], done.get("taskId")), (&json!("done"), None), "{name}: {done}");
    }
}

#[tokio::test]
async fn failing_is_completing_and_only_the_platform_fails() {
    let (server, client) = started().await;
    let failed = client.result("tools/call", call("long", json!({ "fail": true }))).await;
    let task = until(&client, &failed["taskId"], "completed").await;
    assert_eq!(
        (&task["result"]["isError"], &task["result"]["content"][0]["text"]),
        (&json!(true), &json!("it went wrong"))
    );
    let stuck = JOBS.replace("export default", "export const limits = { wallMs: 500 };\nexport default");
    server.deploy("stuck.js", stuck, "&visibility=public").await;
    let created = client.result("tools/call", call("stuck", json!({ "seconds": 30 }))).await;
    let task = until(&client, &created["taskId"], "failed").await;
    assert_eq!((&task["error"]["code"], task.get("result")), (&json!(-32603), None), "{task}");
}

#[tokio::test]
async fn cancelling_is_acknowledged_whatever_became_of_the_task() {
    let (_server, client) = started().await;
    let created = client.result("tools/call", call("job", json!({ "seconds": 30 }))).await;
    let named = json!({ "taskId": created["taskId"] });
    let acknowledged = client.result("tasks/cancel", named.clone()).await;
    assert_eq!((&acknowledged["resultType"], acknowledged.get("taskId")), (&json!("complete"), None));
    until(&client, &created["taskId"], "cancelled").await;
    assert_eq!(client.result("tasks/cancel", named).await["resultType"], "complete");
}

#[tokio::test]
async fn answers_may_come_one_by_one() {
    let (_server, client) = started().await;
    let created = client.result("tools/call", call("long", json!({ "ask": true }))).await;
    let id = &created["taskId"];
    let waiting = until(&client, id, "input_required").await;
    assert_eq!(waiting["inputRequests"].as_object().unwrap().len(), 2);
    let update = |key: &str| json!({ "taskId": id, "inputResponses": { key: { "action": "accept" } } });
    for key in ["stray", "first"] {
        assert_eq!(client.result("tasks/update", update(key)).await["resultType"], "complete");
    }
    let half = client.result("tasks/get", json!({ "taskId": id })).await;
    assert_eq!(half["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["second"], "{half}");
    client.result("tasks/update", update("second")).await;
    let done = until(&client, id, "completed").await;
    assert_eq!(done["result"]["structuredContent"]["first"], json!({ "action": "accept" }));
}

/// A client that knows tasks is shown what a task asks for, and may answer it without having declared that it can.
#[tokio::test]
async fn who_answers_needs_not_have_declared_that_it_can() {
    let (server, _) = started().await;
    let client = Modern::new(&server, json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    let created = client.result("tools/call", call("long", json!({ "ask": true }))).await;
    let id = &created["taskId"];
    until(&client, id, "input_required").await;
    for key in ["first", "second"] {
        let waiting = client.result("tasks/get", json!({ "taskId": id })).await;
        assert_eq!(waiting["status"], "input_required", "{waiting}");
        let answer = json!({ "taskId": id, "inputResponses": { key: { "action": "accept" } } });
        client.result("tasks/update", answer).await;
    }
    let done = until(&client, id, "completed").await;
    assert_eq!(done["result"]["structuredContent"]["second"], json!({ "action": "accept" }), "{done}");
}

#[tokio::test]
async fn somebody_elses_task_is_none() {
    let (server, client) = started().await;
    let mine = client.clone().with_key(&server.invoke);
    let created = mine.result("tools/call", call("job", json!({ "seconds": 20 }))).await;
    let named = json!({ "taskId": created["taskId"] });
    let random = json!({ "taskId": format!("task_{}", "1".repeat(32)) });
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let (_, theirs) = client.ask(method, named.clone()).await;
        let (_, nobodys) = client.ask(method, random.clone()).await;
        assert_eq!(theirs, nobodys, "{method}");
        assert_eq!(theirs["error"]["code"], -32602);
    }
    mine.result("tasks/cancel", named).await;
}
