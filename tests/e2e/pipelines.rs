//! Pipelines over the real doors: definitions, runs, what is seen of them, and that nothing finished is called twice.

mod commits;
mod definitions;
mod doors;
mod fencing;
mod guarded;
mod history;
mod memory;
mod runs;
mod seen;
mod stopping;
mod takeover;
mod tools;

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{TestServer, read};

const PIPELINES: &str = "/tenants/acme/pipelines";

/// A function that takes objects with a number only.
const STRICT: &str = "export const description = 'Strict'; export const input = { type: 'object', required: ['n'] }; \
    export default (input) => input.n;";

/// A server with `probe` and `echo`.
async fn server() -> TestServer {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    server.deploy_echo().await;
    server
}

impl TestServer {
    /// Sends a definition as it is.
    async fn define(&self, text: &str, query: &str) -> (u16, Value) {
        let url = format!("{}/api/v1{PIPELINES}{query}", self.url);
        let request = self.client.post(url).bearer_auth(&self.deploy).header("content-type", "application/yaml");
        read(request.body(text.to_owned()).send().await.unwrap()).await
    }

    async fn activate(&self, text: &str) -> Value {
        let (status, body) = self.define(text, "?activate=true&visibility=public").await;
        assert!(status == 200 || status == 201, "{status} {body:#}");
        body
    }

    /// Runs it as the owner does, to its end.
    async fn run(&self, name: &str, input: Value) -> Value {
        let path = format!("{PIPELINES}/{name}/runs");
        let (status, task) = self.api(Method::POST, &path, &self.admin, Some(input)).await;
        assert_eq!(status, 200, "{task}");
        task
    }

    /// The steps of a run, oldest first: label and state.
    async fn steps(&self, run: &Value) -> Vec<(String, String)> {
        let trace = self.trace_of(run).await;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let steps = trace.iter().filter(|task| task["parentTaskId"] == run["id"]);
        steps.map(|task| (text(&task["step"]), text(&task["state"]))).collect()
    }

    async fn trace_of(&self, run: &Value) -> Vec<Value> {
        let path = format!("/tenants/acme/tasks/{}/trace", run["id"].as_str().unwrap());
        let (status, body) = self.api(Method::GET, &path, &self.read, None).await;
        assert_eq!(status, 200, "{body}");
        body["tasks"].as_array().unwrap().clone()
    }
}

/// What a task has delivered.
fn output(task: &Value) -> Value {
    assert_eq!(task["state"], "completed", "{task:#}");
    task["artifacts"].as_array().unwrap().last().unwrap()["value"].clone()
}

fn labels(steps: &[(String, String)]) -> Vec<&str> {
    steps.iter().map(|(label, _)| label.as_str()).collect()
}

fn echo(value: Value) -> Value {
    json!({ "do": "echo", "value": value })
}
