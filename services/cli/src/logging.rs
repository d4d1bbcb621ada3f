//! Where `tracing` goes: to stderr, always, because stdout is for data.

use std::io::IsTerminal;

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

use crate::arguments::Command;

/// How the log of a server is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One readable line per event
    Text,
    /// One JSON object per line
    Json,
}

/// Servers say what they do; clients speak up only when something is odd. `RUST_LOG` overrides both.
pub fn start(command: &Command) {
    let (level, format) = match command {
        Command::Dev(_) => ("info", LogFormat::Text),
        Command::Serve(args) => ("info", args.log_format),
        _ => ("warn", LogFormat::Text),
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Json => builder.json().flatten_event(true).init(),
        LogFormat::Text => {
            let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            builder.with_target(false).with_ansi(colour).init();
        }
    }
}
