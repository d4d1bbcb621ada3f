//! `pleat operator-keys`: who may operate the platform, and the way back for an operator who has lost all keys.

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use pleat_domain::timestamp;
use pleat_engine::recover_operator_key;
use pleat_store::{Store, master_key_check};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::commands::keys::{Created, expiry, key_id, show};
use crate::commands::{Context, parse};
use crate::config::Config;
use crate::node_args::NodeArgs;
use crate::output::Output;
use crate::problem::Problem;
use crate::serve::master_key;
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat operator-keys create --label ada --expires 90d
  pleat operator-keys list
  pleat operator-keys rotate h3K9x0Qz2L
  pleat operator-keys revoke h3K9x0Qz2L
  PLEAT_MASTER_KEY=… pleat operator-keys recover --database-url postgres://pleat@db/pleat";

/// Create, list, rotate and revoke the keys of operators
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct OperatorKeysArgs {
    #[command(subcommand)]
    pub command: OperatorKeysCommand,
}

#[derive(Subcommand)]
pub enum OperatorKeysCommand {
    /// Create an operator key; it is shown once, on stdout
    #[command(after_help = "Examples:\n  pleat operator-keys create --label ada --expires 90d")]
    Create {
        /// Whose it is, or what it is for
        #[arg(long, value_name = "TEXT", default_value = "")]
        label: String,
        /// When it ends: 12h, 30d, or a time such as 2027-01-01T00:00:00Z [default: never]
        #[arg(long, value_name = "WHEN", value_parser = expiry)]
        expires: Option<OffsetDateTime>,
    },
    /// List the operator keys
    #[command(after_help = "Examples:\n  pleat operator-keys list")]
    List,
    /// Replace an operator key by a new one, at once; the new one is shown once, on stdout
    #[command(after_help = "Examples:\n  pleat operator-keys rotate h3K9x0Qz2L")]
    Rotate {
        /// Its id, as `pleat operator-keys list` shows it
        #[arg(value_name = "ID", value_parser = key_id)]
        id: String,
    },
    /// Revoke an operator key, at once
    #[command(after_help = "Examples:\n  pleat operator-keys revoke h3K9x0Qz2L")]
    Revoke {
        /// Its id, as `pleat operator-keys list` shows it
        #[arg(value_name = "ID", value_parser = key_id)]
        id: String,
        /// Also the last working one
        #[arg(long)]
        force: bool,
    },
    /// Make an operator key with PLEAT_MASTER_KEY and access to the database alone, after all were lost
    #[command(
        after_help = "Examples:\n  PLEAT_MASTER_KEY=… pleat operator-keys recover --database-url postgres://pleat@db/pleat"
    )]
    Recover(Box<NodeArgs>),
}

pub async fn run(args: &OperatorKeysArgs, context: &Context<'_>) -> Result<()> {
    match &args.command {
        OperatorKeysCommand::Create { label, expires } => {
            let client = context.connect(Role::Operator)?;
            let wish = json!({ "label": label, "expiresAt": expires.map(timestamp::format) });
            made(client.post(client.control(&["operator-keys"]), &wish).await?, context)
        }
        OperatorKeysCommand::List => {
            let client = context.connect(Role::Operator)?;
            show(client.get(client.control(&["operator-keys"])).await?, context)
        }
        OperatorKeysCommand::Rotate { id } => {
            let client = context.connect(Role::Operator)?;
            let url = client.control(&["operator-keys", id, "rotate"]);
            made(client.post(url, &json!({})).await?, context)
        }
        OperatorKeysCommand::Revoke { id, force } => revoke(id, *force, context).await,
        // `main` runs it itself: it is about a node.
        OperatorKeysCommand::Recover(_) => Ok(()),
    }
}

async fn revoke(id: &str, force: bool, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Operator)?;
    let mut url = client.control(&["operator-keys", id]);
    if force {
        url.query_pairs_mut().append_pair("force", "true");
    }
    client.delete(url).await?;
    if context.output.json() {
        return Ok(context.output.document(&json!({ "id": id, "revoked": true }))?);
    }
    context.output.note(&format!("revoked {id}"));
    Ok(())
}

/// A key that was just made.
pub(super) fn made(answer: Value, context: &Context<'_>) -> Result<()> {
    if context.output.json() {
        return Ok(context.output.document(&answer)?);
    }
    let Created { id, key } = parse(answer)?;
    context.output.note(&format!("key {id}, shown this once:"));
    Ok(context.output.line(&key)?)
}

/// Whoever has the master key and the database may operate the platform anyway.
pub async fn recover(config: &Config, output: &Output) -> Result<()> {
    let settings = &config.settings;
    let Some(url) = &settings.database.url else {
        let hint = "pass --database-url, or set DATABASE_URL";
        return Err(Problem::usage("`operator-keys recover` needs the address of the database", hint).into());
    };
    let master = master_key()?;
    let sealed = master_key_check(url).await.context("the database could not be read")?;
    if !sealed.is_some_and(|sealed| master.opens_check(&sealed)) {
        let hint = "set PLEAT_MASTER_KEY to the key this installation was first started with";
        return Err(Problem::usage("the master key is not the one of this database", hint).into());
    }
    let store = Store::open(settings.store(url)).await.context("the store could not be opened")?;
    let made = recover_operator_key(&store, &master).await;
    store.close().await;
    let key = made?;
    output.note(&format!("operator key {}, shown this once:", key.id));
    Ok(output.line(&key.text)?)
}
