//! What 0.3, 1.0 and 1.0 over HTTP+JSON have in common: the same tests in each of their words, and one task in all of them.

mod again;
mod choice;
mod closed;
mod conformance;
mod conversation;
mod crossing;
mod files;
mod listing;
mod neighbours;
mod push;
mod refusals;
mod streams;

use serde_json::{Value, json};

use crate::harness::{TestServer, Tongue};

/// What the probe is to do, and nothing else.
fn probe(tongue: Tongue, input: Value) -> Value {
    json!({ "message": tongue.call("probe", input) })
}

fn ask(prompt: &str) -> Value {
    json!({ "do": "need_input", "prompt": prompt, "schema": { "type": "object" }, "state": { "kept": prompt } })
}

/// A server with the probe, for which nobody needs a key.
async fn started() -> TestServer {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    server
}
