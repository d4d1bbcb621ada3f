//! Deploying: all faults at once with their places, versions, states, and what changes under a pipeline's feet.

use reqwest::Method;
use serde_json::{Value, json};

use super::{PIPELINES, STRICT, output, server};

const BAD: &str = "\
name: bad
steps:
  - id: a
    tool_name: nothing
  - id: a
    tool_name: probe
    input_mapping: $steps.later
  - id: later
    tool_name: pipeline:bad
    retry: {attempts: 99}
";

#[tokio::test]
async fn all_faults_of_a_file_are_told_at_once_with_their_places() {
    let server = server().await;
    let (status, body) = server.define(BAD, "").await;
    assert_eq!((status, &body["error"]["code"]), (422, &json!("invalid_pipeline")), "{body:#}");
    let faults = body["error"]["details"]["faults"].as_array().unwrap();
    let told: Vec<String> =
        faults.iter().map(|fault| format!("{}:{} {}", fault["line"], fault["column"], fault["message"])).collect();
    for (place, word) in
        [("4:16", "nothing"), ("5:", "`a`"), ("7:", "later"), ("9:", "circle"), ("10:", "whole number")]
    {
        assert!(told.iter().any(|fault| fault.starts_with(place) && fault.contains(word)), "{place} {word}: {told:#?}");
    }
    assert!(faults.iter().all(|fault| !fault["hint"].as_str().unwrap().is_empty()), "{faults:#?}");
    let (_, listed) = server.api(Method::GET, PIPELINES, &server.read, None).await;
    assert_eq!(listed["pipelines"], json!([]), "a bad deploy changes nothing");
}

#[tokio::test]
async fn checking_changes_nothing_and_huge_or_deep_files_are_refused() {
    let server = server().await;
    let (status, body) = server.define("name: fine\nsteps: [{id: a, tool_name: echo}]", "?check=true").await;
    assert_eq!((status, &body["name"]), (200, &json!("fine")), "{body}");
    let (_, listed) = server.api(Method::GET, PIPELINES, &server.read, None).await;
    assert_eq!(listed["pipelines"], json!([]));
    let large = format!("name: large\ndescription: {}\nsteps: []", "x".repeat(300 * 1024));
    let deep = format!("name: deep\nsteps: {}{}", "[".repeat(5_000), "]".repeat(5_000));
    for text in [large, deep, "\u{feff}".to_owned(), "- 1\n- 2".to_owned()] {
        let (status, body) = server.define(&text, "").await;
        assert_eq!((status, &body["error"]["code"]), (422, &json!("invalid_pipeline")), "{body}");
    }
}

/// As the product documents it whose format is taken as it is, function ids and positions included.
#[tokio::test]
async fn the_documented_json_works_as_it_is() {
    let server = server().await;
    let summarize = "export const description = 'Shortens'; \
        export default (input) => ({ summary: input.text.slice(0, 3) });";
    let translate = "export const description = 'Translates'; \
        export default (input) => `${input.target_language}: ${input.text}`;";
    server.deploy("summarize.js", summarize, "&visibility=public").await;
    server.deploy("translate.js", translate, "&visibility=public").await;
    let text = r#"{"name": "summarize-and-translate", "description": "Shortens a text and translates it",
        "steps": [
          {"id": "step_1", "tool_name": "summarize", "function_id": "fn_abc", "position": 0,
           "input_mapping": {"text": "$input.text"}},
          {"id": "step_2", "tool_name": "translate", "function_id": "fn_def", "position": 1,
           "input_mapping": {"text": "$steps.step_1.summary", "target_language": "literal:es"}}],
        "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}"#;
    server.activate(text).await;
    let (status, answer) = server.http("", "pipeline:summarize-and-translate", json!({ "text": "hello" })).await;
    assert_eq!((status, answer), (200, json!("es: hel")));
    let (status, answer) = server.http("", "pipeline:summarize-and-translate", json!({ "words": 1 })).await;
    assert_eq!((status, &answer["error"]["code"]), (422, &json!("invalid_input")), "{answer}");
}

async fn shown(server: &crate::harness::TestServer, path: &str) -> Value {
    let (status, body) = server.api(Method::GET, path, &server.read, None).await;
    assert_eq!(status, 200, "{body}");
    body
}

#[tokio::test]
async fn versions_are_kept_drawn_and_explained() {
    let server = server().await;
    let first = "# mine\nname: talk\nsteps: [{id: a, tool_name: echo}]";
    let second = "name: talk\ndescription: Says it twice\nsteps: [{id: a, tool_name: echo}, {id: b, tool_name: echo}]";
    assert_eq!(server.define(first, "").await.0, 201);
    let (status, again) = server.define(first, "").await;
    assert_eq!((status, &again["created"], &again["version"]), (200, &json!(false), &json!(1)));
    assert_eq!(server.define(second, "").await.1["version"], 2);
    let talk = format!("{PIPELINES}/talk");
    let now = shown(&server, &talk).await;
    assert_eq!((&now["state"], &now["skill"]), (&json!("draft"), &json!("pipeline:talk")), "{now}");
    assert_eq!(now["definition"]["steps"].as_array().unwrap().len(), 2);
    let old = shown(&server, &format!("{talk}?version=1")).await;
    assert_eq!(old["source"], first, "the text as it was sent");
    let versions = shown(&server, &format!("{talk}/versions")).await;
    assert_eq!(versions["versions"].as_array().unwrap().len(), 2);
    assert!(shown(&server, &format!("{talk}/graph")).await.as_str().unwrap().contains("echo"));
    let mermaid = shown(&server, &format!("{talk}/graph?format=mermaid")).await;
    assert!(mermaid.as_str().unwrap().starts_with("flowchart"), "{mermaid}");
    assert!(shown(&server, &format!("{talk}/explain")).await.as_str().unwrap().contains("Says it twice"));
    let (status, _) = server.api(Method::GET, &format!("{PIPELINES}/other"), &server.read, None).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn what_an_active_pipeline_calls_cannot_be_archived_and_is_watched() {
    let server = server().await;
    server.activate("name: inner\nsteps: [{id: a, tool_name: echo}]").await;
    server.activate("name: outer\nsteps: [{id: a, tool_name: 'pipeline:inner'}]").await;
    let archive = |name: &str| format!("{PIPELINES}/{name}/archive");
    let (status, body) = server.api(Method::POST, &archive("inner"), &server.deploy, None).await;
    assert_eq!((status, &body["error"]["code"]), (409, &json!("in_use")), "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains("pipeline:outer"), "{body}");
    assert_eq!(server.api(Method::POST, &archive("outer"), &server.deploy, None).await.0, 200);
    assert_eq!(server.api(Method::POST, &archive("inner"), &server.deploy, None).await.0, 200);
    let (status, body) = server.api(Method::POST, &format!("{PIPELINES}/outer/activate"), &server.deploy, None).await;
    assert_eq!(
        (status, &body["error"]["code"]),
        (422, &json!("invalid_pipeline")),
        "it calls what is archived: {body}"
    );

    let (status, body) = server.define("name: early\nsteps: [{id: a, tool_name: 'pipeline:inner'}]", "").await;
    assert_eq!(status, 422, "an archived pipeline cannot be called: {body}");
    let typed = "export const description = 'Typed'; export const input = { type: 'object', required: ['n'] }; \
        export default (input) => input.n;";
    server.activate("name: user\ninput_schema: {type: object}\nsteps: [{id: a, tool_name: echo, input_mapping: {m: 'literal:1'}}]").await;
    let redeployed = server.deploy("echo.js", typed, "&name=echo").await;
    assert!(redeployed["warnings"][0].as_str().unwrap().contains("pipeline `user`"), "{redeployed}");
}

/// Whatever makes an active pipeline unfit says so to who did it.
#[tokio::test]
async fn a_rollback_a_deletion_and_a_new_inner_version_warn_of_pipelines_that_no_longer_fit() {
    let server = server().await;
    let warns = |of: &Value| of.as_str().unwrap_or_default().contains("pipeline `user` does not fit any more");
    server.deploy("tool.js", STRICT, "&name=tool").await;
    server
        .deploy("tool.js", "export const description = 'Lax'; export default (input) => input.m;", "&name=tool")
        .await;
    server.activate("name: user\nsteps: [{id: a, tool_name: tool, input_mapping: {m: 'literal:1'}}]").await;
    let path = "/tenants/acme/functions/tool";
    let (_, back) = server.api(Method::POST, &format!("{path}/rollback"), &server.deploy, None).await;
    assert!(warns(&back["warnings"][0]), "{back}");
    let (status, gone) = server.api(Method::DELETE, path, &server.deploy, None).await;
    assert!(status == 200 && warns(&gone["warnings"][0]), "{status} {gone}");
    server.deploy("other.js", STRICT, "&name=other").await;
    assert_eq!(server.api(Method::DELETE, "/tenants/acme/functions/other", &server.deploy, None).await.0, 204);

    let inner = "name: inner\nsteps: [{id: a, tool_name: echo}]\ninput_schema: {type: object, required: [m]}";
    server.activate(inner).await;
    server.activate("name: user\nsteps: [{id: a, tool_name: 'pipeline:inner', input_mapping: {m: 'literal:1'}}]").await;
    let changed = server.activate(&inner.replace("[m]", "[n]")).await;
    assert!(warns(&changed["strained"][0]), "{changed}");
}

#[tokio::test]
async fn a_run_keeps_the_versions_that_it_began_with() {
    let server = server().await;
    let second = "name: slow\nsteps: [{id: a, tool_name: probe, input_mapping: {do: 'literal:sleep', ms: $input.ms}}, \
        {id: b, tool_name: echo, input_mapping: {n: 'literal:1'}}]";
    server.activate(second).await;
    let run = async { server.run("slow", json!({ "ms": 1_500 })).await };
    let change = async {
        server.task_in("working").await;
        server.deploy("echo.wat", crate::control::saying("no"), "&name=echo&visibility=public").await;
        server.activate("name: slow\nsteps: [{id: c, tool_name: echo}]").await;
    };
    let (run, ()) = tokio::join!(run, change);
    assert_eq!(output(&run), json!({ "n": "1" }), "the old version of `echo` answered");
    assert_eq!(output(&server.run("slow", json!({})).await), json!("no"));
}
