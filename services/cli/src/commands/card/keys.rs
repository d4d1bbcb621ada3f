//! `pleat card keys`, `rotate` and `revoke`: the platform's keys for cards. They need the operator's key.

use anyhow::Result;
use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::Context;
use crate::output::{Table, moment};
use crate::target::Role;

/// List the keys that sign cards (operator)
#[derive(Args)]
#[command(after_help = "Examples:\n  pleat card keys")]
pub struct KeysArgs {}

/// Bring in a new key to sign cards with; the old ones stay published (operator)
#[derive(Args)]
#[command(after_help = "Examples:\n  pleat card rotate")]
pub struct RotateArgs {}

/// Revoke a key: what it signed is no longer good (operator)
#[derive(Args)]
#[command(after_help = "Examples:\n  pleat card revoke m5ZMFlmWKTRFUVHkOiAmpBXdDLfNzVSx8uoo8yfSAYk")]
pub struct RevokeArgs {
    /// Its id, as `pleat card keys` shows it
    #[arg(value_name = "ID")]
    id: String,
}

#[derive(Deserialize)]
struct Keys {
    keys: Vec<Key>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Key {
    id: String,
    created_at: String,
    signs: bool,
}

pub async fn list(context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Operator)?;
    show(client.get(client.control(&["card-keys"])).await?, context)
}

pub async fn rotate(context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Operator)?;
    let answer = client.post(client.control(&["card-keys"]), &json!({})).await?;
    context.output.note("the newest key signs in a few seconds, when every node has published it");
    show(answer, context)
}

pub async fn revoke(args: &RevokeArgs, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Operator)?;
    client.delete(client.control(&["card-keys", &args.id])).await?;
    if context.output.json() {
        return Ok(context.output.document(&json!({ "id": args.id, "revoked": true }))?);
    }
    context.output.note(&format!("revoked {}", args.id));
    Ok(())
}

fn show(answer: Value, context: &Context<'_>) -> Result<()> {
    context.show(answer, |Keys { keys }| {
        let mut table = Table::new(&["ID", "CREATED", "SIGNS"]);
        for key in keys {
            let signs = if key.signs { "yes" } else { "no" };
            table.row([key.id, moment(Some(&key.created_at)), signs.to_owned()]);
        }
        table.render()
    })
}
