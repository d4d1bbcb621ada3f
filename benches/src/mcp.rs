//! MCP against A2A: the same function, the same task, another protocol around it. And the protocol alone, in CPU time of
//! the server.

use std::net::SocketAddr;

use crate::cpu;
use crate::http::Connection;
use crate::load::{self, Load, Plan};
use crate::options::Options;
use crate::platform::{Platform, echo};
use crate::stats::Series;
use crate::table::{Demand, Row, say};

const CONNECTIONS: usize = 64;
const FUNCTION: &str = "mcp-echo";

pub async fn measure(platform: &Platform, options: &Options) -> anyhow::Result<Vec<Row>> {
    let mut connection = Connection::open(platform.address).await?;
    platform.deploy(&mut connection, FUNCTION, "echo.wasm", &echo()?).await?;
    let session = open(platform, &mut connection).await?;
    let subjects = Subjects {
        address: platform.address,
        a2a: platform.post("/_a2a/", &[], &a2a()),
        stateless: platform.post("/mcp", &headers("tools/call"), &call(true)),
        session: platform.post("/mcp", &[("mcp-session-id", &session)], &call(false)),
        ping: platform.post("/mcp", &[("mcp-session-id", &session)], r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
    };
    for request in [&subjects.a2a, &subjects.stateless, &subjects.session, &subjects.ping] {
        let answer = connection.exchange(request).await?;
        anyhow::ensure!(answer.status == 200 && !answer.text().contains("\"error\""), "{}", answer.text());
    }
    let mut found = Found::default();
    for round in 0..options.rounds() {
        say(&format!("MCP, round {} of {}", round + 1, options.rounds()));
        found.round(&subjects, options).await?;
    }
    Ok(found.rows())
}

struct Subjects {
    address: SocketAddr,
    a2a: Vec<u8>,
    stateless: Vec<u8>,
    session: Vec<u8>,
    ping: Vec<u8>,
}

#[derive(Default)]
struct Found {
    a2a: Series,
    stateless: Series,
    session: Series,
    stateless_to_a2a: Series,
    session_to_a2a: Series,
    cpu: Series,
    protocol: Series,
}

impl Found {
    async fn round(&mut self, subjects: &Subjects, options: &Options) -> anyhow::Result<()> {
        let a2a = ask(subjects.address, &subjects.a2a, options).await?.0.rate;
        let (stateless, cpu) = ask(subjects.address, &subjects.stateless, options).await?;
        let session = ask(subjects.address, &subjects.session, options).await?.0.rate;
        let (_, protocol) = ask(subjects.address, &subjects.ping, options).await?;
        self.a2a.push(a2a);
        self.stateless.push(stateless.rate);
        self.session.push(session);
        self.stateless_to_a2a.push(stateless.rate / a2a);
        self.session_to_a2a.push(session / a2a);
        self.cpu.push(cpu);
        self.protocol.push(protocol);
        Ok(())
    }

    fn rows(self) -> Vec<Row> {
        let within = Demand::AtLeast(1.0 / 1.2);
        vec![
            Row::shown("mcp.a2a", format!("echo over A2A, {CONNECTIONS} connections"), "/s", self.a2a),
            Row::shown("mcp.calls", "the same over MCP, 2026-07-28", "/s", self.stateless),
            Row::shown("mcp.session", "the same over MCP, in a session", "/s", self.session),
            Row::shown("mcp.to_a2a", "MCP against A2A", "×", self.stateless_to_a2a).demanded(within),
            Row::shown("mcp.session_to_a2a", "a session against A2A", "×", self.session_to_a2a).demanded(within),
            Row::shown("mcp.cpu", "CPU time of the server for one call", "µs", self.cpu),
            Row::shown("mcp.protocol", "CPU time of the server for one `ping`", "µs", self.protocol)
                .demanded(Demand::AtMost(30.0)),
        ]
    }
}

/// What came of it, and the CPU time of this process for one answer. The load is another process, and so is Postgres.
pub async fn ask(address: SocketAddr, request: &[u8], options: &Options) -> anyhow::Result<(Load, f64)> {
    let plan = Plan { address, connections: CONNECTIONS, warm_up: options.warm_up(), lasting: options.round() };
    let before = cpu::own();
    let load = load::run(&plan, request).await?;
    // Warming up costs the same for each answer.
    let answers = load.rate * (plan.warm_up + plan.lasting).as_secs_f64();
    let used = cpu::own() - before;
    Ok((load, used / answers.max(1.0)))
}

async fn open(platform: &Platform, connection: &mut Connection) -> anyhow::Result<String> {
    let body =
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
    let session = connection.header(&platform.post("/mcp", &[], body), "mcp-session-id").await?;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    connection.exchange(&platform.post("/mcp", &[("mcp-session-id", &session)], ready)).await?;
    Ok(session)
}

/// About 0.4 kB.
fn text() -> String {
    "The quick brown fox jumps over the lazy dog and comes back. ".repeat(6)
}

fn a2a() -> String {
    let message = format!(r#"{{"text":"{}"}}"#, text());
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{{"skill":"{FUNCTION}","message":{message}}}}}"#)
}

fn call(stateless: bool) -> String {
    let meta = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let (arguments, meta) = (format!(r#"{{"text":"{}"}}"#, text()), if stateless { meta } else { "" });
    let params = format!(r#"{{"name":"{FUNCTION}","arguments":{arguments}{meta}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
}

fn headers(method: &'static str) -> [(&'static str, &'static str); 3] {
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method), ("mcp-name", FUNCTION)]
}
