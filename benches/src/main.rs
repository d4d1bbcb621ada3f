//! How fast the platform is, as ratios measured in one run on one machine.
//!
//! Here is only the order of things. A measurement compares alternating rounds and gives rows; whether a row is good
//! enough is shown, never asserted: a machine that is busy with something else is not a fault of the program.

mod call;
mod card;
mod cost;
mod cpu;
mod deploy;
mod guard;
mod http;
mod load;
mod mcp;
mod noisy;
mod official;
mod options;
mod path;
mod pipeline;
mod platform;
mod stats;
mod table;
mod versions;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;

use crate::options::{Measurement, Options};
use crate::platform::Platform;
use crate::table::Row;

/// The same as the product's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The same binary is the child that compiles and the child that makes the load.
    match std::env::args().nth(1).as_deref() {
        Some("__compile") => return pleat_runtime::compile_child_main(),
        Some("__load") => return load::child_main(),
        _ => {}
    }
    let options = Options::parse();
    match start(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            table::say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn start(options: &Options) -> anyhow::Result<()> {
    // As `pleat serve` does it.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut rows = Vec::new();
    let measured = runtime.block_on(Box::pin(measure(options, &mut rows)));
    // What was measured before something failed is worth its minutes.
    table::print(&rows)?;
    if let Some(path) = &options.json {
        table::write_json(&rows, path).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    measured
}

async fn measure(options: &Options, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    if options.wants(Measurement::Call) {
        rows.extend(call::measure(options).await.context("measuring calls")?);
    }
    if options.wants(Measurement::Guard) {
        rows.extend(guard::measure(options).context("measuring guardrails")?);
    }
    let served = [
        Measurement::Path,
        Measurement::Versions,
        Measurement::Deploy,
        Measurement::Card,
        Measurement::Mcp,
        Measurement::Pipeline,
        Measurement::Cost,
        Measurement::Official,
        Measurement::Noisy,
    ];
    if !served.into_iter().any(|measurement| options.wants(measurement)) {
        return Ok(());
    }
    let platform = Platform::start(options.data_dir.as_deref()).await?;
    let measured = measure_served(&platform, options, rows).await;
    platform.stop().await?;
    measured
}

async fn measure_served(platform: &Platform, options: &Options, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    if options.wants(Measurement::Path) {
        rows.extend(path::measure(platform, options).await.context("measuring the whole path")?);
    }
    if options.wants(Measurement::Versions) {
        rows.extend(versions::measure(platform, options).await.context("measuring versions of the protocol")?);
    }
    if options.wants(Measurement::Deploy) {
        rows.extend(deploy::measure(platform, options).await.context("measuring deploys")?);
    }
    if options.wants(Measurement::Card) {
        rows.extend(card::measure(platform, options).await.context("measuring the card")?);
    }
    if options.wants(Measurement::Mcp) {
        rows.extend(mcp::measure(platform, options).await.context("measuring MCP")?);
    }
    if options.wants(Measurement::Pipeline) {
        rows.extend(pipeline::measure(platform, options).await.context("measuring pipelines")?);
    }
    if options.wants(Measurement::Cost) {
        rows.extend(cost::measure(platform, options).await.context("measuring what a call costs")?);
    }
    if options.wants(Measurement::Official) {
        match &options.servers {
            Some(servers) => {
                let measured = official::measure(platform, servers, options).await;
                rows.extend(measured.context("measuring against official servers")?);
            }
            None => table::say("not measured against the official servers: say where they are with `--servers DIR`"),
        }
    }
    if options.wants(Measurement::Noisy) {
        rows.extend(noisy::measure(platform, options).await.context("measuring a noisy neighbour")?);
    }
    Ok(())
}
