//! The command line of the proof. It is also started by `cargo test`, with whatever arguments were meant for the
//! other test binaries.

use clap::{Parser, ValueEnum};

/// Try what the platform promises, count, and print a table
#[derive(Parser)]
#[command(name = "proof")]
pub struct Options {
    /// How often everything is tried
    #[arg(long, env = "PROOF_SCALE", value_enum, default_value = "small")]
    pub scale: Scale,
    /// Prove this only; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Prove what has this in its name
    filters: Vec<String>,
    #[arg(long, hide = true)]
    test_threads: Option<usize>,
    #[arg(long, hide = true)]
    nocapture: bool,
    #[arg(long, short, hide = true)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scale {
    /// In a minute or two, with every test run
    Small,
    /// The numbers that are promised
    Full,
}

impl Scale {
    pub fn pick<T>(self, small: T, full: T) -> T {
        if self.is_full() { full } else { small }
    }

    pub fn is_full(self) -> bool {
        self == Self::Full
    }
}

impl Options {
    pub fn wants(&self, name: &str) -> bool {
        let named = self.only.iter().any(|only| only == name) || self.filters.iter().any(|part| name.contains(part));
        named || (self.only.is_empty() && self.filters.is_empty())
    }
}
