//! `kill -9` of the node that drives a run: another one goes on behind the last finished step.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use crate::harness::cluster::{Cluster, Node};
use crate::harness::read;

const PATIENCE: Duration = Duration::from_secs(40);

/// The second step takes long; an inner run has a step before and a long one.
const LONG: &str = "
name: long
steps:
  - {id: a, tool_name: probe, input_mapping: {do: 'literal:random'}}
  - parallel:
      - {id: b, tool_name: probe, input_mapping: {do: 'literal:sleep', ms: $input.ms}}
      - {id: c, tool_name: 'pipeline:inner', input_mapping: $input}
  - {id: d, tool_name: probe, input_mapping: {do: 'literal:echo', value: $steps.a}}
output: {a: $steps.a, d: $steps.d}
";
const INNER: &str = "
name: inner
steps:
  - {id: x, tool_name: probe, input_mapping: {do: 'literal:random'}}
  - {id: y, tool_name: probe, input_mapping: {do: 'literal:sleep', ms: $input.ms}}
";

async fn define(cluster: &Cluster, text: &str) {
    let request = cluster.api(0, Method::POST, "/tenants/acme/pipelines?activate=true").bearer_auth(&cluster.key);
    let (status, body) = read(request.body(text.to_owned()).send().await.unwrap()).await;
    assert_eq!(status, 201, "{body:#}");
}

async fn trace(cluster: &Cluster, run: &str) -> Vec<Value> {
    let request = cluster.api(0, Method::GET, &format!("/tenants/acme/tasks/{run}/trace")).bearer_auth(&cluster.key);
    read(request.send().await.unwrap()).await.1["tasks"].as_array().cloned().unwrap_or_default()
}

fn with<'a>(trace: &'a [Value], label: &str) -> Vec<&'a Value> {
    trace.iter().filter(|task| task["step"] == label).collect()
}

/// Once that attempt runs.
async fn works(cluster: &Cluster, run: &str, label: &str) -> Option<()> {
    let trace = trace(cluster, run).await;
    with(&trace, label).iter().any(|step| step["state"] == "working").then_some(())
}

#[tokio::test]
async fn a_run_goes_on_behind_its_last_finished_step_and_so_does_one_within_it() {
    let mut cluster = Cluster::start(2).await;
    define(&cluster, INNER).await;
    define(&cluster, LONG).await;
    let (run, _) = cluster.begin(0, "pipeline:long", json!({ "ms": 6_000 })).await;
    // Both long steps are recorded, so that they are known to have begun.
    let begun = async || {
        let trace = trace(&cluster, &run).await;
        (with(&trace, "b#1").len() == 1 && with(&trace, "y#1").len() == 1).then_some(trace)
    };
    let (before, _) = cluster.until("the long steps", begun).await;
    cluster.nodes.remove(0).kill();
    let ended = async || Some(cluster.task(0, &run).await).filter(|task| task["state"] != "working");
    let (task, _) = cluster.until("the end of the run", ended).await;
    assert_eq!(task["state"], "completed", "{task:#}");
    let after = trace(&cluster, &run).await;
    for label in ["a#1", "x#1"] {
        let (old, new) = (with(&before, label), with(&after, label));
        assert_eq!(new.len(), 1, "what has finished is not called again: {label}");
        assert_eq!(old[0]["artifacts"], new[0]["artifacts"]);
    }
    let value = task["artifacts"].as_array().unwrap().last().unwrap()["value"].clone();
    assert_eq!(value["a"], value["d"], "it went on with the answer from before: {task:#}");
    assert_eq!(with(&after, "c#1").len(), 1, "the inner run is the same task: {after:#?}");
    for label in ["b", "y"] {
        assert_eq!(with(&after, &format!("{label}#1"))[0]["failure"]["reason"], "node_lost", "{label}");
        assert_eq!(with(&after, &format!("{label}#2"))[0]["state"], "completed", "{label}");
    }
}

#[tokio::test]
async fn a_run_of_short_steps_calls_none_of_them_twice_and_a_cancel_outlives_the_node() {
    let mut cluster = Cluster::start(2).await;
    let steps: Vec<String> = (0..20)
        .map(|step| format!("{{id: s{step}, tool_name: probe, input_mapping: {{do: 'literal:sleep', ms: 200}}}}"))
        .collect();
    define(&cluster, &format!("name: short\nsteps: [{}]", steps.join(", "))).await;
    let (run, _) = cluster.begin(0, "pipeline:short", json!(null)).await;
    let (canceled, _) = cluster.begin(0, "pipeline:short", json!(null)).await;
    let some = async || {
        let trace = trace(&cluster, &run).await;
        (trace.len() > 5).then_some(trace)
    };
    let (before, _) = cluster.until("a few steps", some).await;
    cluster.nodes.remove(0).kill();
    let (_, answer) = cluster.rpc(0, "tasks/cancel", json!({ "id": canceled })).await;
    assert_eq!(answer["result"]["status"]["state"], "canceled", "{answer}");
    let stream = cluster.events(0, &run, 0).await;
    tokio::time::timeout(PATIENCE, stream.all()).await.expect("the stream ends");
    assert_eq!(cluster.task(0, &run).await["state"], "completed");
    let after = trace(&cluster, &run).await;
    assert_eq!(after.len(), 21, "each step has one row");
    for step in &before {
        assert!(after.iter().any(|task| task["id"] == step["id"]), "{step}");
    }
}

/// After a restart the inner run is taken over by itself: the outer one did not start it on this node.
#[tokio::test]
async fn a_cancel_after_a_restart_reaches_the_inner_run_and_its_steps() {
    let mut cluster = Cluster::start(1).await;
    define(&cluster, INNER).await;
    define(&cluster, "name: outer\nsteps: [{id: c, tool_name: 'pipeline:inner'}]").await;
    let (run, _) = cluster.begin(0, "pipeline:outer", json!({ "ms": 25_000 })).await;
    cluster.until("the long step", async || works(&cluster, &run, "y#1").await).await;
    cluster.nodes.remove(0).kill();
    cluster.nodes.push(Node::start(&cluster.database).await);
    cluster.until("the long step once more", async || works(&cluster, &run, "y#2").await).await;
    let (status, answer) = cluster.rpc(0, "tasks/cancel", json!({ "id": run })).await;
    assert_eq!((status, &answer["result"]["status"]["state"]), (200, &json!("canceled")), "{answer}");
    let trace = trace(&cluster, &run).await;
    for label in ["c#1", "y#2"] {
        assert_eq!(with(&trace, label)[0]["state"], "canceled", "{label}: {trace:#?}");
    }
}

/// The time of a step goes on from where it began, whichever node it is on.
#[tokio::test]
async fn an_inner_run_has_no_more_time_because_its_node_was_lost() {
    let mut cluster = Cluster::start(1).await;
    define(&cluster, INNER).await;
    define(&cluster, "name: outer\nsteps: [{id: c, tool_name: 'pipeline:inner', timeout: 8s}]").await;
    let (run, _) = cluster.begin(0, "pipeline:outer", json!({ "ms": 25_000 })).await;
    cluster.until("the long step", async || works(&cluster, &run, "y#1").await).await;
    cluster.nodes.remove(0).kill();
    cluster.nodes.push(Node::start(&cluster.database).await);
    let ended = async || Some(cluster.task(0, &run).await).filter(|task| task["state"] != "working");
    let (task, _) = cluster.until("the end of the run", ended).await;
    assert_eq!((&task["state"], &task["failure"]["reason"]), (&json!("failed"), &json!("wall_limit")), "{task:#}");
    let trace = trace(&cluster, &run).await;
    assert!(trace.iter().all(|task| task["state"] != "working"), "{trace:#?}");
}

/// The outer run's node is gone and nobody has taken it over when the cancel comes.
#[tokio::test]
async fn a_cancel_of_a_lost_run_ends_its_inner_run_on_whichever_node() {
    let mut cluster = Cluster::start(2).await;
    define(&cluster, INNER).await;
    define(&cluster, "name: outer\nsteps: [{id: c, tool_name: 'pipeline:inner'}]").await;
    let (run, _) = cluster.begin(0, "pipeline:outer", json!({ "ms": 25_000 })).await;
    cluster.until("the long step", async || works(&cluster, &run, "y#1").await).await;
    cluster.nodes.remove(0).kill();
    let (_, answer) = cluster.rpc(0, "tasks/cancel", json!({ "id": run })).await;
    assert_eq!(answer["result"]["status"]["state"], "canceled", "{answer}");
    let ended = async || {
        let trace = trace(&cluster, &run).await;
        trace.iter().all(|task| task["state"] != "working").then_some(trace)
    };
    let (trace, _) = cluster.until("the end of everything", ended).await;
    assert_eq!(with(&trace, "c#1")[0]["state"], "canceled", "{trace:#?}");
    assert!(with(&trace, "y#2").iter().all(|step| step["state"] == "canceled"), "{trace:#?}");
}

/// As if two nodes before this one had come to nothing with it.
async fn tried_before(cluster: &Cluster, run: &str) {
    let mut connection = PgConnection::connect(&cluster.database).await.unwrap();
    let tried = sqlx::query("UPDATE tasks SET attempt = 3 WHERE replace(id::text, '-', '') = $1");
    let tried = tried.bind(run.trim_start_matches("task_")).execute(&mut connection).await.unwrap();
    assert_eq!(tried.rows_affected(), 1);
}

#[tokio::test]
async fn the_progress_of_an_inner_run_is_the_outer_ones_and_without_any_both_end() {
    let mut cluster = Cluster::start(1).await;
    define(&cluster, INNER).await;
    let sleep = "{id: y, tool_name: probe, input_mapping: {do: 'literal:sleep', ms: $input.ms}}";
    define(&cluster, &format!("name: stuck\nsteps: [{sleep}]")).await;
    for name in ["inner", "stuck"] {
        define(&cluster, &format!("name: of-{name}\nsteps: [{{id: c, tool_name: 'pipeline:{name}'}}]")).await;
    }
    let (moving, _) = cluster.begin(0, "pipeline:of-inner", json!({ "ms": 5_000 })).await;
    let (stuck, _) = cluster.begin(0, "pipeline:of-stuck", json!({ "ms": 25_000 })).await;
    for run in [&moving, &stuck] {
        cluster.until("the long step", async || works(&cluster, run, "y#1").await).await;
        tried_before(&cluster, run).await;
    }
    cluster.nodes.remove(0).kill();
    cluster.nodes.push(Node::start(&cluster.database).await);
    for (run, state) in [(&stuck, "failed"), (&moving, "completed")] {
        let ended = async || Some(cluster.task(0, run).await).filter(|task| task["state"] != "working");
        let (task, _) = cluster.until("the end of the run", ended).await;
        assert_eq!(task["state"], state, "{task:#}");
    }
    let ended = async || {
        let trace = trace(&cluster, &stuck).await;
        trace.iter().all(|task| task["state"] != "working").then_some(trace)
    };
    let (trace, _) = cluster.until("the end of everything below", ended).await;
    assert_eq!(trace[0]["failure"]["reason"], "node_lost", "{trace:#?}");
    assert_eq!(with(&trace, "c#1")[0]["state"], "canceled", "nobody is left who wants it: {trace:#?}");
}

#[tokio::test]
async fn a_run_outlives_the_stop_of_the_only_node() {
    let mut cluster = Cluster::start_with(crate::harness::database().await, 1, &[("PLEAT_DRAIN_MS", "100")]).await;
    let step = |id: &str| format!("{{id: {id}, tool_name: probe, input_mapping: {{do: 'literal:sleep', ms: 1500}}}}");
    define(&cluster, &format!("name: steady\nsteps: [{}, {}, {}]", step("a"), step("b"), step("c"))).await;
    let (run, _) = cluster.begin(0, "pipeline:steady", json!(null)).await;
    let first = async || trace(&cluster, &run).await.iter().any(|task| task["state"] == "completed").then_some(());
    cluster.until("a first step", first).await;
    // A node that leaves in good order has not been brought down by it.
    tried_before(&cluster, &run).await;
    let (other, _) = cluster.begin(0, "pipeline:steady", json!(null)).await;
    tried_before(&cluster, &other).await;
    let leaving = cluster.nodes.remove(0).server;
    leaving.signal("TERM");
    leaving.ended().await;
    cluster.nodes.push(Node::start(&cluster.database).await);
    let ended = async || Some(cluster.task(0, &run).await).filter(|task| task["state"] != "working");
    let (task, _) = cluster.until("the end of the run", ended).await;
    assert_eq!(task["state"], "completed", "{task:#}");
    let after = trace(&cluster, &run).await;
    assert_eq!(with(&after, "a#1").len(), 1, "{after:#?}");
    let ended = async || Some(cluster.task(0, &other).await).filter(|task| task["state"] != "working");
    let (other, _) = cluster.until("the end of the other run", ended).await;
    assert_eq!(other["state"], "completed", "{other:#}");
}
