//! The bridge to stdin and stdout, where the server refuses, forgets, or only ever tells.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::client::STATELESS;
use super::initialize_params;
use crate::harness::binary::{command, run_within};
use crate::harness::{TestServer, fixture};

/// An empty key is none.
fn bridge(server: &TestServer, key: &str) -> Command {
    let mut command = command(std::path::Path::new("."), &["mcp", "stdio"]);
    command.env("PLEAT_URL", &server.url).env("PLEAT_TENANT", "acme");
    if !key.is_empty() {
        command.env("PLEAT_KEY", key);
    }
    command
}

/// A bridge that is spoken to while it runs.
struct Bridge {
    _child: Child,
    stdin: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Bridge {
    async fn start(server: &TestServer) -> Self {
        let mut command = bridge(server, &server.invoke);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut bridge = Self { _child: child, stdin, answers: BufReader::new(stdout).lines() };
        let begun = bridge.ask("initialize", initialize_params("2025-11-25", json!({}))).await;
        assert_eq!(begun["result"]["protocolVersion"], "2025-11-25", "{begun}");
        bridge.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        bridge
    }

    async fn say(&mut self, message: Value) {
        self.stdin.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(30), self.answers.next_line()).await;
        serde_json::from_str(&line.expect("in time").unwrap().expect("a line")).unwrap()
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.say(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).await;
        self.hear().await
    }
}

#[tokio::test]
async fn a_refusal_is_the_answer_to_the_request_that_was_refused() {
    let server = TestServer::start().await;
    server.deploy("echo.wasm", fixture("echo.wasm"), "&name=echo").await;
    let sent = json!({ "jsonrpc": "2.0", "id": "first", "method": "initialize",
        "params": initialize_params("2025-11-25", json!({})) });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let text = format!("{sent}\n{ready}\n");
    let ran = run_within(&mut bridge(&server, ""), Some(text.as_bytes()), Duration::from_secs(30)).await.ok();
    let answers: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 1, "what was no request is not answered: {ran:?}");
    assert_eq!((&answers[0]["id"], &answers[0]["error"]["code"]), (&json!("first"), &json!(-32052)), "{ran:?}");
}

#[tokio::test]
async fn a_bridge_ends_with_its_client_even_while_it_listens() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {} });
    let listen = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
        "params": { "notifications": { "toolsListChanged": true }, "_meta": meta } });
    let text = format!("{listen}\n");
    run_within(&mut bridge(&server, &server.invoke), Some(text.as_bytes()), Duration::from_secs(30)).await.ok();
}

#[tokio::test]
async fn a_session_that_is_gone_is_begun_again() {
    let idle = |config: &mut pleat_engine::EngineConfig| config.sessions.idle = Duration::from_millis(500);
    let server = TestServer::start_with(idle, |_| {}).await;
    server.deploy_echo().await;
    let mut bridge = Bridge::start(&server).await;
    assert_eq!(bridge.ask("tools/list", json!({})).await["result"]["tools"][0]["name"], "echo");
    tokio::time::sleep(Duration::from_millis(900)).await;
    let called = bridge.ask("tools/call", json!({ "name": "echo", "arguments": { "a": 1 } })).await;
    assert_eq!(called["result"]["content"][0]["text"], r#"{"a":1}"#, "{called}");
}

/// Its session is gone, and so is the stream on which it hears of changes: it finds another, and what it missed.
#[tokio::test]
async fn a_bridge_hears_on_after_its_stream_has_ended() {
    let database = crate::harness::database().await;
    let server = TestServer::start_on(pleat_store::StoreConfig::new(database.clone()), |_| {}, |_| {}).await;
    server.deploy_echo().await;
    let mut bridge = Bridge::start(&server).await;
    assert!(bridge.ask("ping", json!({})).await.get("result").is_some());
    server.deploy("echo.wasm", fixture("echo.wasm"), "&name=first&visibility=public").await;
    let lists = ["tools", "prompts", "resources"].map(|list| format!("notifications/{list}/list_changed"));
    for list in &lists {
        assert_eq!(bridge.hear().await["method"], **list);
    }
    let mut outside = PgConnection::connect(&database).await.unwrap();
    sqlx::query("DELETE FROM mcp_sessions").execute(&mut outside).await.unwrap();
    // The stream of the old one ends when its server looks for it; then the bridge begins another.
    let begun = async {
        let count = "SELECT count(*) FROM mcp_sessions WHERE initialized";
        while sqlx::query_scalar::<_, i64>(count).fetch_one(&mut outside).await.unwrap() == 0 {}
    };
    tokio::time::timeout(Duration::from_secs(40), begun).await.expect("another session");
    server.deploy("echo.wasm", fixture("echo.wasm"), "&name=second&visibility=public").await;
    for list in &lists {
        assert_eq!(bridge.hear().await["method"], **list);
    }
}
