//! What is seen of a run: everything by its owner, its state and its result by its caller.

use pleat_store::StoreConfig;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use super::{PIPELINES, echo, output, server};
use crate::harness::{Stream, TestServer};

const TWO: &str = "name: two\nsteps: [{id: a, tool_name: probe}, {id: b, tool_name: echo}]";

#[tokio::test]
async fn the_caller_sees_the_run_and_never_its_steps() {
    let server = server().await;
    server.activate(TWO).await;
    let sent = json!({ "skill": "pipeline:two", "message": echo(json!(1)) });
    let (_, answer) = server.rpc_as(&server.invoke, "tasks/send", sent).await;
    let run = json!({ "id": answer["result"]["id"] });
    let steps: Vec<Value> = server.trace_of(&run).await.into_iter().skip(1).collect();
    assert_eq!(steps.len(), 2);
    for (step, label) in steps.iter().zip(["a#1", "b#1"]) {
        assert_eq!((&step["step"], &step["door"]), (&json!(label), &json!("pipeline")), "{step}");
        for key in ["input", "artifacts", "wallUs", "attempt", "createdAt"] {
            assert!(!step[key].is_null(), "{key}: {step}");
        }
        for key in [&server.invoke, &server.admin] {
            let (_, got) = server.rpc_as(key, "tasks/get", json!({ "id": step["id"] })).await;
            assert_eq!(got["error"]["code"], -32001, "{got}");
            let (_, got) = server.rpc_as(key, "tasks/cancel", json!({ "id": step["id"] })).await;
            assert_eq!(got["error"]["code"], -32001, "{got}");
        }
    }
    let list = server.client.get(format!("{}/_a2a/rest/tasks", server.tenant_url())).bearer_auth(&server.invoke);
    let listed: Value = list.header("a2a-version", "1.0").send().await.unwrap().json().await.unwrap();
    let ids: Vec<&Value> = listed["tasks"].as_array().unwrap().iter().map(|task| &task["id"]).collect();
    assert_eq!(ids, [&run["id"]], "{listed}");
    let all = server.api(Method::GET, "/tenants/acme/tasks", &server.read, None).await.1;
    assert_eq!(all["tasks"].as_array().unwrap().len(), 3);
    let tops = server.api(Method::GET, "/tenants/acme/tasks?steps=false", &server.read, None).await.1;
    assert_eq!(tops["tasks"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_trace_that_is_cut_says_so() {
    let url = crate::harness::database().await;
    let server = TestServer::start_on(StoreConfig::new(url.as_str()), |_| {}, |_| {}).await;
    server.deploy_probe().await;
    server.activate("name: one\nsteps: [{id: a, tool_name: probe}]").await;
    let run = server.run("one", echo(json!(1))).await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    // As many steps as a trace has no room for.
    sqlx::raw_sql(
        "INSERT INTO tasks (tenant_id, id, skill, version, context_id, parent_id, caller, door, state, input, attempt,
             turn, last_seq, cpu_us, wall_us, created_at, updated_at, step, lease_owner, lease_epoch)
         SELECT tenant_id, (substr(id::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, skill, version, context_id,
             parent_id, caller, door, state, input, attempt, turn, last_seq, cpu_us, wall_us, created_at, updated_at,
             'a#' || (n + 1), lease_owner, lease_epoch
         FROM tasks, generate_series(1, 2000) n WHERE step = 'a#1'",
    )
    .execute(&mut connection)
    .await
    .unwrap();
    let path = format!("/tenants/acme/tasks/{}/trace", run["id"].as_str().unwrap());
    let (_, trace) = server.api(Method::GET, &path, &server.read, None).await;
    assert_eq!((trace["tasks"].as_array().unwrap().len(), &trace["more"]), (2_000, &json!(true)));
}

/// What a step's function calls is as little the caller's as the step; what a plain function calls is.
#[tokio::test]
async fn the_caller_never_sees_what_steps_call() {
    let server = server().await;
    let errand = "export const description = 'Sends'; export const capabilities = { skills: ['relay', 'echo'] }; \
        export default async (input, ctx) => await ctx.call(input.to, { to: 'echo', n: input.n });";
    for name in ["errand", "relay"] {
        server.deploy(&format!("{name}.js"), errand, "&visibility=public&grant=all").await;
    }
    server.activate("name: sent\nsteps: [{id: a, tool_name: errand}]").await;
    let sent = json!({ "skill": "pipeline:sent", "message": { "to": "relay", "n": 1 } });
    let (_, answer) = server.rpc_as(&server.invoke, "tasks/send", sent).await;
    let trace = server.trace_of(&json!({ "id": answer["result"]["id"] })).await;
    let skills: Vec<&Value> = trace.iter().map(|task| &task["skill"]).collect();
    assert_eq!(skills, ["pipeline:sent", "errand", "relay", "echo"]);
    assert_eq!((&trace[1]["step"], &trace[2]["step"]), (&json!("a#1"), &Value::Null), "only a step is one");
    for task in &trace[1..] {
        for method in ["tasks/get", "tasks/cancel"] {
            let (_, got) = server.rpc_as(&server.invoke, method, json!({ "id": task["id"] })).await;
            assert_eq!(got["error"]["code"], -32001, "{method}: {got}");
        }
    }
    let plain = json!({ "skill": "errand", "message": { "to": "echo", "n": 1 } });
    let (_, plain) = server.rpc_as(&server.invoke, "tasks/send", plain).await;
    let list = server.client.get(format!("{}/_a2a/rest/tasks", server.tenant_url())).bearer_auth(&server.invoke);
    let listed: Value = list.header("a2a-version", "1.0").send().await.unwrap().json().await.unwrap();
    let ids: Vec<&Value> = listed["tasks"].as_array().unwrap().iter().map(|task| &task["id"]).collect();
    assert_eq!(ids.len(), 3, "the run, the plain call and what that called: {listed:#}");
    assert!(ids.contains(&&answer["result"]["id"]) && ids.contains(&&plain["result"]["id"]), "{listed:#}");
}

async fn followed(server: &TestServer, input: Value) -> Vec<Value> {
    let url = format!("{}/api/v1{PIPELINES}/two/runs", server.url);
    let request = server.client.post(url).bearer_auth(&server.admin).header("accept", "text/event-stream");
    let frames = Stream::of(request.json(&input).send().await.unwrap()).all().await;
    frames.into_iter().map(|frame| frame.data["body"].clone()).collect()
}

#[tokio::test]
async fn the_owner_follows_the_steps_and_the_caller_does_not() {
    let server = server().await;
    server.activate(&format!("{TWO}\noutput: {{x: $steps.b}}").replace("id: b", "id: b, when: $steps.a > 1")).await;
    let told = |events: &[Value]| -> Vec<String> {
        let steps = events.iter().filter_map(|body| body.get("step"));
        steps.map(|step| format!("{} {}", step["step"].as_str().unwrap(), step["phase"].as_str().unwrap())).collect()
    };
    let events = followed(&server, echo(json!(2))).await;
    assert_eq!(told(&events), ["a started", "a finished", "b started", "b finished"], "{events:#?}");
    let finished = events.iter().find(|body| body["step"]["phase"] == "finished").unwrap();
    assert!(finished["step"]["task"].as_str().unwrap().starts_with("task_"), "{finished}");
    let events = followed(&server, echo(json!(1))).await;
    assert_eq!(told(&events), ["a started", "a finished", "b skipped"]);
    let events = followed(&server, json!({ "do": "panic" })).await;
    assert_eq!(told(&events), ["a started", "a failed"]);
    assert_eq!(events.iter().find_map(|body| body["step"].get("code")), Some(&json!("trap")));

    let request = server.client.post(format!("{}/pipeline:two", server.tenant_url()));
    let request = request.header("accept", "text/event-stream").json(&echo(json!(2)));
    let frames = Stream::of(request.send().await.unwrap()).all().await;
    assert!(frames.iter().all(|frame| frame.data["body"].get("step").is_none()), "{frames:#?}");
    let sent = json!({ "skill": "pipeline:two", "message": echo(json!(2)) });
    let frames = server.rpc_stream("", "tasks/sendSubscribe", sent, None).await.all().await;
    assert!(!format!("{frames:?}").contains("\"step\""), "{frames:#?}");
}

#[tokio::test]
async fn a_run_tells_how_far_it_is_and_its_last_step_goes_on_with_it() {
    let server = server().await;
    let last = "{id: c, tool_name: probe, when: $steps.b == 1, \
        input_mapping: {do: 'literal:progress', done: 1, total: 4, note: 'literal:a quarter'}}";
    server
        .activate(&format!("name: two\nsteps: [{{id: a, tool_name: echo}}, {{id: b, tool_name: echo}}, {last}]"))
        .await;
    let events = followed(&server, json!(1)).await;
    let progress: Vec<&Value> = events.iter().filter_map(|body| body.get("progress")).collect();
    let told: Vec<(&Value, &Value)> = progress.iter().map(|progress| (&progress["done"], &progress["note"])).collect();
    let expected = [(1.0, "step 1 of 3"), (2.0, "step 2 of 3"), (2.25, "a quarter")].map(|(a, b)| (json!(a), json!(b)));
    assert!(expected.iter().rev().zip(told.iter().rev()).all(|(a, b)| (&a.0, &a.1) == *b), "{progress:#?}");
    assert!(!told.is_empty() && progress.iter().all(|progress| progress["total"] == 3.0), "{progress:#?}");
}

/// A last step that may say more than most says it, also through an inner run.
#[tokio::test]
async fn the_limit_of_a_stream_is_the_last_steps() {
    let server = server().await;
    let flood = "export const description = 'Floods'; export const limits = { outputBytes: 16777216 }; \
        export default async (input, ctx) => { const part = 'x'.repeat(60000); \
        for (let n = 0; n < 150; n++) await ctx.emit(part); };";
    server.deploy("flood.js", flood, "&visibility=public").await;
    server.activate("name: inner\nsteps: [{id: a, tool_name: flood}]").await;
    server.activate("name: two\nsteps: [{id: a, tool_name: 'pipeline:inner'}]").await;
    let run = server.run("two", json!({})).await;
    assert_eq!(run["state"], "completed", "{}", run["failure"]);
}

/// What was streamed is what the schema speaks of, not the nothing that was returned behind it.
#[tokio::test]
async fn an_output_that_was_streamed_has_to_fit_its_schema_too() {
    let server = server().await;
    let chat = "export const description = 'Chats'; \
        export default async (input, ctx) => { ctx.emit('it '); ctx.emit('rains'); };";
    server.deploy("chat.js", chat, "&visibility=public").await;
    let typed = "name: typed\nsteps: [{id: a, tool_name: chat}]\noutput_schema: {type: string}";
    server.activate(typed).await;
    let run = server.run("typed", json!({})).await;
    assert_eq!(run["state"], "completed", "{run:#}");
    let names: Vec<&Value> = run["artifacts"].as_array().unwrap().iter().map(|artifact| &artifact["name"]).collect();
    assert_eq!(names, ["pipeline:typed-stream"], "it is not said twice: {run:#}");
    server.activate(&typed.replace("string", "object")).await;
    let run = server.run("typed", json!({})).await;
    assert_eq!(run["failure"]["reason"], "bad_output", "{run:#}");
}

#[tokio::test]
async fn the_stream_of_the_last_step_is_the_runs_stream() {
    let server = server().await;
    server.activate("name: talk\nsteps: [{id: a, tool_name: echo}, {id: b, tool_name: probe}]").await;
    let input = json!({ "do": "emit", "chunks": 3, "delay_ms": 300 });
    let sent = json!({ "skill": "pipeline:talk", "message": input });
    let frames = server.rpc_stream("", "tasks/sendSubscribe", sent, None).await.all().await;
    let chunks: Vec<&Value> = frames
        .iter()
        .filter(|frame| frame.data["result"]["artifact"]["name"] == "pipeline:talk-stream")
        .map(|frame| &frame.data)
        .collect();
    assert!(chunks.len() >= 2, "they come as they are said: {frames:#?}");
    let id = frames[0].data["result"]["id"].as_str().unwrap();
    let task = server.task(id).await;
    let names: Vec<&Value> = task["artifacts"].as_array().unwrap().iter().map(|artifact| &artifact["name"]).collect();
    assert_eq!(names, ["pipeline:talk-stream", "pipeline:talk-result"], "{task:#}");
    let content = json!({ "do": "content", "blocks": [{ "type": "text", "text": "whole" }] });
    let run = server.run("talk", content).await;
    assert_eq!(output(&run), "whole", "what was not streamed is the output");

    server.activate("name: talk\nsteps: [{id: b, tool_name: probe}, {id: a, tool_name: echo}]").await;
    let run = server.run("talk", json!({ "do": "emit", "chunks": 3, "delay_ms": 1 })).await;
    assert_eq!(run["artifacts"].as_array().unwrap().len(), 1, "an inner step's stream is nobody's: {run:#}");
    output(&run);
}
