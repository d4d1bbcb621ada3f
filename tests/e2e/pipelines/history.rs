//! The history of a pipeline, and running the end of a run again.

use reqwest::Method;
use serde_json::{Value, json};

use super::{PIPELINES, STRICT, echo, labels, output, server};
use crate::harness::TestServer;

const THREE: &str = "
name: three
steps:
  - {id: a, tool_name: probe}
  - {id: b, tool_name: probe, input_mapping: {do: 'literal:random'}}
  - {id: c, tool_name: echo, input_mapping: {a: $steps.a, b: $steps.b}}
";

async fn listed(server: &TestServer, query: &str) -> Vec<Value> {
    let (status, page) = server.api(Method::GET, &format!("{PIPELINES}/three/runs{query}"), &server.read, None).await;
    assert_eq!(status, 200, "{page}");
    page["tasks"].as_array().unwrap().clone()
}

#[tokio::test]
async fn runs_are_listed_and_filtered() {
    let server = server().await;
    server.activate(THREE).await;
    let good = server.run("three", echo(json!(1))).await;
    let bad = server.run("three", json!({ "do": "panic" })).await;
    server.http("", "pipeline:three", echo(json!(2))).await;
    assert_eq!(listed(&server, "").await.len(), 3);
    assert_eq!(listed(&server, "?state=failed").await[0]["id"], bad["id"]);
    assert_eq!(listed(&server, "?caller=anonymous").await.len(), 1);
    let since = bad["createdAt"].as_str().unwrap();
    assert_eq!(listed(&server, &format!("?since={since}")).await.len(), 2);
    assert!(listed(&server, "").await.iter().any(|run| run["id"] == good["id"]));
    assert_eq!(listed(&server, "?limit=1").await.len(), 1);
    let (status, _) = server.api(Method::GET, &format!("{PIPELINES}/none/runs"), &server.read, None).await;
    assert_eq!(status, 404);

    server.activate("name: outer\nsteps: [{id: x, tool_name: 'pipeline:three'}]").await;
    server.run("outer", echo(json!(3))).await;
    assert_eq!(listed(&server, "").await.len(), 3, "steps of other runs are not in it");
    assert_eq!(listed(&server, "?steps=true").await.len(), 4);
}

async fn replayed(server: &TestServer, run: &Value, from: &str) -> (u16, Value) {
    let path = format!("/tenants/acme/tasks/{}/replay", run["id"].as_str().unwrap());
    server.api(Method::POST, &path, &server.admin, Some(json!({ "from": from }))).await
}

async fn ended(server: &TestServer, run: &Value) -> Value {
    loop {
        let task = server.task(run["id"].as_str().unwrap()).await;
        if task["state"] != "working" {
            return task;
        }
    }
}

#[tokio::test]
async fn a_replay_takes_over_what_came_before_and_calls_the_rest_again() {
    let server = server().await;
    server.activate(THREE).await;
    let run = server.run("three", echo(json!("kept"))).await;
    let (status, again) = replayed(&server, &run, "b").await;
    assert_eq!((status, &again["run"]["replayOf"]), (202, &run["id"]), "{again}");
    let ended = ended(&server, &again).await;
    assert_eq!(output(&ended)["a"], "kept");
    assert_ne!(output(&ended)["b"], output(&run)["b"], "`b` was called again");
    let trace = server.trace_of(&ended).await;
    assert_eq!(labels(&server.steps(&ended).await), ["a#1", "b#1", "c#1"]);
    assert_eq!((&trace[1]["cpuUs"], &trace[1]["step"]), (&json!(0), &json!("a#1")), "`a` was not: {}", trace[1]);
    assert_eq!(run["run"]["pins"], ended["run"]["pins"]);
}

/// Items that were refused or asked back have failed for good: the run went on without them, and so does its replay.
#[tokio::test]
async fn a_replay_goes_past_items_that_were_refused_or_asked_back() {
    let server = server().await;
    server.deploy("strict.js", STRICT, "&visibility=public").await;
    server
        .activate(
            "name: gaps
steps:
  - {id: part, tool_name: probe, for_each: {in: $input.items, on_failure: continue}}
  - {id: strict, tool_name: strict, for_each: {in: $input.numbers, on_failure: continue}}
  - {id: last, tool_name: probe, input_mapping: {do: 'literal:echo', value: [$steps.part, $steps.strict]}}
",
        )
        .await;
    let asks = json!({ "do": "need_input", "prompt": "which?" });
    let input = json!({ "items": [echo(json!(1)), asks], "numbers": [{ "n": 2 }, {}] });
    let run = server.run("gaps", input).await;
    assert_eq!(output(&run), json!([[1, null], [2, null]]));
    let mut steps = server.steps(&run).await;
    steps.sort();
    assert_eq!(labels(&steps), ["last#1", "part[0]#1", "part[1]#1", "strict[0]#1", "strict[1]#1"]);
    let (status, again) = replayed(&server, &run, "last").await;
    assert_eq!(status, 202, "{again}");
    let ended = ended(&server, &again).await;
    assert_eq!(output(&ended), json!([[1, null], [2, null]]));
    let copied = server.trace_of(&ended).await;
    let asked = copied.iter().find(|task| task["step"] == "part[1]#1").unwrap();
    assert_eq!((&asked["state"], &asked["failure"]["code"]), (&json!("failed"), &json!("input-required")), "{asked}");
}

#[tokio::test]
async fn what_is_archived_is_not_replayed_nor_is_what_calls_it() {
    let server = server().await;
    server.activate("name: inner\nsteps: [{id: x, tool_name: probe}]").await;
    server.activate("name: outer\nsteps: [{id: a, tool_name: 'pipeline:inner'}]").await;
    let run = server.run("outer", echo(json!(1))).await;
    // A later version does without the inner one, which can be archived then.
    server.activate("name: outer\nsteps: [{id: a, tool_name: probe}]").await;
    for name in ["inner", "outer"] {
        let path = format!("{PIPELINES}/{name}/archive");
        assert_eq!(server.api(Method::POST, &path, &server.deploy, None).await.0, 200);
        let (status, body) = replayed(&server, &run, "a").await;
        assert_eq!((status, &body["error"]["code"]), (409, &json!("archived")), "{name}: {body}");
    }
    for name in ["inner", "outer"] {
        let path = format!("{PIPELINES}/{name}/activate");
        assert_eq!(server.api(Method::POST, &path, &server.deploy, None).await.0, 200);
    }
    assert_eq!(replayed(&server, &run, "a").await.0, 202);
}

#[tokio::test]
async fn what_cannot_be_replayed_is_refused_with_the_reason() {
    let server = server().await;
    server.activate(THREE).await;
    let failed = server.run("three", json!({ "do": "panic" })).await;
    for (from, status, code) in
        [("c", 409, "cannot_replay"), ("nothing", 409, "cannot_replay"), ("a b", 404, "not_found")]
    {
        let (got, body) = replayed(&server, &failed, from).await;
        assert_eq!((got, &body["error"]["code"]), (status, &json!(code)), "{from}: {body}");
    }
    let plain = server.rpc("tasks/send", json!({ "skill": "probe", "message": echo(json!(1)) })).await;
    let (status, body) = replayed(&server, &plain["result"], "a").await;
    assert_eq!(status, 400, "{body}");
    let (status, again) = replayed(&server, &failed, "a").await;
    assert_eq!(status, 202, "{again}");
}
