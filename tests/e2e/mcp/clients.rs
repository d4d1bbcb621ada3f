//! The official clients, each in all that it does: list, call, hear progress, cancel, read, subscribe and be told.
//!
//! Like the suites they need Node and their packages, and are ignored where those are not: see `conformance`.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::Command;

use super::conformance::tool;
use crate::harness::{TestServer, root};

const FUNCTIONS: [&str; 4] = ["greet", "slow_compute", "test_offers", "test_tool_with_progress"];

fn script(name: &str) -> PathBuf {
    root().join("tests/fixtures/mcp/clients").join(name)
}

async fn started() -> TestServer {
    let server = TestServer::start().await;
    for name in FUNCTIONS {
        let source = std::fs::read(root().join(format!("tests/fixtures/mcp/{name}.js"))).unwrap();
        server.deploy(&format!("{name}.js"), source, "&visibility=public").await;
    }
    // Another tenant with the same names, whose data must show up nowhere.
    let other = server.other_tenant("other").await;
    let query = "/api/v1/tenants/other/functions?fileName=greet.js&visibility=public";
    let request = server.client.post(format!("{}{query}", server.url)).bearer_auth(&other);
    let source = "export const description = 'Elsewhere'; export default () => 'elsewhere';";
    assert_eq!(request.timeout(Duration::from_secs(120)).body(source).send().await.unwrap().status(), 201);
    server
}

/// Runs a client while a task of its caller goes on, whose end it is to be told of.
async fn watched(server: &TestServer, command: impl FnOnce(&str) -> Command) -> Value {
    let slow = json!({ "skill": "slow_compute", "message": { "seconds": 12 } });
    let mut running = server.rpc_stream("", "tasks/sendSubscribe", slow, None).await;
    let id = running.next().await.unwrap().data["result"]["id"].as_str().unwrap().to_owned();
    let uri = format!("a2a://task/{id}");
    let output = tokio::time::timeout(Duration::from_secs(90), command(&uri).kill_on_drop(true).output());
    let output = output.await.expect("the client ends").expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    let seen: Value = serde_json::from_str(last)
        .unwrap_or_else(|error| panic!("{error}: {text}{}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(seen["tools"], json!(FUNCTIONS), "{seen}");
    assert_eq!(seen["called"], "Hello, Ada!");
    assert_eq!(seen["progress"].as_array().unwrap().len(), 3, "{seen}");
    assert_eq!(seen["read"], "This is the content of the static text resource.");
    assert_eq!(seen["updated"][0], uri.as_str(), "{seen}");
    // What it gave up is stopped, and nothing else.
    let canceled = server.task_in("canceled").await;
    assert_eq!(canceled["skill"], "slow_compute");
    let path = "/tenants/acme/tasks?state=working&skill=slow_compute";
    let (_, working) = server.api(reqwest::Method::GET, path, &server.admin, None).await;
    assert!(working["tasks"].as_array().unwrap().iter().all(|task| task["id"] == id.as_str()), "{working}");
    seen
}

#[tokio::test]
#[ignore = "needs Python's mcp: see the module"]
async fn the_python_client_works_in_both_eras() {
    let server = started().await;
    let url = format!("{}/mcp", server.tenant_url());
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")] {
        let seen = watched(&server, |uri| {
            let mut command = Command::new(tool("PLEAT_MCP_PYTHON"));
            command.arg(script("client.py")).args([&url, mode, uri]);
            command
        })
        .await;
        assert_eq!(seen["version"], version, "{mode}");
    }
}

#[tokio::test]
#[ignore = "needs Node and the clients: see the module"]
async fn the_typescript_clients_work_in_both_eras() {
    let server = started().await;
    let url = format!("{}/mcp", server.tenant_url());
    for mode in ["v2-auto", "v2-legacy", "v1"] {
        let seen = watched(&server, |uri| {
            let mut command = Command::new(tool("PLEAT_MCP_NODE"));
            command.arg(script("client.mjs")).arg(tool("PLEAT_MCP_SUITES").join("clients")).args([&url, mode, uri]);
            command
        })
        .await;
        assert_eq!(seen["cancelled"], true, "{mode}");
    }
}

#[tokio::test]
#[ignore = "needs Node and the inspector: see the module"]
async fn the_inspector_lists_and_calls() {
    let server = started().await;
    let url = format!("{}/mcp", server.tenant_url());
    let launcher = "clients/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    let inspect = async |arguments: &[&str]| -> Value {
        let mut command = Command::new(tool("PLEAT_MCP_NODE"));
        command
            .arg(tool("PLEAT_MCP_SUITES").join(launcher))
            .args(["--cli", &url, "--transport", "http"])
            .args(arguments);
        let output = tokio::time::timeout(Duration::from_secs(60), command.output()).await.unwrap().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    };
    let listed = inspect(&["--method", "tools/list"]).await;
    assert_eq!(listed["tools"].as_array().unwrap().len(), FUNCTIONS.len());
    let called = inspect(&["--method", "tools/call", "--tool-name", "greet", "--tool-arg", "name=Ada"]).await;
    assert_eq!(called["content"][0]["text"], "Hello, Ada!");
    let read = inspect(&["--method", "resources/read", "--uri", "test://static-text"]).await;
    assert_eq!(read["contents"][0]["uri"], "test://static-text");
}
