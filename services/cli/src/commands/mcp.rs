//! `pleat mcp`: for clients of the Model Context Protocol that cannot reach a server by themselves.

mod again;
mod learn;
mod line;
mod questions;
mod relay;
mod stdio;
mod wire;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::commands::Context;

const EXAMPLES: &str = "\
Examples:
  pleat mcp stdio                        the tools of the tenant, for a client that starts a program
  pleat mcp stdio --operators            the platform itself: deploy, list, roll back

In a client's configuration:
  { \"mcpServers\": { \"demo\": { \"command\": \"pleat\", \"args\": [\"mcp\", \"stdio\"] } } }";

/// Bridge a client that only speaks over stdin and stdout
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct McpArgs {
    #[command(subcommand)]
    command: McpCommand,
}

#[derive(Subcommand)]
enum McpCommand {
    /// Pass messages between stdin, stdout and the server, until stdin ends
    #[command(after_help = EXAMPLES)]
    Stdio {
        /// The operators' door in place of the tenant's functions
        #[arg(long)]
        operators: bool,
    },
}

pub async fn run(args: &McpArgs, context: &Context<'_>) -> Result<()> {
    match args.command {
        McpCommand::Stdio { operators } => stdio::run(operators, context).await,
    }
}
