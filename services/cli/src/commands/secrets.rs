//! `pleat secrets`: what functions may read by name and nobody can read back.

mod dotenv;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use pleat_domain::SettingName;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::setting_name;
use crate::client::Client;
use crate::commands::Context;
use crate::commands::value::{self, ValueArgs};
use crate::output::{Table, moment};
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  echo \"$API_KEY\" | pleat secrets set API_KEY
  pleat secrets set TLS_KEY --from-file key.pem
  pleat secrets import .env
  pleat secrets list
  pleat secrets rm API_KEY

A function reads a secret if its manifest asks for it and it was deployed with --grant secret:NAME.
A new value counts from the next call on; nothing has to be deployed again.";

/// Set, list and remove secrets of the tenant
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct SecretsArgs {
    #[command(subcommand)]
    command: SecretsCommand,
}

#[derive(Subcommand)]
enum SecretsCommand {
    /// Set a secret; without a value it is read from stdin
    #[command(
        after_help = "Examples:\n  echo \"$API_KEY\" | pleat secrets set API_KEY\n  pleat secrets set TLS_KEY --from-file key.pem"
    )]
    Set {
        #[arg(value_name = "NAME", value_parser = setting_name)]
        name: SettingName,
        #[command(flatten)]
        value: ValueArgs,
    },
    /// List the secrets by name; values are never shown
    #[command(after_help = "Examples:\n  pleat secrets list")]
    List,
    /// Remove a secret, at once
    #[command(after_help = "Examples:\n  pleat secrets rm API_KEY")]
    Rm {
        #[arg(value_name = "NAME", value_parser = setting_name)]
        name: SettingName,
    },
    /// Set all secrets of a file of NAME=VALUE lines
    #[command(after_help = "Examples:\n  pleat secrets import .env")]
    Import {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Deserialize)]
struct Secrets {
    secrets: Vec<Secret>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Secret {
    name: String,
    length: i64,
    updated_at: Option<String>,
    updated_by: String,
}

pub async fn run(args: &SecretsArgs, context: &Context<'_>) -> Result<()> {
    match &args.command {
        SecretsCommand::Set { name, value } => {
            let client = context.connect(Role::Deployer)?;
            set(name, &value.read(name.as_str())?, &client).await?;
            said(&[name], "set", context)
        }
        SecretsCommand::List => list(context).await,
        SecretsCommand::Rm { name } => {
            let client = context.connect(Role::Deployer)?;
            client.delete(client.in_tenant(&["secrets", name.as_str()]).await?).await?;
            said(&[name], "removed", context)
        }
        SecretsCommand::Import { file } => {
            // All of the file is read before any of it is sent.
            let pairs = dotenv::parse(&value::file(file)?).with_context(|| format!("in `{}`", file.display()))?;
            let client = context.connect(Role::Deployer)?;
            for (name, value) in &pairs {
                set(name, value, &client).await.with_context(|| format!("could not set `{name}`"))?;
            }
            let names: Vec<&SettingName> = pairs.iter().map(|(name, _)| name).collect();
            said(&names, "set", context)
        }
    }
}

async fn set(name: &SettingName, value: &str, client: &Client) -> Result<()> {
    let url = client.in_tenant(&["secrets", name.as_str()]).await?;
    client.put(url, &json!({ "value": value })).await.map(drop)
}

async fn list(context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let answer = client.get(client.in_tenant(&["secrets"]).await?).await?;
    context.show(answer, |Secrets { secrets }| {
        if secrets.is_empty() {
            context.output.note("there are no secrets; `pleat secrets set NAME` is a start");
            return String::new();
        }
        let mut table = Table::new(&["NAME", "BYTES", "UPDATED", "BY"]);
        for secret in secrets {
            let updated = moment(secret.updated_at.as_deref());
            table.row([secret.name, secret.length.to_string(), updated, secret.updated_by]);
        }
        table.render()
    })
}

/// What happened, by name.
fn said(names: &[&SettingName], what: &str, context: &Context<'_>) -> Result<()> {
    for name in names {
        if context.output.json() {
            context.output.row(&json!({ "name": name.as_str(), what: true }))?;
        } else {
            context.output.note(&format!("{what} {name}"));
        }
    }
    Ok(())
}
