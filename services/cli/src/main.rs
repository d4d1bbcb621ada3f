//! The `pleat` command: the one binary. `dev` and `serve` run the platform, everything else is a client of it.
//!
//! Here is only the order of things: read the arguments, run one command, say what went wrong, choose the exit
//! code. No command is implemented here.

mod arguments;
mod client;
mod commands;
mod dev;
mod dev_file;
mod logging;
mod node;
mod output;
mod problem;
mod progress;
mod report;
mod serve;
mod signals;
mod sse;
mod target;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::commands::Context;
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
    logging::start(&command);
    let runtime = runtime(&command)?;
    let data_dir = globals.data_dir();
    runtime.block_on(Box::pin(async {
        match command {
            Command::Dev(args) => dev::run(args, data_dir).await,
            Command::Serve(args) => serve::run(args, data_dir).await,
            client => commands::run(&client, &Context { globals: &globals, output }).await,
        }
    }))
}

/// A client waits for one thing at a time; starting more threads would only make it slower to start.
fn runtime(command: &Command) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = match command {
        Command::Dev(_) | Command::Serve(_) => tokio::runtime::Builder::new_multi_thread(),
        _ => tokio::runtime::Builder::new_current_thread(),
    };
    builder.enable_all().build()
}
