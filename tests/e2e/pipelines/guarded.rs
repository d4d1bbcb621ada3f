//! Guardrails between steps, and around a run as a whole.

use reqwest::Method;
use serde_json::{Value, json};

use super::{STRICT, output, server};
use crate::harness::TestServer;

const EMAIL: &str = "jane.doe@example.com";
const TWO: &str = "name: two
steps:
  - {id: a, tool_name: probe, input_mapping: {do: 'literal:echo', value: $input.value}}
  - {id: b, tool_name: echo}
";

async fn guard(server: &TestServer, skill: &str, action: &str, side: &str) {
    let policy = json!({ "checks": [{ "type": "pii", "action": action, "target": side }] });
    let path = format!("/tenants/acme/guard/skills/{skill}");
    let (status, body) = server.api(Method::PUT, &path, &server.deploy, Some(policy)).await;
    assert_eq!(status, 204, "{body}");
}

async fn found(server: &TestServer) -> Vec<Value> {
    let (_, body) = server.api(Method::GET, "/tenants/acme/guard/violations", &server.read, None).await;
    body["violations"].as_array().unwrap().clone()
}

#[tokio::test]
async fn what_passes_from_step_to_step_is_looked_at() {
    let server = server().await;
    server.activate(TWO).await;
    guard(&server, "echo", "redact", "input").await;
    let run = server.run("two", json!({ "value": EMAIL })).await;
    assert_eq!(output(&run), json!("[EMAIL_1]"));
    let findings = found(&server).await;
    let steps = server.trace_of(&run).await;
    let step = steps.iter().find(|task| task["step"] == "b#1").unwrap();
    assert!(findings.iter().all(|one| one["task"] == step["id"] && one["skill"] == "echo"), "{findings:?}");
    assert_eq!(findings.len(), 1);
    let path = format!("/tenants/acme/tasks/{}/trace", run["id"].as_str().unwrap());
    let (_, trace) = server.api(Method::GET, &path, &server.read, None).await;
    assert_eq!(trace["findings"], json!(findings), "the trace has what was found in each step");

    guard(&server, "echo", "block", "input").await;
    let run = server.run("two", json!({ "value": EMAIL })).await;
    assert_eq!((&run["failure"]["reason"], &run["failure"]["code"]), (&json!("blocked"), &json!("pii")), "{run:#}");
    assert!(!run["failure"].to_string().contains("jane"), "{run:#}");
}

/// What is refused before it runs is a step that failed, with what was found in it and without what it was given.
#[tokio::test]
async fn a_step_that_is_blocked_is_in_the_trace_with_what_was_found() {
    let server = server().await;
    server.activate(TWO).await;
    guard(&server, "echo", "block", "input").await;
    let run = server.run("two", json!({ "value": EMAIL })).await;
    let path = format!("/tenants/acme/tasks/{}/trace", run["id"].as_str().unwrap());
    let (_, trace) = server.api(Method::GET, &path, &server.read, None).await;
    let step = &trace["tasks"][2];
    assert_eq!((&step["step"], &step["state"]), (&json!("b#1"), &json!("failed")), "{trace:#}");
    assert_eq!((&step["failure"]["code"], &step["input"]), (&json!("pii"), &Value::Null), "{step:#}");
    assert_eq!(trace["findings"][0]["task"], step["id"], "{trace:#}");
    assert!(trace.get("more").is_none(), "that is all: {trace:#}");
    let alone = server.task(step["id"].as_str().unwrap()).await;
    assert_eq!(alone["findings"], trace["findings"], "and so is it with the step alone");
}

/// An input that fits no schema is refused before it is looked at: what is kept of it is looked at all the same.
#[tokio::test]
async fn of_a_refused_step_nothing_is_kept_that_its_guardrails_redact() {
    let server = server().await;
    server.deploy("strict.js", STRICT, "&visibility=public").await;
    server.activate("name: wrong\nsteps: [{id: a, tool_name: strict}]").await;
    guard(&server, "strict", "redact", "input").await;
    let run = server.run("wrong", json!({ "mail": EMAIL })).await;
    assert_eq!(run["failure"]["code"], "invalid_input", "{run:#}");
    let step = &server.trace_of(&run).await[1];
    assert_eq!((&step["step"], &step["input"]), (&json!("a#1"), &json!({ "mail": "[EMAIL_1]" })), "{step:#}");
}

/// Whatever step redacts it: a placeholder stands for one value in the whole run.
#[tokio::test]
async fn no_two_values_of_a_run_have_the_same_placeholder_and_its_caller_is_warned() {
    let server = server().await;
    let step = |id: &str, value: &str| {
        format!("{{id: {id}, tool_name: probe, input_mapping: {{do: 'literal:echo', value: $input.{value}}}}}")
    };
    server.activate(&format!("name: inner\nsteps: [{}]", step("x", "c"))).await;
    let group = format!("{{parallel: [{}, {}]}}", step("a", "a"), step("b", "b"));
    let inner = "{id: c, tool_name: 'pipeline:inner', input_mapping: $input}";
    let output_of = "output: [$steps.a, $steps.b, $steps.c, $steps.again]";
    let again = step("again", "a");
    server.activate(&format!("name: mails\nsteps: [{group}, {inner}, {again}]\n{output_of}")).await;
    guard(&server, "probe", "redact", "input").await;
    let mails = json!({ "a": EMAIL, "b": "john.roe@example.com", "c": "max.low@example.org" });
    let said: Vec<String> = serde_json::from_value(output(&server.run("mails", mails.clone()).await)).unwrap();
    let mut different = said[..3].to_vec();
    different.sort();
    assert_eq!(different, ["[EMAIL_1]", "[EMAIL_2]", "[EMAIL_3]"], "{said:?}");
    assert_eq!(said[0], said[3], "the same value has the same one: {said:?}");

    guard(&server, "probe", "warn", "input").await;
    let request = server.client.post(format!("{}/pipeline:mails", server.tenant_url())).json(&mails);
    let response = request.send().await.unwrap();
    let warned = response.headers().get("x-guardrail-warnings").map(|rules| rules.to_str().unwrap().to_owned());
    assert_eq!((response.status().as_u16(), warned.as_deref()), (200, Some("pii.email")));
}

#[tokio::test]
async fn a_draft_is_guarded_before_anybody_can_call_it() {
    let server = server().await;
    assert_eq!(server.define(TWO, "").await.1["state"], "draft");
    guard(&server, "pipeline:two", "redact", "input").await;
    let run = server.run("two", json!({ "value": EMAIL })).await;
    assert_eq!(output(&run), json!("[EMAIL_1]"));
    let path = "/tenants/acme/guard/skills/pipeline:none";
    assert_eq!(server.api(Method::PUT, path, &server.deploy, Some(json!({ "checks": [] }))).await.0, 404);
}

#[tokio::test]
async fn a_run_has_a_policy_like_any_other_skill() {
    let server = server().await;
    server.activate(TWO).await;
    guard(&server, "pipeline:two", "redact", "input").await;
    let run = server.run("two", json!({ "value": EMAIL })).await;
    assert_eq!(output(&run), json!("[EMAIL_1]"));
    guard(&server, "pipeline:two", "block", "output").await;
    let (status, body) = server.http("", "pipeline:two", json!({ "value": EMAIL })).await;
    assert_eq!((status, &body["reason"]), (403, &json!("blocked")), "{body}");
    let answer = server.rpc("tasks/send", json!({ "skill": "pipeline:two", "message": { "value": EMAIL } })).await;
    assert_eq!(answer["error"]["code"], -32050, "{answer}");
    let (status, body) = server.http("", "pipeline:two", json!({ "value": "fine" })).await;
    assert_eq!((status, body), (200, json!("fine")));
}

/// The last step's stream is held where a check of the step, or of the run, may block it: the answer is there all the same.
#[tokio::test]
async fn a_stream_that_is_held_is_answered_at_the_end() {
    let server = server().await;
    server.activate("name: last\nsteps: [{id: a, tool_name: probe}]").await;
    for skill in ["probe", "pipeline:last"] {
        guard(&server, skill, "block", "output").await;
        let input = json!({ "do": "emit", "chunks": 3, "delay_ms": 5 });
        let frames = server
            .rpc_stream("", "tasks/sendSubscribe", json!({ "skill": "pipeline:last", "message": input }), None)
            .await
            .all()
            .await;
        let last = &frames.last().unwrap().data["result"];
        assert_eq!(last["status"]["state"], "completed", "{skill}: {last}");
        let told = frames.iter().any(|frame| frame.data["result"].get("artifact").is_some());
        assert!(told, "{skill}: {frames:?}");
    }
}
