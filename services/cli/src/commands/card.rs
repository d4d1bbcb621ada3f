//! `pleat card`: the agent card that the tenant publishes.

use anyhow::Result;
use clap::Args;
use reqwest::Method;

use crate::commands::Context;
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat card
  pleat card --json | jq -r '.skills[].id'";

/// Print the tenant's agent card
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CardArgs {}

pub async fn run(context: &Context<'_>) -> Result<()> {
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
