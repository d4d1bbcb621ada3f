//! `pleat card`: the agent card that the tenant publishes, the check of anybody's card, and the keys that sign ours.

mod interfaces;
mod keys;
mod verify;

use anyhow::Result;
use clap::{Args, Subcommand};
use reqwest::Method;

use crate::commands::Context;
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat card
  pleat card --json | jq -r '.skills[].id'
  pleat card verify https://agent.example.com";

/// Print the tenant's agent card; check a card; manage the keys that sign cards
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CardArgs {
    #[command(subcommand)]
    command: Option<CardCommand>,
}

#[derive(Subcommand)]
enum CardCommand {
    Verify(verify::VerifyArgs),
    Keys(keys::KeysArgs),
    Rotate(keys::RotateArgs),
    Revoke(keys::RevokeArgs),
}

pub async fn run(args: &CardArgs, context: &Context<'_>) -> Result<()> {
    match &args.command {
        None => show(context).await,
        Some(CardCommand::Verify(args)) => verify::run(args, context).await,
        Some(CardCommand::Keys(_)) => keys::list(context).await,
        Some(CardCommand::Rotate(_)) => keys::rotate(context).await,
        Some(CardCommand::Revoke(args)) => keys::revoke(args, context).await,
    }
}

async fn show(context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Caller)?;
    let url = client.door(&[".well-known", "agent-card.json"]).await?;
    context.output.note(url.as_str());
    let card = client.answer(client.request(Method::GET, url)).await?;
    if context.output.json() {
        context.output.document(&card)?;
    } else {
        context.output.line(&format!("{card:#}"))?;
    }
    Ok(())
}
