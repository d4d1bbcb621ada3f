//! What a lost node left is told of by the node that takes it over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pleat_engine::{Denied, Hook, VerbEvent};
use pleat_store::StoreConfig;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use super::fields::Recorder;
use crate::harness::{Stream, TestServer, database};

const STUBBORN: &str = "export const description = 'Hangs at first';
    export const annotations = { idempotentHint: true };
    export default async (input, ctx) => {
      if (ctx.attempt === 1) await new Promise((go) => setTimeout(go, 28000));
      return ctx.attempt;
    };";

/// Does not let anything run, from a moment on.
#[derive(Default)]
struct Strict(AtomicBool);

impl Hook for Strict {
    fn before(&self, _: &VerbEvent<'_>) -> Result<(), Denied> {
        if self.0.load(Ordering::Relaxed) { Err(Denied("not now".to_owned())) } else { Ok(()) }
    }
}

/// Begins a call on a node, silences that, and gives what was told from then on, and the last event. Any node may take
/// the call over, so that all have the same hooks.
async fn taken_over(skill: &str, input: Value, strict: bool) -> (Vec<String>, String) {
    let url = database().await;
    let (recorder, judge) = (Arc::new(Recorder::default()), Arc::new(Strict::default()));
    let hooks: [Arc<dyn Hook>; 2] = [Arc::<Recorder>::clone(&recorder), Arc::<Strict>::clone(&judge)];
    let with_hooks = |config: &mut pleat_engine::EngineConfig| config.hooks.extend(hooks.clone());
    let lost = TestServer::start_on(StoreConfig::new(url.as_str()), with_hooks, |_| {}).await;
    lost.deploy_probe().await;
    lost.deploy("stubborn.js", STUBBORN, "&visibility=public").await;
    let other = TestServer::start_on(StoreConfig::new(url.as_str()), with_hooks, |_| {}).await;
    let params = json!({ "skill": skill, "message": input });
    let mut caller = lost.rpc_stream(&lost.invoke, "tasks/sendSubscribe", params, None).await;
    let first = caller.next().await.expect("a first event").data;
    let id = first["result"]["id"].as_str().unwrap();
    let events = format!("{}/api/v1/tenants/acme/tasks/{id}/events", other.url);
    let mut elsewhere = Stream::of(other.client.get(events).bearer_auth(&other.read).send().await.unwrap());
    assert_eq!(elsewhere.next().await.expect("the first event").id, Some(1));
    assert_eq!(recorder.take().len(), 1, "it has begun");
    judge.0.store(strict, Ordering::Relaxed);
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let silence = "UPDATE nodes SET beat_at = now() - interval '1 minute' WHERE id = $1";
    sqlx::query(silence).bind(lost.store.node().as_uuid()).execute(&mut connection).await.unwrap();
    let rest = tokio::time::timeout(Duration::from_secs(20), elsewhere.all()).await.expect("the stream ends");
    tokio::time::timeout(Duration::from_secs(20), recorder.until(2)).await.expect("the hooks are told");
    let told = recorder.take().iter().map(|one| format!("{} {} {}", one.phase, one.verb, one.end)).collect();
    (told, rest.last().expect("an end").data.to_string())
}

#[tokio::test]
async fn a_call_that_is_lost_with_its_node_ends_with_an_error() {
    let (told, last) = taken_over("probe", json!({ "do": "sleep", "ms": 25_000 }), false).await;
    assert!(last.contains("node_lost"), "{last}");
    assert_eq!(told, [r#"post probe ["failed",0]"#, r#"error probe "node_lost""#]);
}

#[tokio::test]
async fn a_call_that_runs_again_is_asked_for_again() {
    let (told, last) = taken_over("stubborn", json!({}), false).await;
    assert!(last.contains("completed"), "{last}");
    assert_eq!(told, ["pre stubborn null", r#"post stubborn ["completed",1]"#]);
}

#[tokio::test]
async fn a_call_that_may_not_run_again_ends_as_blocked() {
    let (told, last) = taken_over("stubborn", json!({}), true).await;
    assert!(last.contains("blocked"), "{last}");
    // Hooks are asked before the end is recorded: where recording fails, it is claimed and they are asked once more.
    let expected = ["pre stubborn null", r#"error stubborn "blocked""#];
    assert!(!told.is_empty() && told.chunks(2).all(|asked| asked == expected), "{told:?}");
}
