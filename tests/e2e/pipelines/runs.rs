//! What a run does: groups, conditions, retries, items, pipelines within pipelines, and how it fails.

use serde_json::json;

use super::{echo, labels, output, server};

#[tokio::test]
async fn steps_run_side_by_side_under_conditions_and_are_put_together() {
    let server = server().await;
    server
        .activate(
            "name: mixed
steps:
  - parallel:
      - {id: a, tool_name: probe, input_mapping: {do: 'literal:echo', value: $input.left}}
      - {id: b, tool_name: probe, when: $input.right > 1, input_mapping: {do: 'literal:echo', value: $input.right}}
  - {id: c, tool_name: probe, when: not exists $steps.b, input_mapping: {do: 'literal:echo', value: 'literal:none'}}
  - {id: d, tool_name: echo}
output: {a: $steps.a, b: $steps.b, c: $steps.c, d: $steps.d}
",
        )
        .await;
    let run = server.run("mixed", json!({ "left": 1, "right": 2 })).await;
    assert_eq!(output(&run), json!({ "a": 1, "b": 2, "d": { "a": 1, "b": 2 } }));
    assert_eq!(run["run"]["skipped"], json!(["c"]), "{run:#}");
    let run = server.run("mixed", json!({ "left": 1, "right": 0 })).await;
    assert_eq!(output(&run), json!({ "a": 1, "c": "none", "d": "none" }));
    assert_eq!(run["run"]["skipped"], json!(["b"]), "{run:#}");
    assert_eq!(labels(&server.steps(&run).await), ["a#1", "c#1", "d#1"]);
}

#[tokio::test]
async fn a_step_that_may_pass_is_tried_again_and_each_try_is_kept() {
    let server = server().await;
    let retry = "name: retry\nsteps: [{id: a, tool_name: probe, retry: {attempts: 3, backoff: 10ms}}]";
    server.activate(retry).await;
    let input = json!({ "do": "fail", "code": "later", "message": "not now", "retryable": true });
    let run = server.run("retry", input).await;
    assert_eq!((&run["state"], &run["failure"]["code"]), (&json!("failed"), &json!("later")), "{run:#}");
    assert_eq!(run["failure"]["message"], "step `a` failed: not now");
    let steps = server.steps(&run).await;
    assert_eq!(labels(&steps), ["a#1", "a#2", "a#3"]);
    assert!(steps.iter().all(|(_, state)| state == "failed"), "{steps:?}");
    let input = json!({ "do": "fail", "code": "never", "message": "no", "retryable": false });
    assert_eq!(server.steps(&server.run("retry", input).await).await.len(), 1, "what cannot pass is not tried again");
}

#[tokio::test]
async fn a_step_that_takes_too_long_is_stopped_and_has_failed() {
    let server = server().await;
    server.activate("name: timely\nsteps: [{id: a, tool_name: probe, timeout: 100ms}]").await;
    let run = server.run("timely", json!({ "do": "sleep", "ms": 20_000 })).await;
    assert_eq!((&run["state"], &run["failure"]["reason"]), (&json!("failed"), &json!("wall_limit")), "{run:#}");
    let steps = server.steps(&run).await;
    assert_eq!(steps, [("a#1".to_owned(), "failed".to_owned())], "and that is in the journal");
}

#[tokio::test]
async fn items_run_and_answer_in_order_and_a_gap_is_null_where_it_may_be() {
    let server = server().await;
    let fan = "name: fan\nsteps: [{id: part, tool_name: probe, for_each: {in: $input.items, on_failure: continue}}]";
    server.activate(fan).await;
    let fails = json!({ "do": "fail", "code": "x", "message": "x" });
    let run = server.run("fan", json!({ "items": [echo(json!(1)), fails, echo(json!(3))] })).await;
    assert_eq!(output(&run), json!([1, null, 3]));
    let mut steps = server.steps(&run).await;
    steps.sort();
    assert_eq!(labels(&steps), ["part[0]#1", "part[1]#1", "part[2]#1"]);
    server.activate(&fan.replace("continue", "stop")).await;
    let failed = server.run("fan", json!({ "items": [json!({ "do": "panic" })] })).await;
    assert_eq!(failed["failure"]["message"].as_str().unwrap().split(": ").next(), Some("step `part`, item 0 failed"));
}

#[tokio::test]
async fn a_pipeline_within_a_pipeline_is_a_run_of_its_own() {
    let server = server().await;
    server.activate("name: inner\nsteps: [{id: x, tool_name: probe}]").await;
    server.activate("name: outer\nsteps: [{id: a, tool_name: 'pipeline:inner'}, {id: b, tool_name: echo}]").await;
    let run = server.run("outer", echo(json!({ "deep": true }))).await;
    assert_eq!(output(&run), json!({ "deep": true }));
    let trace = server.trace_of(&run).await;
    let skills: Vec<&str> = trace.iter().map(|task| task["skill"].as_str().unwrap()).collect();
    assert_eq!(skills, ["pipeline:outer", "pipeline:inner", "probe", "echo"]);
    assert_eq!(trace[2]["parentTaskId"], trace[1]["id"], "the inner run has its own steps");
    assert_eq!(trace[1]["run"]["pins"], trace[0]["run"]["pins"], "and the versions of the outer one");
    assert_eq!(trace[0]["run"]["pins"], json!({ "echo": 1, "pipeline:inner": 1, "probe": 1 }));
}

#[tokio::test]
async fn what_a_step_is_refused_or_asks_fails_the_run_with_the_reason() {
    let server = server().await;
    server.activate("name: one\nsteps: [{id: a, tool_name: probe}]").await;
    let run = server.run("one", json!({ "do": "need_input", "prompt": "which?" })).await;
    assert_eq!((&run["state"], &run["failure"]["code"]), (&json!("failed"), &json!("input-required")), "{run:#}");
    assert_eq!(server.steps(&run).await, [("a#1".to_owned(), "failed".to_owned())], "nobody can answer it");
    let run = server.run("one", json!({ "do": "reject", "reason": "not mine" })).await;
    assert_eq!(run["failure"]["message"], "step `a` failed: not mine");

    server.deploy("hidden.wasm", crate::harness::fixture("echo.wasm"), "&name=hidden&visibility=listed").await;
    server.activate("name: reach\nsteps: [{id: a, tool_name: hidden}]").await;
    let (status, body) = server.http("", "pipeline:reach", json!(1)).await;
    assert_eq!((status, &body["error"]["code"]), (422, &json!("forbidden")), "a caller reaches no further: {body}");
    let runs = server.api(reqwest::Method::GET, "/tenants/acme/pipelines/reach/runs", &server.read, None).await.1;
    let trace = server.trace_of(&runs["tasks"][0]).await;
    assert_eq!((&trace[1]["step"], &trace[1]["failure"]["code"]), (&json!("a#1"), &json!("forbidden")), "{trace:#?}");
    assert_eq!(server.http(&server.invoke, "pipeline:reach", json!(1)).await, (200, json!(1)));
}

#[tokio::test]
async fn the_output_has_to_fit_its_schema() {
    let server = server().await;
    server.activate("name: typed\nsteps: [{id: a, tool_name: probe}]\noutput_schema: {type: string}").await;
    assert_eq!(output(&server.run("typed", echo(json!("text"))).await), "text");
    let run = server.run("typed", echo(json!(1))).await;
    assert_eq!(run["failure"]["reason"], "bad_output", "{run:#}");
}
