//! A pipeline of ten steps against ten calls of the same function: CPU time of the server's process.

use std::fmt::Write as _;

use crate::http::Connection;
use crate::mcp::ask;
use crate::options::Options;
use crate::platform::{Platform, echo};
use crate::stats::Series;
use crate::table::{Demand, Row, say};

const STEPS: u32 = 10;
const FUNCTION: &str = "step-echo";

pub async fn measure(platform: &Platform, options: &Options) -> anyhow::Result<Vec<Row>> {
    let mut connection = Connection::open(platform.address).await?;
    platform.deploy(&mut connection, FUNCTION, "echo.wasm", &echo()?).await?;
    platform.define(&mut connection, &definition()).await?;
    let input = format!(r#"{{"text":"{}"}}"#, "The quick brown fox jumps over the lazy dog. ".repeat(8));
    let (call, run) = (platform.call(FUNCTION, &input), platform.call("pipeline:ten", &input));
    for request in [&call, &run] {
        let answer = connection.exchange(request).await?;
        anyhow::ensure!(answer.status == 200 && answer.text() == input, "{} {}", answer.status, answer.text());
    }
    let (mut calls, mut runs, mut beyond, mut rate) =
        (Series::default(), Series::default(), Series::default(), Series::default());
    for round in 0..options.rounds() {
        say(&format!("pipelines, round {} of {}", round + 1, options.rounds()));
        let (_, one) = ask(platform.address, &call, options).await?;
        let (load, ten) = ask(platform.address, &run, options).await?;
        calls.push(one * f64::from(STEPS));
        runs.push(ten);
        beyond.push(ten - one * f64::from(STEPS));
        rate.push(load.rate);
    }
    Ok(vec![
        Row::shown("pipeline.rate", "runs of ten steps, 64 connections", "/s", rate),
        Row::shown("pipeline.run", "CPU time of the server for one run", "µs", runs),
        Row::shown("pipeline.calls", "the same for ten calls over HTTP", "µs", calls),
        Row::shown("pipeline.beyond", "a run beyond ten calls", "µs", beyond).demanded(Demand::AtMost(500.0)),
    ])
}

fn definition() -> String {
    let mut text = "name: ten\nsteps:\n".to_owned();
    for step in 1..=STEPS {
        let _ = writeln!(text, "  - {{id: s{step}, tool_name: {FUNCTION}}}");
    }
    text
}
