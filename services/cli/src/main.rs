//! The `pleat` command: the one binary. `dev` and `serve` run the platform, everything else is a client of it.
//!
//! Here is only the order of things: read the arguments, run one command, say what went wrong, choose the exit
//! code. No command is implemented here.

mod arguments;
mod child;
mod client;
mod commands;
mod compiler_sandbox;
mod config;
mod dev;
mod dev_file;
mod doctor;
mod embedded;
mod file_limit;
mod logging;
mod node;
mod node_args;
mod output;
mod ownership;
mod package;
mod problem;
mod progress;
mod report;
mod serve;
mod signals;
mod sse;
mod target;
mod telemetry;
mod wire;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::commands::Context;
use crate::config::Config;
use crate::output::Output;

/// A call allocates a few dozen small things on one thread and frees them on another; this allocator was measured to
/// carry a fifth more calls than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // The child that compiles untrusted code limits its own memory first: nothing may be started before it.
    if matches!(arguments.command, Command::Compile) {
        return pleat_runtime::compile_child_main();
    }
    let output = Output::new(arguments.globals.json, arguments.globals.quiet);
    match start(arguments, &output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report::report(&error, &output),
    }
}

fn start(arguments: Arguments, output: &Output) -> anyhow::Result<()> {
    let Arguments { globals, command } = arguments;
    let config = match command.node_args() {
        Some(args) => Some(Config::load(args, globals.data_dir.as_ref())?),
        None => None,
    };
    let runtime = runtime(&command)?;
    let telemetry = match &config {
        Some(config) if command.serves() => telemetry::start(&config.settings.tracing, runtime.handle().clone())?,
        _ => None,
    };
    let (spans, telemetry) = telemetry.unzip();
    // What only looks at a configuration is as quiet as a client.
    logging::start(config.as_ref().filter(|_| command.serves()).map(|config| &config.settings), spans)?;
    let done = runtime.block_on(Box::pin(async {
        match (command, config) {
            (Command::Dev(args), Some(config)) => dev::run(&args, &config, output).await,
            (Command::Serve(_), Some(config)) => serve::run(&config).await,
            (Command::Doctor(_), Some(config)) => doctor::run(&config, output).await,
            (Command::OperatorKeys(_), Some(config)) => commands::operator_keys::recover(&config, output).await,
            (Command::Config(args), Some(config)) => config::show::run(&args, &config, output),
            (client, _) => commands::run(&client, &Context { globals: &globals, output }).await,
        }
    }));
    if let Some(telemetry) = telemetry {
        telemetry.stop();
    }
    done
}

/// A client waits for one thing at a time; starting more threads would only make it slower to start.
fn runtime(command: &Command) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = if command.serves() {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    builder.enable_all().build()
}
