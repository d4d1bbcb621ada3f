//! Coming back to a stream: from the start, from the middle, after the end.

use serde_json::{Value, json};

use super::{artifact, assert_whole, results, send, status, task_id};
use crate::harness::{Frame, TestServer};

async fn resubscribe(server: &TestServer, id: &Value, last_event_id: Option<u32>) -> Vec<Frame> {
    let stream = server.rpc_stream("", "tasks/resubscribe", id.clone(), last_event_id).await;
    assert_eq!((stream.status, stream.content_type.as_str()), (200, "text/event-stream"));
    stream.all().await
}

#[tokio::test]
async fn a_finished_task_gives_its_events_again() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let input = json!({ "do": "emit", "chunks": 5, "delay_ms": 0 });
    let told = server.rpc_stream("", "tasks/sendSubscribe", send(&input), None).await.all().await;
    assert_whole(&told);
    let id = task_id(&told);
    assert_eq!(resubscribe(&server, &id, None).await, told);
    assert_eq!(resubscribe(&server, &id, Some(0)).await, told);
    for seen in 1..=told.len() {
        let rest = resubscribe(&server, &id, Some(u32::try_from(seen).unwrap())).await;
        assert_eq!(rest, told[seen..], "behind event {seen}");
    }
    assert_eq!(resubscribe(&server, &id, Some(4_000_000_000)).await, []);
}

#[tokio::test]
async fn a_running_task_is_joined_where_the_reader_left_it() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let input = json!({ "do": "emit", "chunks": 25, "delay_ms": 20 });
    let mut stream = server.rpc_stream("", "tasks/sendSubscribe", send(&input), None).await;
    let mut seen = Vec::new();
    let mut id = json!(null);
    // Two leaves, each in the middle.
    for _ in 0..2 {
        for _ in 0..4 {
            seen.push(stream.next().await.unwrap());
        }
        assert!(seen.iter().all(|frame| frame.data["result"]["final"] != true), "it still runs");
        drop(stream);
        id = task_id(&seen);
        stream = server.rpc_stream("", "tasks/resubscribe", id.clone(), seen.last().unwrap().id).await;
    }
    seen.extend(stream.all().await);
    assert_whole(&seen);
    assert_eq!(seen, resubscribe(&server, &id, None).await, "nothing lost, nothing repeated");
    let text: String = (1..=25).map(|chunk| format!("chunk {chunk}")).collect();
    assert_eq!(super::assembled(&seen, "probe-stream"), text);
}

/// Read from the start while it runs: what is durable first, then what comes.
#[tokio::test]
async fn a_running_task_is_told_from_the_start_to_whoever_comes_late() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let input = json!({ "do": "emit", "chunks": 120, "delay_ms": 2 });
    let mut first = server.rpc_stream("", "tasks/sendSubscribe", send(&input), None).await;
    let mut told = vec![first.next().await.unwrap()];
    // By then the task has more events than it keeps in memory.
    while told.last().unwrap().id.unwrap() < 100 {
        told.push(first.next().await.unwrap());
    }
    let late = resubscribe(&server, &task_id(&told), None).await;
    while let Some(frame) = first.next().await {
        told.push(frame);
    }
    assert_whole(&late);
    assert_eq!(late, told);
}

/// A short task stores no events; who asks for them gets what would have been told.
#[tokio::test]
async fn a_short_task_has_a_stream_too() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let sent = server.rpc("tasks/send", send(&json!({ "do": "echo", "value": "hi" }))).await;
    let id = json!({ "id": sent["result"]["id"] });
    let told = resubscribe(&server, &id, None).await;
    assert_whole(&told);
    let result = artifact("probe-result", 0, "hi", false, true);
    assert_eq!(results(&told), [status("working", false), result, status("completed", true)]);
    for seen in 1..=3 {
        let rest = resubscribe(&server, &id, Some(u32::try_from(seen).unwrap())).await;
        assert_eq!(rest, told[seen..], "behind event {seen}");
    }
}

#[tokio::test]
async fn a_call_of_the_plain_door_has_a_stream_too() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let body = json!({ "do": "echo", "value": "hi" }).to_string();
    let response = server.post("/probe", "application/json", body).send().await.unwrap();
    let id = response.headers()["pleat-task-id"].to_str().unwrap().to_owned();
    let told = resubscribe(&server, &json!({ "id": id }), Some(0)).await;
    assert_whole(&told);
    assert_eq!(told[1].data["result"]["artifact"]["parts"][0]["text"], "hi");
}

#[tokio::test]
async fn a_place_that_is_no_number_is_refused() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let sent = server.rpc("tasks/send", send(&json!({ "do": "echo", "value": "hi" }))).await;
    let body =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/resubscribe", "params": { "id": sent["result"]["id"] } });
    for place in ["x", "-1", "1.5", "", "99999999999"] {
        let request = server.post("/_a2a/", "application/json", body.to_string()).header("last-event-id", place);
        let answer: Value = request.send().await.unwrap().json().await.unwrap();
        let error = json!({ "code": -32602, "message": "`Last-Event-ID` must be the `id` of an event of this task" });
        assert_eq!(answer["error"], error, "{place}");
    }
}

#[tokio::test]
async fn what_cannot_be_streamed_is_answered_plainly() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let unknown = json!({ "id": format!("task_{}", "0".repeat(32)) });
    for (method, params, code) in [
        ("tasks/resubscribe", unknown, -32001),
        ("tasks/resubscribe", json!({ "id": "nonsense" }), -32001),
        ("tasks/sendSubscribe", json!({ "skill": "absent", "message": 1 }), -32602),
    ] {
        let stream = server.rpc_stream("", method, params, None).await;
        assert_eq!((stream.status, stream.content_type.as_str()), (200, "application/json"));
        let answer: Value = serde_json::from_str(&stream.text().await).unwrap();
        assert_eq!(answer["error"]["code"], code);
    }
    let (_, theirs) = server.rpc_as(&server.invoke, "tasks/send", send(&json!({ "do": "echo", "value": 1 }))).await;
    let refused = server.rpc("tasks/resubscribe", json!({ "id": theirs["result"]["id"] })).await;
    assert_eq!(refused["error"], json!({ "code": -32001, "message": "task not found" }));
}
