//! The steps that every client takes, and what each must find.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::Command;

use super::receiver::Receiver;
use crate::harness::binary::run_within;
use crate::harness::{TestServer, example, root};

const PATIENCE: Duration = Duration::from_secs(180);

/// The agent that the clients talk to.
pub async fn agent() -> TestServer {
    let server = TestServer::start_with(|engine| engine.egress = Receiver::reachable(&engine.egress), |_| {}).await;
    let behaviours = example("behaviours/behaviours.js");
    server.deploy("behaviours.js", behaviours, "&name=behaviours&visibility=public").await;
    server
}

/// A client's program, its library and how it is told to reach the agent.
pub struct Client {
    pub program: String,
    /// What the program is given to run, unless it is the client itself.
    pub script: Option<&'static str>,
    pub binding: &'static str,
    /// The version that it speaks with us.
    pub version: &'static str,
    /// Whether its library checks the signatures of cards.
    pub verifies: bool,
}

/// Where the clients are installed.
pub fn installed(path: &str) -> String {
    let home = std::env::var("PLEAT_CLIENTS").unwrap_or_else(|_| panic!("set PLEAT_CLIENTS: see the module"));
    format!("{home}/{path}")
}

impl Client {
    /// What it printed, by step.
    pub async fn run(&self, server: &TestServer, receiver: &Receiver, library: &str) -> BTreeMap<String, Value> {
        let mut command = Command::new(&self.program);
        command.args(self.script.map(|script| root().join("tests/clients").join(script)));
        command.arg(format!("{}/", server.tenant_url())).arg(self.binding);
        command.env("PLEAT_TEST_KEY", &server.invoke).env("PLEAT_TEST_WEBHOOK", receiver.url());
        command.env("PLEAT_TEST_LIBRARY", library).env("NO_PROXY", "127.0.0.1,localhost");
        let ran = run_within(&mut command, None, PATIENCE).await;
        assert_eq!(ran.code, 0, "{}\n{}\n{}", self.program, ran.stdout, ran.stderr);
        let line = |line: &str| -> Value { serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")) };
        let steps = ran.stdout.lines().map(line).map(|mut step| {
            let name = step["step"].as_str().unwrap().to_owned();
            step.as_object_mut().unwrap().remove("step");
            (name, step)
        });
        steps.collect()
    }
}

/// What every client must have found.
pub fn check(steps: &BTreeMap<String, Value>, client: &Client) {
    let step = |name: &str| steps.get(name).unwrap_or_else(|| panic!("no step `{name}`: {steps:#?}"));
    let discovered = json!({ "name": "pleat-acme", "skills": ["behaviours"], "streaming": true, "push": true });
    assert_eq!(*step("discover"), discovered);
    assert_eq!(*step("send"), json!({ "state": "completed", "text": "hello" }));
    let streamed = step("stream");
    assert_eq!(streamed["state"], "completed", "{streamed}");
    assert_eq!(streamed["text"], "1 2 3 ", "the chunks in their order: {streamed}");
    let events: Vec<&str> =
        streamed["events"].as_array().unwrap().iter().map(|event| event.as_str().unwrap()).collect();
    assert_eq!(events.first(), Some(&"task"), "{streamed}");
    assert_eq!(events.last(), Some(&"status"), "{streamed}");
    assert!(events.iter().filter(|event| **event == "artifact").count() >= 2, "{streamed}");
    assert_eq!(*step("get"), json!({ "state": "completed", "same": true, "history": 1 }));
    let begun = step("nonblocking")["state"].as_str().unwrap();
    assert!(matches!(begun, "submitted" | "working"), "{begun}");
    let followed = step("subscribe");
    assert_eq!((&followed["first"], &followed["state"]), (&json!("task"), &json!("completed")), "{followed}");
    assert_eq!(*step("cancel"), json!({ "state": "canceled" }));
    assert_eq!(*step("missing"), json!({ "error": "TaskNotFound" }));
    assert_eq!(*step("cancel-finished"), json!({ "error": "TaskNotCancelable" }));
    let asked = json!({ "first": "input-required", "then": "completed", "greeting": "Nice to meet you, Ada!" });
    assert_eq!(*step("multi-turn"), asked);
    let files =
        json!({ "sent": "a file of mine", "bytes": "hello from a file", "uri": "https://example.com/report.pdf" });
    assert_eq!(*step("files"), files);
    assert_eq!(*step("failures"), json!({ "fail": "failed", "reject": "rejected", "auth": "auth-required" }));
    let push = json!({ "set": true, "got": true, "listed": 1, "left": 0 });
    assert_eq!(*step("push"), push);
    assert_eq!(*step("extended"), json!({ "skills": ["behaviours"] }));
    if client.version == "1.0" {
        let listed = step("list");
        assert_eq!((&listed["found"], &listed["more"]), (&json!(true), &json!(true)), "{listed}");
    }
    if client.verifies {
        assert_eq!(*step("signature"), json!({ "valid": true, "tampered": false }));
    }
}
