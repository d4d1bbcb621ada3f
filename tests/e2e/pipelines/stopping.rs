//! Cancelling a run stops everything that runs for it.

use reqwest::Method;
use serde_json::json;

use super::{labels, server};

const SLOW: &str = "
name: slow
steps:
  - {id: first, tool_name: probe, input_mapping: {do: 'literal:echo', value: 'literal:1'}}
  - parallel:
      - {id: left, tool_name: probe, input_mapping: $input}
      - {id: right, tool_name: 'pipeline:inner', input_mapping: $input}
";

#[tokio::test]
async fn a_cancel_stops_all_running_steps_and_inner_runs() {
    let server = server().await;
    server.activate("name: inner\nsteps: [{id: x, tool_name: probe}]").await;
    server.activate(SLOW).await;
    let sent = json!({ "skill": "pipeline:slow", "message": { "do": "sleep", "ms": 25_000 } });
    let mut stream = server.rpc_stream(&server.invoke, "tasks/sendSubscribe", sent, None).await;
    let id = stream.next().await.unwrap().data["result"]["id"].as_str().unwrap().to_owned();
    let run = json!({ "id": id });
    // Its row is there once it runs; a short step has none before its end.
    while server.steps(&run).await.len() < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let started = std::time::Instant::now();
    let (_, answer) = server.rpc_as(&server.invoke, "tasks/cancel", run.clone()).await;
    assert_eq!(answer["result"]["status"]["state"], "canceled", "{answer}");
    assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
    let trace = server.trace_of(&run).await;
    let states: Vec<(&str, &str)> =
        trace.iter().map(|task| (task["skill"].as_str().unwrap(), task["state"].as_str().unwrap())).collect();
    assert_eq!(states.iter().filter(|(_, state)| *state == "canceled").count(), 4, "{states:?}");
    assert_eq!(server.steps(&run).await[0], ("first#1".to_owned(), "completed".to_owned()));
    let (_, working) = server.api(Method::GET, "/tenants/acme/tasks?state=working", &server.read, None).await;
    assert_eq!(working["tasks"], json!([]), "nothing goes on");
}

/// A step that waits for its next try has nothing that could be stopped: it must not begin.
#[tokio::test]
async fn a_cancel_between_two_tries_begins_no_further_one() {
    let server = server().await;
    let retry = "name: patient\nsteps: [{id: a, tool_name: probe, retry: {attempts: 3, backoff: 30s}}]";
    server.activate(retry).await;
    let input = json!({ "do": "fail", "code": "later", "message": "not now", "retryable": true });
    let sent = json!({ "skill": "pipeline:patient", "message": input });
    let mut stream = server.rpc_stream(&server.invoke, "tasks/sendSubscribe", sent, None).await;
    let id = stream.next().await.unwrap().data["result"]["id"].as_str().unwrap().to_owned();
    let run = json!({ "id": id });
    while server.steps(&run).await.is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let (_, answer) = server.rpc_as(&server.invoke, "tasks/cancel", run.clone()).await;
    assert_eq!(answer["result"]["status"]["state"], "canceled", "{answer}");
    assert_eq!(server.steps(&run).await, [("a#1".to_owned(), "failed".to_owned())]);
}

#[tokio::test]
async fn the_failure_of_one_of_a_group_stops_the_others() {
    let server = server().await;
    let text = "name: group\nsteps: [{parallel: [{id: a, tool_name: probe, input_mapping: {do: 'literal:panic'}}, \
        {id: b, tool_name: probe, input_mapping: {do: 'literal:sleep', ms: 25000}}]}]";
    server.activate(text).await;
    let started = std::time::Instant::now();
    let run = server.run("group", json!(null)).await;
    assert_eq!(run["failure"]["reason"], "trap", "{run:#}");
    assert!(started.elapsed() < std::time::Duration::from_secs(10));
    let mut steps = server.steps(&run).await;
    steps.sort();
    assert_eq!(labels(&steps), ["a#1", "b#1"]);
    assert_eq!(steps[1].1, "canceled");
}
