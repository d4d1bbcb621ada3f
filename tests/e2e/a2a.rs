//! The A2A door over real HTTP: what it takes, what it answers, and what it refuses, to the letter.

mod cancel;
mod faults;
mod ids;
mod keys;
mod messages;
mod params;
mod seed;
mod skills;
mod turns;

use serde_json::Value;

use crate::harness::{TestServer, read};

/// Sends a body as it is; the answer's status and body.
async fn post(server: &TestServer, body: impl Into<reqwest::Body>) -> (u16, Value) {
    read(server.post("/_a2a/", "application/json", body).send().await.unwrap()).await
}

/// The text of the first artifact's only part.
fn result_text(answer: &Value) -> &str {
    assert_eq!(answer["result"]["status"]["state"], "completed", "{answer}");
    let artifacts = answer["result"]["artifacts"].as_array().unwrap();
    let [artifact] = artifacts.as_slice() else { panic!("one artifact: {answer}") };
    let [part] = artifact["parts"].as_array().unwrap().as_slice() else { panic!("one part: {answer}") };
    part["text"].as_str().unwrap()
}

/// The same, read as JSON.
fn result_json(answer: &Value) -> Value {
    serde_json::from_str(result_text(answer)).unwrap()
}

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("an error: {answer}"))
}
