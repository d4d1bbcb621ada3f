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
    child: Child,
    stdin: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Bridge {
    async fn start(server: &TestServer) -> Self {
        Self::start_in(server, "2025-11-25", json!({})).await
    }

    async fn start_in(server: &TestServer, version: &str, capabilities: Value) -> Self {
        let mut bridge = Self::start_alone(server);
        let begun = bridge.ask("initialize", initialize_params(version, capabilities)).await;
        assert_eq!(begun["result"]["protocolVersion"], version, "{begun}");
        bridge.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        bridge
    }

    /// Without a handshake.
    fn start_alone(server: &TestServer) -> Self {
        let mut command = bridge(server, &server.invoke);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, stdin, answers: BufReader::new(stdout).lines() }
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

    /// A line that need not be a message.
    async fn ask_line(&mut self, line: &[u8]) -> Value {
        self.stdin.write_all(&[line, b"\n"].concat()).await.unwrap();
        self.hear().await
    }

    /// Ends stdin; what is written after that.
    async fn leave(self) -> Vec<Value> {
        let Self { mut child, stdin, mut answers } = self;
        drop(stdin);
        let rest = async {
            let mut rest = Vec::new();
            while let Some(line) = answers.next_line().await.unwrap() {
                rest.push(serde_json::from_str(&line).unwrap());
            }
            assert!(child.wait().await.unwrap().success());
            rest
        };
        tokio::time::timeout(Duration::from_secs(10), rest).await.expect("it ends")
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

const NAMED: &str = r#"
    export const description = "Asks for a name";
    export default function (input, ctx) {
      if (ctx.turn === 1) return ctx.needInput("who are you?", {
        schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } });
      return `Hello, ${input.name}!`;
    }"#;

/// A server with a function that asks, and a bridge that it asks: with the question.
async fn asked() -> (TestServer, Bridge, Value) {
    let server = TestServer::start().await;
    server.deploy("named.js", NAMED, "&visibility=public").await;
    let mut bridge = Bridge::start_in(&server, "2025-11-25", json!({ "elicitation": {} })).await;
    let question = bridge.ask("tools/call", json!({ "name": "named" })).await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    (server, bridge, question)
}

#[tokio::test]
async fn a_question_that_nobody_can_answer_any_more_ends_with_its_client() {
    let (server, bridge, _) = asked().await;
    let rest = bridge.leave().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!((&rest[0]["id"], &rest[0]["error"]["code"]), (&json!(1), &json!(-32603)), "{rest:?}");
    server.task_in("canceled").await;
}

#[tokio::test]
async fn a_question_that_comes_after_the_client_has_gone_is_not_waited_for() {
    let server = TestServer::start().await;
    server.deploy("named.js", NAMED, "&visibility=public").await;
    let mut bridge = Bridge::start_in(&server, "2025-11-25", json!({ "elicitation": {} })).await;
    assert!(bridge.ask("ping", json!({})).await.get("result").is_some());
    bridge.say(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "named" } })).await;
    let rest = bridge.leave().await;
    let last = rest.last().unwrap();
    assert_eq!((&last["id"], &last["error"]["code"]), (&json!(2), &json!(-32603)), "{rest:?}");
}

/// In a batch, which this version does not have.
#[tokio::test]
async fn an_answer_that_could_not_be_sent_is_none() {
    let (_server, mut bridge, question) = asked().await;
    let answer = json!([{ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } }]);
    bridge.say(answer).await;
    let rest = bridge.leave().await;
    let codes: Vec<&Value> = rest.iter().map(|told| &told["error"]["code"]).collect();
    assert_eq!(codes, [-32600, -32603], "{rest:?}");
}

/// The answer may still be on its way when stdin ends.
#[tokio::test]
async fn a_call_whose_question_was_answered_is_waited_for() {
    let (_server, mut bridge, question) = asked().await;
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    bridge.say(json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
    let rest = bridge.leave().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["result"]["content"][0]["text"], "Hello, Ada!", "{rest:?}");
}

#[tokio::test]
async fn a_line_that_is_no_message_is_answered() {
    let server = TestServer::start().await;
    let mut bridge = Bridge::start(&server).await;
    let batch = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
    for (line, id, code) in [
        (&b"[]"[..], json!(null), -32600),
        (b"5", json!(null), -32600),
        (b"\"x\"", json!(null), -32600),
        (br#"{"jsonrpc":"2.0","id":9}"#, json!(9), -32600),
        (br#"{"jsonrpc":"2.0","id":"a","method":"ping","params":5}"#, json!("a"), -32600),
        (b"{", json!(null), -32700),
        (b"\"\xff\"", json!(null), -32700),
        (batch, json!(null), -32600),
    ] {
        let told = bridge.ask_line(line).await;
        assert_eq!((&told["id"], &told["error"]["code"]), (&id, &json!(code)), "{told}");
    }
    assert!(bridge.ask("ping", json!({})).await.get("result").is_some(), "it goes on");
}

#[tokio::test]
async fn several_messages_at_once_are_passed_on_in_the_versions_that_have_it() {
    let server = TestServer::start().await;
    let mut bridge = Bridge::start_in(&server, "2025-03-26", json!({})).await;
    let ping = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    let told = bridge.ask_line(json!([ping(1), ping(2)]).to_string().as_bytes()).await;
    assert_eq!((&told[0]["id"], &told[1]["id"], told[1].get("result").is_some()), (&json!(1), &json!(2), true));
    let told = bridge.ask_line(json!([5]).to_string().as_bytes()).await;
    assert_eq!(told["error"]["code"], -32600, "{told}");
}

/// The tool is on the second page of the list, and changes afterwards.
#[tokio::test]
async fn a_client_that_never_listed_the_tools_calls_one_that_wants_headers() {
    let server = TestServer::start().await;
    for number in 0..100 {
        server.deploy("echo.wasm", fixture("echo.wasm"), &format!("&name=echo-{number}&visibility=public")).await;
    }
    let deploy = async |header: &str| {
        let script = r#"export const description = "Routed by region";
            export const input = { type: "object", properties: { region: { type: "string", "x-mcp-header": "HEADER" } } };
            export default (input) => input.region;"#;
        server.deploy("routed.js", script.replace("HEADER", header), "&visibility=public").await;
    };
    let mut bridge = Bridge::start_alone(&server);
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {} });
    let call = json!({ "name": "routed", "arguments": { "region": "eu" }, "_meta": meta });
    for header in ["Region", "Place"] {
        deploy(header).await;
        let called = bridge.ask("tools/call", call.clone()).await;
        assert_eq!(called["result"]["content"][0]["text"], "eu", "{header}: {called}");
    }
}
