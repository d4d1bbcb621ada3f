//! Each client, over each binding that it speaks, and the proxy that stands before suites of conformance.

mod proxy;

use super::receiver::Receiver;
use super::steps::{Client, agent, check, installed};

async fn goes_through(client: Client, library: &str) {
    let server = agent().await;
    let receiver = Receiver::start().await;
    let steps = client.run(&server, &receiver, library).await;
    check(&steps, &client);
    let delivered = receiver.heard("token-of-the-test").await;
    assert!(!delivered.is_null(), "{delivered}");
}

async fn python(library: &str, script: &'static str, binding: &'static str, version: &'static str) {
    let program = installed(&format!("{library}/bin/python"));
    let verifies = version == "1.0";
    goes_through(Client { program, script: Some(script), binding, version, verifies }, "").await;
}

async fn javascript(library: &str, script: &'static str, binding: &'static str, version: &'static str) {
    let verifies = version == "1.0";
    let client = Client { program: "node".to_owned(), script: Some(script), binding, version, verifies };
    goes_through(client, &installed(library)).await;
}

/// A program, not a script; it knows no signatures.
async fn rust(binding: &'static str) {
    let program = installed("rust/debug/pleat-client");
    goes_through(Client { program, script: None, binding, version: "1.0", verifies: false }, "").await;
}

#[tokio::test]
#[ignore = "needs the official clients: see the module"]
async fn python_1_3_over_json_rpc() {
    python("python-1.3.0", "python_1.py", "JSONRPC", "1.0").await;
}

#[tokio::test]
#[ignore = "needs the official clients: see the module"]
async fn python_1_3_over_http_json() {
    python("python-1.3.0", "python_1.py", "HTTP+JSON", "1.0").await;
}

#[tokio::test]
#[ignore = "needs the official clients: see the module"]
async fn python_0_3() {
    python("python-0.3.26", "python_03.py", "JSONRPC", "0.3").await;
}

#[tokio::test]
#[ignore = "needs the official clients: see the module"]
async fn javascript_1_3_over_json_rpc() {
    javascript("js-1.3.0", "javascript_1.mjs", "JSONRPC", "1.0").await;
}

#[tokio::test]
#[ignore = "needs the official clients: see the module"]
async fn javascript_1_3_over_http_json() {
    javascript("js-1.3.0", "javascript_1.mjs", "HTTP+JSON", "1.0").await;
}

#[tokio::test]
#[ignore = "needs the official clients: see the module"]
async fn javascript_0_3() {
    javascript("js-0.3.14", "javascript_03.mjs", "JSONRPC", "0.3").await;
}

#[tokio::test]
#[ignore = "needs the official clients: see the module"]
async fn rust_over_json_rpc() {
    rust("JSONRPC").await;
}

#[tokio::test]
#[ignore = "needs the official clients: see the module"]
async fn rust_over_http_json() {
    rust("HTTP+JSON").await;
}
