//! The hook bus around every invocation: what it sees, and that its word counts before anything runs or leaves.

mod dispatches;
mod fields;
mod lost;

use std::sync::{Arc, Mutex};

use pleat_domain::Failure;
use pleat_engine::{Denied, Hook, VerbEvent, VerbOutcome};
use serde_json::json;

use crate::harness::TestServer;

/// Refuses inputs and results that hold a word, and writes down what it is told.
#[derive(Default)]
struct Censor(Mutex<Vec<String>>);

impl Hook for Censor {
    fn before(&self, event: &VerbEvent<'_>) -> Result<(), Denied> {
        self.0.lock().unwrap().push(format!("pre {} {} {}", event.tenant.slug, event.verb, event.caller));
        refuse(event.args.get(), "forbidden")
    }

    fn after(&self, event: &VerbEvent<'_>, outcome: &VerbOutcome<'_>) -> Result<(), Denied> {
        self.0.lock().unwrap().push(format!("post {} {}", event.verb, outcome.outcome.as_str()));
        let results = outcome.result.iter().filter_map(|artifact| artifact.value.as_ref());
        results.map(|value| value.get()).try_for_each(|value| refuse(value, "leak"))
    }

    fn error(&self, event: &VerbEvent<'_>, failure: &Failure) {
        self.0.lock().unwrap().push(format!("error {} {}", event.verb, failure.reason.as_str()));
    }
}

fn refuse(text: &str, word: &str) -> Result<(), Denied> {
    if text.contains(word) { Err(Denied(format!("the text holds `{word}`"))) } else { Ok(()) }
}

async fn censored() -> (TestServer, Arc<Censor>) {
    let censor = Arc::new(Censor::default());
    let hook = Arc::clone(&censor);
    let server = TestServer::start_with(|config| config.hooks.push(hook), |_| {}).await;
    server.deploy_probe().await;
    (server, censor)
}

#[tokio::test]
async fn a_denied_input_runs_nothing_at_any_door() {
    let (server, censor) = censored().await;
    let input = json!({ "do": "echo", "value": "forbidden" });
    let answer = server.rpc("tasks/send", json!({ "skill": "probe", "message": input })).await;
    assert_eq!(answer["error"]["code"], -32050, "{answer}");
    let (status, body) = server.http("", "probe", input).await;
    assert_eq!((status, &body["error"]["code"]), (403, &json!("blocked")), "{body}");
    let told = ["pre acme probe anonymous", "error probe blocked"];
    assert_eq!(*censor.0.lock().unwrap(), [told, told].concat());
    let (_, tasks) = server.api(reqwest::Method::GET, "/tenants/acme/tasks", &server.read, None).await;
    assert_eq!(tasks["tasks"], json!([]), "a denied call leaves no task");
}

#[tokio::test]
async fn a_denied_result_does_not_leave() {
    let (server, censor) = censored().await;
    let input = json!({ "do": "echo", "value": "leak" });
    let answer = server.rpc("tasks/send", json!({ "skill": "probe", "message": input })).await;
    assert_eq!(answer["error"]["code"], -32050, "{answer}");
    let id = answer["error"]["data"]["taskId"].as_str().unwrap();
    let answer = server.rpc("tasks/get", json!({ "id": id })).await;
    assert_eq!(answer["result"]["status"]["state"], "failed", "{answer}");
    assert_eq!(answer["result"]["metadata"]["failure"]["reason"], "blocked");
    assert_eq!(answer["result"]["artifacts"], json!([]));
    assert_eq!(*censor.0.lock().unwrap(), ["pre acme probe anonymous", "post probe completed", "error probe blocked"]);
}

#[tokio::test]
async fn a_failure_is_told_as_an_outcome_and_as_an_error() {
    let (server, censor) = censored().await;
    let (status, _) = server.http("", "probe", json!({ "do": "fail", "code": "c", "message": "m" })).await;
    assert_eq!(status, 422);
    assert_eq!(
        *censor.0.lock().unwrap(),
        ["pre acme probe anonymous", "post probe failed", "error probe function_error"]
    );
}

#[tokio::test]
async fn what_the_hooks_allow_passes_unchanged() {
    let (server, _) = censored().await;
    let (status, body) = server.http("", "probe", json!({ "do": "echo", "value": "fine" })).await;
    assert_eq!((status, body), (200, json!("fine")));
}
