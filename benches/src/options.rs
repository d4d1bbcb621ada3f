//! The command line of the benchmark, and how long things take under it.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

/// Measure the platform: ratios of alternating rounds, with the demanded figure beside each
#[derive(Parser)]
#[command(name = "ratios")]
pub struct Options {
    /// A short run: fewer and shorter rounds, to see that everything works
    #[arg(long)]
    pub quick: bool,
    /// Measure this only; may be repeated
    #[arg(long, value_name = "NAME")]
    pub only: Vec<Measurement>,
    /// Write the rows to a file as JSON too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Where the temporary database is made: a directory on the disk to measure
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Where the official servers are, or are to be installed; without it they are not measured against
    #[arg(long, value_name = "DIR")]
    pub servers: Option<PathBuf>,
    /// Passed by `cargo bench` to every benchmark; means nothing here
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Measurement {
    /// A fresh instance and a call
    Call,
    /// The whole path against pgbench and a naive path
    Path,
    /// The same send in each version of the protocol
    Versions,
    /// From upload to the first answer
    Deploy,
    /// The agent card against a plain hello
    Card,
    /// MCP against A2A
    Mcp,
    /// A pipeline of ten steps against ten calls
    Pipeline,
    /// All checks of guardrails on messages
    Guard,
    /// What a call costs in processor time, the server's and the database's
    Cost,
    /// A2A and MCP against the official servers; needs `--servers`
    Official,
    /// A quiet tenant beside one with spinning guests
    Noisy,
}

impl Options {
    pub fn wants(&self, measurement: Measurement) -> bool {
        self.only.is_empty() || self.only.contains(&measurement)
    }

    pub fn rounds(&self) -> u32 {
        if self.quick { 2 } else { 5 }
    }

    /// How long one side of a round is measured.
    pub fn round(&self) -> Duration {
        if self.quick { Duration::from_secs(1) } else { Duration::from_secs(4) }
    }

    /// What precedes it and is not counted.
    pub fn warm_up(&self) -> Duration {
        if self.quick { Duration::from_millis(300) } else { Duration::from_secs(1) }
    }
}
