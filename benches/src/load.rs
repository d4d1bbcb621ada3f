//! The load: a child process of one thread that sends one request over and over on many connections at once, so that
//! it takes no more of the machine than it must and nothing of the server's threads.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::http::Connection;
use crate::stats::percentile;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    pub address: SocketAddr,
    pub connections: usize,
    /// Not counted.
    pub warm_up: Duration,
    pub lasting: Duration,
}

/// What came of it: answers per second, and how long one took in microseconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Load {
    pub rate: f64,
    pub p50: f64,
    pub p99: f64,
    refused: u64,
}

/// Sends `request` as planned, from a child process. An answer other than 200 spoils the measurement.
pub async fn run(plan: &Plan, request: &[u8]) -> anyhow::Result<Load> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("__load")
        .arg(serde_json::to_string(plan)?)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut input = child.stdin.take().context("the load has no stdin")?;
    input.write_all(request).await?;
    drop(input);
    let output = child.wait_with_output().await?;
    anyhow::ensure!(output.status.success(), "the load ended with {}", output.status);
    let load: Load = serde_json::from_slice(&output.stdout)?;
    anyhow::ensure!(load.refused == 0, "{} requests were refused", load.refused);
    Ok(load)
}

/// The whole life of the child.
pub fn child_main() -> ExitCode {
    match child() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::table::say(&format!("load: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn child() -> anyhow::Result<()> {
    let plan: Plan = serde_json::from_str(&std::env::args().nth(2).context("no plan")?)?;
    let mut request = Vec::new();
    std::io::stdin().lock().read_to_end(&mut request)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let load = runtime.block_on(send(&plan, request.leak()))?;
    serde_json::to_writer(std::io::stdout().lock(), &load)?;
    std::io::stdout().flush()?;
    Ok(())
}

async fn send(plan: &Plan, request: &'static [u8]) -> anyhow::Result<Load> {
    let mut connections = Vec::with_capacity(plan.connections);
    for _ in 0..plan.connections {
        connections.push(Connection::open(plan.address).await?);
    }
    let from = Instant::now() + plan.warm_up;
    let until = from + plan.lasting;
    let senders: Vec<_> =
        connections.into_iter().map(|connection| tokio::spawn(repeat(connection, request, from, until))).collect();
    let (mut took, mut refused) = (Vec::new(), 0);
    for sender in senders {
        let counted = sender.await??;
        took.extend(counted.took);
        refused += counted.refused;
    }
    let rate = took.len() as f64 / plan.lasting.as_secs_f64();
    Ok(Load { rate, p50: percentile(&mut took, 0.5), p99: percentile(&mut took, 0.99), refused })
}

#[derive(Default)]
struct Counted {
    /// Microseconds of each answer within the time.
    took: Vec<f64>,
    refused: u64,
}

async fn repeat(mut connection: Connection, request: &[u8], from: Instant, until: Instant) -> std::io::Result<Counted> {
    let mut counted = Counted::default();
    let mut sent = Instant::now();
    while sent < until {
        let status = connection.exchange(request).await?.status;
        let answered = Instant::now();
        if status != 200 {
            counted.refused += 1;
        } else if answered >= from && answered < until {
            counted.took.push((answered - sent).as_secs_f64() * 1e6);
        }
        sent = answered;
    }
    Ok(counted)
}
