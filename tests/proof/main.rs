//! The proof: what the platform promises, tried in numbers, in one table.
//!
//! Each part tries something many times on a real `pleat serve` process and counts. A row that does not hold makes
//! the exit code. `cargo test` runs it small; docs/proof.md holds the table of a full run.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "in a proof, what is not there breaks its row"
)]
#![allow(clippy::needless_pass_by_value, reason = "`json!` values are made for the call they go into")]
#![allow(clippy::large_futures, reason = "a proof has memory to spare")]
#![allow(dead_code, reason = "the rows of `abuse` come one by one, the helpers that they share came first")]

mod abuse;
mod canary;
mod crash;
mod guest;
mod hostile;
mod isolation;
mod malformed;
mod memory;
mod node;
mod options;
mod random;
mod raw;
mod row;
mod ssrf;
mod streams;
mod swap;
mod tenants;

/// What the end-to-end suites stand on, all of it, also what is not needed here.
#[path = "../e2e"]
#[allow(dead_code, unused_imports, reason = "made for the suites, which use the rest")]
mod e2e {
    pub mod harness;
}

use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use e2e::harness;
use futures::FutureExt;

use crate::options::{Options, Scale};
use crate::row::{Row, say};

/// In the order of the table.
const PROOFS: &[&str] =
    &["isolation", "hostile", "canary", "swap", "crash", "ssrf", "tenants", "streams", "malformed", "abuse"];

async fn prove_one(name: &str, scale: Scale) -> Vec<Row> {
    match name {
        "isolation" => isolation::prove(scale).await,
        "hostile" => hostile::prove(scale).await,
        "canary" => canary::prove(scale).await,
        "swap" => swap::prove(scale).await,
        "ssrf" => ssrf::prove(scale).await,
        "crash" => crash::prove(scale).await,
        "tenants" => tenants::prove(scale).await,
        "streams" => streams::prove(scale).await,
        "abuse" => abuse::prove(scale).await,
        "malformed" => malformed::prove(scale).await,
        other => panic!("there is no proof `{other}`"),
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let rows = runtime.block_on(prove(&options));
    row::print(&rows);
    let broken = rows.iter().filter(|row| row.is_broken()).count();
    // In the words of the other test binaries, so that one count covers all.
    let verdict = if broken == 0 { "ok" } else { "FAILED" };
    row::print_line(&format!("\ntest result: {verdict}. {} passed; {broken} failed", rows.len() - broken));
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn prove(options: &Options) -> Vec<Row> {
    let mut rows = Vec::new();
    for name in PROOFS.iter().copied().filter(|name| options.wants(name)) {
        let began = Instant::now();
        // What panics breaks one row and no other; what it said is on stderr.
        match AssertUnwindSafe(prove_one(name, options.scale)).catch_unwind().await {
            Ok(proved) => rows.extend(proved),
            Err(_) => rows.push(Row::none(name, "the whole of it: early ends", &["it ended early".to_owned()])),
        }
        say(&format!("{name}: {} s", began.elapsed().as_secs()));
    }
    rows
}
