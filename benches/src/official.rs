//! Against the official servers, in answers for each second of processor time: theirs keep tasks in memory, ours in
//! PostgreSQL, whose time is counted as ours.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::cpu;
use crate::http::{Connection, Request};
use crate::load::{self, Plan};
use crate::options::Options;
use crate::platform::{Platform, echo};
use crate::stats::Series;
use crate::table::{Demand, Row, say};

const CONNECTIONS: usize = 256;
pub const FUNCTION: &str = "echo";
/// What a tenant offers: the official TypeScript server makes all of its tools anew for each request.
const TOOLS: usize = 120;
/// For how long a server has just been started.
const FRESH: Duration = Duration::from_millis(1_300);
const MCP_HEADERS: &[(&str, &str)] = &[
    ("Accept", "application/json, text/event-stream"),
    ("Mcp-Protocol-Version", "2026-07-28"),
    ("Mcp-Method", "tools/call"),
    ("Mcp-Name", FUNCTION),
];
const A2A_HEADERS: &[(&str, &str)] = &[("A2A-Version", "1.0")];

/// One protocol: what is asked, and whom it is measured against.
pub struct Protocol {
    pub path: &'static str,
    pub headers: &'static [(&'static str, &'static str)],
    pub body: String,
    ours: (&'static str, &'static str),
    others: Vec<Other>,
}

/// An official server: where it is installed, what it runs, the names of its two rows, and what is demanded.
struct Other {
    place: &'static str,
    script: &'static str,
    rate: &'static str,
    ratio: &'static str,
    demand: Option<f64>,
    /// The row against one that has just been started, where that makes a difference: what JavaScript's engine compiles, it
    /// compiles over its first tens of thousands of answers.
    fresh: Option<&'static str>,
    /// How many it offers, as far as it has tools.
    tools: usize,
}

const fn other(
    place: &'static str,
    script: &'static str,
    rate: &'static str,
    ratio: &'static str,
    demand: f64,
) -> Other {
    Other { place, script, rate, ratio, demand: Some(demand), fresh: None, tools: TOOLS }
}

pub fn protocols() -> [Protocol; 2] {
    let text = "The quick brown fox jumps over the lazy dog and comes back. ".repeat(6);
    let message = json!({ "messageId": "m-1", "role": "ROLE_USER", "parts": [{ "data": { "text": text } }] });
    let send = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": { "message": message, "metadata": { "skill": FUNCTION } } });
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": FUNCTION, "arguments": { "text": text }, "_meta": meta } });
    let a2a = Protocol {
        path: "/_a2a/",
        headers: A2A_HEADERS,
        body: send.to_string(),
        ours: ("official.a2a", "A2A sends, of ours and PostgreSQL's time"),
        others: vec![
            other("a2a-python", "a2a_python.py", "official.a2a_python", "official.to_a2a_python", 30.0),
            Other {
                fresh: Some("official.to_a2a_js_fresh"),
                ..other("a2a-js", "a2a_node.mjs", "official.a2a_js", "official.to_a2a_js", 6.0)
            },
        ],
    };
    let mcp = Protocol {
        path: "/mcp",
        headers: MCP_HEADERS,
        body: call.to_string(),
        ours: ("official.mcp", "MCP calls, of ours and PostgreSQL's time"),
        others: vec![
            other("mcp-python", "mcp_python.py", "official.mcp_python", "official.to_mcp_python", 8.0),
            Other {
                fresh: Some("official.to_mcp_js_fresh"),
                ..other("mcp-js", "mcp_node.mjs", "official.mcp_js", "official.to_mcp_js", 20.0)
            },
            Other {
                demand: None,
                fresh: Some("official.to_mcp_js_one_fresh"),
                tools: 1,
                ..other("mcp-js", "mcp_node.mjs", "official.mcp_js_one", "official.to_mcp_js_one", 0.0)
            },
        ],
    };
    [a2a, mcp]
}

pub async fn measure(platform: &Platform, servers: &Path, options: &Options) -> anyhow::Result<Vec<Row>> {
    say("installing the official servers, if they are not there");
    let installed = Command::new("bash").arg(scripts().join("install.sh")).arg(servers).status().await?;
    anyhow::ensure!(installed.success(), "the official servers cannot be installed");
    let mut connection = Connection::open(platform.address).await?;
    platform.deploy(&mut connection, FUNCTION, "echo.wasm", &echo()?).await?;
    for tool in 1..TOOLS {
        platform.deploy(&mut connection, &format!("tool-{tool}"), "echo.wasm", &echo()?).await?;
    }
    let mut rows = Vec::new();
    for protocol in protocols() {
        rows.extend(compare(platform, servers, &protocol, options).await?);
    }
    Ok(rows)
}

async fn compare(
    platform: &Platform,
    servers: &Path,
    protocol: &Protocol,
    options: &Options,
) -> anyhow::Result<Vec<Row>> {
    let ours = Subject {
        address: platform.address,
        request: platform.post(protocol.path, protocol.headers, &protocol.body),
        processes: vec![std::process::id(), platform.postgres()?],
        _child: None,
    };
    ours.try_once().await?;
    let mut theirs = Vec::new();
    for other in &protocol.others {
        let subject = Subject::start(servers, other, protocol).await?;
        subject.try_once().await?;
        theirs.push(subject);
    }
    let mut own = Series::default();
    let mut rates: Vec<Series> = theirs.iter().map(|_| Series::default()).collect();
    let mut ratios: Vec<Series> = theirs.iter().map(|_| Series::default()).collect();
    let mut fresh: Vec<Series> = theirs.iter().map(|_| Series::default()).collect();
    for round in 0..options.rounds() {
        say(&format!("{} against official servers, round {} of {}", protocol.path, round + 1, options.rounds()));
        let rate = ours.answers_per_second_of_cpu(options.warm_up(), options.round()).await?;
        own.push(rate);
        for ((subject, rates), ratios) in theirs.iter().zip(&mut rates).zip(&mut ratios) {
            let other = subject.answers_per_second_of_cpu(options.warm_up(), options.round()).await?;
            rates.push(other);
            ratios.push(rate / other);
        }
        for (other, fresh) in protocol.others.iter().zip(&mut fresh).filter(|(other, _)| other.fresh.is_some()) {
            let subject = Subject::start(servers, other, protocol).await?;
            subject.try_once().await?;
            fresh.push(rate / subject.answers_per_second_of_cpu(Duration::ZERO, FRESH).await?);
        }
    }
    let mut rows = vec![Row::shown(protocol.ours.0, protocol.ours.1, "/cpu-s", own)];
    for (((other, rates), ratios), fresh) in protocol.others.iter().zip(rates).zip(ratios).zip(fresh) {
        let name = if other.tools == 1 { format!("`{}`, one tool", other.place) } else { format!("`{}`", other.place) };
        rows.push(Row::shown(other.rate, format!("the same at {name}"), "/cpu-s", rates));
        let ratio = Row::shown(other.ratio, format!("ours against {name}"), "×", ratios);
        let demanded = |row: Row| match other.demand {
            Some(least) => row.demanded(Demand::AtLeast(least)),
            None => row,
        };
        rows.push(demanded(ratio));
        if let Some(row) = other.fresh {
            rows.push(demanded(Row::shown(row, format!("ours against {name}, just started"), "×", fresh)));
        }
    }
    Ok(rows)
}

/// A server under load.
struct Subject {
    address: SocketAddr,
    request: Vec<u8>,
    /// Those whose time counts, with all that they started.
    processes: Vec<u32>,
    _child: Option<Child>,
}

impl Subject {
    /// Starts an official server, which says on which port it listens.
    async fn start(servers: &Path, other: &Other, protocol: &Protocol) -> anyhow::Result<Self> {
        let home = servers.join(other.place).canonicalize()?;
        let python = home.join("bin/python");
        let program = if python.exists() { python } else { PathBuf::from("node") };
        let mut child = Command::new(program)
            .arg(scripts().join(other.script))
            .current_dir(&home)
            .env("TOOLS", other.tools.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("`{}` cannot be started", other.script))?;
        let mut said = String::new();
        let stdout = child.stdout.take().context("it has no stdout")?;
        let line = BufReader::new(stdout).read_line(&mut said).await;
        line.with_context(|| format!("`{}` does not say its port", other.script))?;
        let port: u16 = said.trim().parse().with_context(|| format!("`{}` says `{said}`", other.script))?;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let path = if protocol.path == "/mcp" { "/mcp" } else { "/" };
        let plain = Request {
            method: "POST",
            path,
            key: None,
            content_type: Some("application/json"),
            body: protocol.body.as_bytes(),
        };
        let request = plain.with_headers(protocol.headers, address);
        let processes = child.id().into_iter().collect();
        Ok(Self { address, request, processes, _child: Some(child) })
    }

    async fn try_once(&self) -> anyhow::Result<()> {
        // One that has just said its port may not listen yet.
        let mut tries = 0;
        let mut connection = loop {
            match Connection::open(self.address).await {
                Ok(connection) => break connection,
                Err(error) if tries == 100 => return Err(error.into()),
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
            tries += 1;
        };
        let answer = connection.exchange(&self.request).await?;
        let text = answer.text();
        anyhow::ensure!(answer.status == 200 && text.contains("The quick brown fox"), "{} {text}", answer.status);
        Ok(())
    }

    async fn answers_per_second_of_cpu(&self, warm_up: Duration, lasting: Duration) -> anyhow::Result<f64> {
        let plan = Plan { address: self.address, connections: CONNECTIONS, warm_up, lasting };
        let before = self.used();
        let load = load::run(&plan, &self.request).await?;
        // Warming up costs the same for each answer.
        let answers = load.rate * (plan.warm_up + plan.lasting).as_secs_f64();
        Ok(answers * 1e6 / (self.used() - before).max(1.0))
    }

    fn used(&self) -> f64 {
        let own = std::process::id();
        // The load is a child of this process and must not be counted as the server.
        self.processes.iter().map(|id| if *id == own { cpu::own() } else { cpu::of_tree(*id) }).sum()
    }
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/servers")
}
