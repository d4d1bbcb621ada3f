//! Event streams: in order, without gap or repeat, for however many readers, however slow.

mod readers;
mod resume;
mod revoked;

use serde_json::{Value, json};

use crate::harness::{Frame, TestServer, redacted};

/// The numbers are 1 to n, and `final` is on the last event alone.
fn assert_whole(frames: &[Frame]) {
    let ids: Vec<u32> = frames.iter().map(|frame| frame.id.unwrap()).collect();
    assert_eq!(ids, (1..=u32::try_from(frames.len()).unwrap()).collect::<Vec<_>>());
    let finals: Vec<bool> = frames.iter().map(|frame| frame.data["result"]["final"] == true).collect();
    assert_eq!(finals.iter().filter(|is_final| **is_final).count(), 1, "{frames:?}");
    assert_eq!(finals.last(), Some(&true), "{frames:?}");
}

/// The text of an artifact, put together as a client would.
fn assembled(frames: &[Frame], name: &str) -> String {
    let updates = frames.iter().map(|frame| &frame.data["result"]).filter(|result| result["artifact"]["name"] == name);
    updates.fold(String::new(), |text, update| {
        let parts = update["artifact"]["parts"].as_array().unwrap();
        let chunk: String = parts.iter().map(|part| part["text"].as_str().unwrap()).collect();
        if update["append"] == true { text + &chunk } else { chunk }
    })
}

fn send(input: &Value) -> Value {
    json!({ "skill": "probe", "message": input })
}

fn task_id(frames: &[Frame]) -> Value {
    json!({ "id": frames[0].data["result"]["id"] })
}

/// The data of all frames, without what differs from run to run.
fn results(frames: &[Frame]) -> Vec<Value> {
    frames.iter().map(|frame| redacted(frame.data["result"].clone())).collect()
}

fn status(state: &str, is_final: bool) -> Value {
    json!({ "id": "task_#", "taskId": "task_#", "contextId": "ctx_#", "kind": "status-update",
            "status": { "state": state, "timestamp": "#" }, "final": is_final })
}

fn progress(done: f64, total: f64) -> Value {
    let mut event = status("working", false);
    event["metadata"] = json!({ "progress": { "done": done, "total": total } });
    event
}

fn artifact(name: &str, index: usize, text: &str, append: bool, last: bool) -> Value {
    json!({ "id": "task_#", "taskId": "task_#", "contextId": "ctx_#", "kind": "artifact-update",
            "artifact": { "artifactId": name, "name": name, "index": index, "append": append, "lastChunk": last,
                          "parts": [{ "type": "text", "kind": "text", "text": text }] },
            "append": append, "lastChunk": last })
}

#[tokio::test]
async fn a_stream_tells_everything_in_order() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let input = json!({ "do": "emit", "chunks": 2, "delay_ms": 0 });
    let body = json!({ "jsonrpc": "2.0", "id": "s-1", "method": "tasks/sendSubscribe", "params": send(&input) });
    let response = server.post("/_a2a/", "application/json", body.to_string()).send().await.unwrap();
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(response.status(), 200);
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!((header("cache-control"), header("x-accel-buffering")), ("no-cache".to_owned(), "no".to_owned()));
    let frames = crate::harness::Stream::of(response).all().await;
    assert_whole(&frames);
    assert!(
        frames.iter().all(|frame| frame.event.is_none() && frame.data["jsonrpc"] == "2.0" && frame.data["id"] == "s-1")
    );
    assert_eq!(
        results(&frames),
        [
            status("working", false),
            artifact("probe-stream", 0, "chunk 1", false, false),
            progress(1.0, 2.0),
            artifact("probe-stream", 0, "chunk 2", true, true),
            progress(2.0, 2.0),
            artifact("probe-result", 1, "done", false, true),
            status("completed", true),
        ]
    );
    let found = server.rpc("tasks/get", task_id(&frames)).await;
    let artifacts: Vec<(&Value, &Value)> = found["result"]["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|artifact| (&artifact["name"], &artifact["parts"][0]["text"]))
        .collect();
    let (stream, result) = ((json!("probe-stream"), json!("chunk 1chunk 2")), (json!("probe-result"), json!("done")));
    assert_eq!(artifacts, [(&stream.0, &stream.1), (&result.0, &result.1)], "the task holds what the stream told");
}

#[tokio::test]
async fn chunks_that_come_quickly_are_put_together() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let input = json!({ "do": "flood_events", "count": 2_000 });
    let frames = server.rpc_stream("", "tasks/sendSubscribe", send(&input), None).await.all().await;
    assert_whole(&frames);
    assert_eq!(assembled(&frames, "probe-stream"), "x".repeat(2_000));
    assert_eq!(assembled(&frames, "probe-result"), "2000");
    assert!(frames.len() < 200, "{} events for 2,000 chunks", frames.len());
    let found = server.rpc("tasks/get", task_id(&frames)).await;
    assert_eq!(found["result"]["artifacts"][0]["parts"][0]["text"], "x".repeat(2_000));
}

#[tokio::test]
async fn artifacts_are_told_apart_by_name_and_index() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let input = json!({ "do": "emit", "chunks": 1, "delay_ms": 0, "artifact": "report" });
    let frames = server.rpc_stream("", "tasks/sendSubscribe", send(&input), None).await.all().await;
    let named: Vec<(&Value, &Value)> = frames
        .iter()
        .map(|frame| &frame.data["result"]["artifact"])
        .filter(|artifact| !artifact.is_null())
        .map(|artifact| (&artifact["artifactId"], &artifact["index"]))
        .collect();
    assert_eq!(named, [(&json!("report"), &json!(0)), (&json!("probe-result"), &json!(1))]);
}

#[tokio::test]
async fn progress_is_a_working_status_that_says_more() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let input = json!({ "do": "progress", "done": 1.5, "total": 3.0, "note": "half way" });
    let frames = server.rpc_stream("", "tasks/sendSubscribe", send(&input), None).await.all().await;
    assert_whole(&frames);
    let mut event = progress(1.5, 3.0);
    event["metadata"]["progress"]["note"] = json!("half way");
    event["status"]["message"] = json!({
        "kind": "message", "messageId": "task_#-progress-#", "role": "agent", "taskId": "task_#", "contextId": "ctx_#",
        "parts": [{ "type": "text", "kind": "text", "text": "half way" }],
    });
    let result = artifact("probe-result", 0, "done", false, true);
    assert_eq!(results(&frames), [status("working", false), event, result, status("completed", true)]);
}

#[tokio::test]
async fn a_failure_and_a_question_end_the_stream_with_their_reason() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    for (input, state, text, metadata) in [
        (
            json!({ "do": "fail", "code": "closed", "message": "the order is closed" }),
            "failed",
            "the order is closed",
            json!({ "failure": { "reason": "function_error", "code": "closed", "retryable": false } }),
        ),
        (
            json!({ "do": "need_input", "prompt": "name?", "schema": { "type": "string" }, "state": 1 }),
            "input-required",
            "name?",
            json!({ "schema": { "type": "string" } }),
        ),
        (
            json!({ "do": "reject", "reason": "not today" }),
            "rejected",
            "not today",
            json!({ "failure": { "reason": "function_error", "retryable": false } }),
        ),
    ] {
        let frames = server.rpc_stream("", "tasks/sendSubscribe", send(&input), None).await.all().await;
        assert_whole(&frames);
        let mut last = status(state, true);
        last["metadata"] = metadata;
        last["status"]["message"] = json!({
            "kind": "message", "messageId": "task_#-#", "role": "agent", "taskId": "task_#", "contextId": "ctx_#",
            "parts": [{ "type": "text", "kind": "text", "text": text }],
        });
        assert_eq!(results(&frames), [status("working", false), last]);
    }
}

/// A panic's detail is the owner's.
#[tokio::test]
async fn what_belongs_to_the_owner_is_in_no_stream() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let frames = server.rpc_stream("", "tasks/sendSubscribe", send(&json!({ "do": "panic" })), None).await.all().await;
    let last = &frames.last().unwrap().data["result"];
    assert_eq!(last["metadata"], json!({ "failure": { "reason": "trap", "retryable": false } }));
    assert!(!serde_json::to_string(&results(&frames)).unwrap().contains("panicked at"), "{frames:?}");
    let owned = server.task(last["id"].as_str().unwrap()).await;
    assert!(owned["failure"]["detail"].as_str().unwrap().contains("panicked at"), "{owned}");

    let trace = json!([{ "type": "thinking", "thinking": "secret" }]).to_string();
    let input = json!({ "do": "emit_raw", "kind": "blocks", "text": trace, "artifact": "mind" });
    let frames = server.rpc_stream("", "tasks/sendSubscribe", send(&input), None).await.all().await;
    assert_eq!(frames.last().unwrap().data["result"]["status"]["state"], "completed");
    let again = server.rpc_stream("", "tasks/resubscribe", task_id(&frames), None).await.all().await;
    let found = server.rpc("tasks/get", task_id(&frames)).await;
    assert!(!format!("{frames:?} {again:?} {found}").contains("secret"));
    let owned = server.task(frames[0].data["result"]["id"].as_str().unwrap()).await;
    assert!(owned["artifacts"].to_string().contains("secret"));
}

#[tokio::test]
async fn an_id_of_the_clients_making_is_in_every_event() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let params =
        json!({ "id": "mine", "sessionId": "talk", "skill": "probe", "message": { "do": "echo", "value": 1 } });
    let frames = server.rpc_stream(&server.invoke, "tasks/sendSubscribe", params, None).await.all().await;
    assert_whole(&frames);
    for frame in &frames {
        let result = &frame.data["result"];
        assert_eq!(
            (&result["id"], &result["taskId"], &result["contextId"]),
            (&json!("mine"), &json!("mine"), &json!("talk"))
        );
    }
}
