//! `pleat keys`: who may do what in a tenant. A new key is printed once and kept nowhere.

use anyhow::Result;
use clap::{Args, Subcommand};
use pleat_domain::{Scope, timestamp};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use time::{Duration, OffsetDateTime};

use crate::commands::limits::LimitArgs;
use crate::commands::{Context, parse};
use crate::output::{Table, moment};
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat keys create --scopes invoke --label frontend
  export PLEAT_KEY=$(pleat keys create --scopes deploy,invoke,read --expires 30d --quiet)
  pleat keys list
  pleat keys revoke h3K9x0Qz2L";

/// Create, list and revoke the tenant's keys
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct KeysArgs {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Subcommand)]
enum KeysCommand {
    /// Create a key; it is shown once, on stdout
    #[command(
        after_help = "Examples:\n  pleat keys create --scopes invoke --label frontend --expires 90d\n  pleat keys create --scopes invoke --rate 60 --concurrent 4\n  pleat keys create --scopes invoke --cpu-per-day 60000 --bytes-per-day 100000000"
    )]
    Create {
        /// What it may do: admin, deploy, invoke, read
        #[arg(long, alias = "scope", value_name = "SCOPE,…", value_delimiter = ',', required = true)]
        scopes: Vec<Scope>,
        /// What it is for
        #[arg(long, value_name = "TEXT", default_value = "")]
        label: String,
        /// When it ends: 12h, 30d, or a time such as 2027-01-01T00:00:00Z [default: never]
        #[arg(long, value_name = "WHEN", value_parser = expiry)]
        expires: Option<OffsetDateTime>,
        #[command(flatten)]
        limits: LimitArgs,
    },
    /// List the keys
    #[command(after_help = "Examples:\n  pleat keys list")]
    List,
    /// Revoke a key, at once
    #[command(after_help = "Examples:\n  pleat keys revoke h3K9x0Qz2L")]
    Revoke {
        /// Its id, as `pleat keys list` shows it
        #[arg(value_name = "ID", value_parser = key_id)]
        id: String,
        /// Also the last working admin key of the tenant
        #[arg(long)]
        force: bool,
    },
}

#[derive(Deserialize)]
pub(super) struct Created {
    pub(super) id: String,
    pub(super) key: String,
}

#[derive(Deserialize)]
struct Keys {
    keys: Vec<Key>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Key {
    id: String,
    scopes: Vec<String>,
    label: Option<String>,
    last_four: Option<String>,
    created_at: Option<String>,
    expires_at: Option<String>,
    revoked_at: Option<String>,
}

pub async fn run(args: &KeysArgs, context: &Context<'_>) -> Result<()> {
    match &args.command {
        KeysCommand::Create { scopes, label, expires, limits } => {
            let mut body = Map::new();
            body.insert("scopes".to_owned(), json!(scopes));
            body.insert("label".to_owned(), json!(label));
            body.insert("expiresAt".to_owned(), json!(expires.map(timestamp::format)));
            body.retain(|_, value| !value.is_null());
            limits.put(&mut body);
            create(body, context).await
        }
        KeysCommand::List => list(context).await,
        KeysCommand::Revoke { id, force } => revoke(id, *force, context).await,
    }
}

async fn create(body: Map<String, Value>, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Admin)?;
    let answer = client.post(client.in_tenant(&["keys"]).await?, &Value::Object(body)).await?;
    if context.output.json() {
        return Ok(context.output.document(&answer)?);
    }
    let Created { id, key } = parse(answer)?;
    context.output.note(&format!("key {id}, shown this once:"));
    Ok(context.output.line(&key)?)
}

async fn list(context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Admin)?;
    let answer = client.get(client.in_tenant(&["keys"]).await?).await?;
    show(answer, context)
}

pub(super) fn show(answer: Value, context: &Context<'_>) -> Result<()> {
    context.show(answer, |Keys { keys }| {
        let mut table = Table::new(&["ID", "ENDS IN", "SCOPES", "STATE", "CREATED", "EXPIRES", "LABEL"]);
        for key in keys {
            let state = if key.revoked_at.is_some() { "revoked" } else { "active" };
            let expires = key.expires_at.as_deref().map_or_else(|| "never".to_owned(), |at| moment(Some(at)));
            table.row([
                key.id,
                key.last_four.unwrap_or_else(|| "-".to_owned()),
                key.scopes.join(","),
                state.to_owned(),
                moment(key.created_at.as_deref()),
                expires,
                key.label.unwrap_or_default(),
            ]);
        }
        table.render()
    })
}

async fn revoke(id: &str, force: bool, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Admin)?;
    let mut url = client.in_tenant(&["keys", id]).await?;
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

/// For clap: an id, and not by mistake the key itself, which would end up in an access log.
pub(super) fn key_id(text: &str) -> Result<String, String> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if plain { Ok(text.to_owned()) } else { Err("give the id that `pleat keys list` shows, not the key".to_owned()) }
}

/// For clap: a span from now, or a moment.
pub(super) fn expiry(text: &str) -> Result<OffsetDateTime, String> {
    let wrong = || "say 12h, 30d or a time such as 2027-01-01T00:00:00Z".to_owned();
    let span = |digits: &str, seconds: i64| {
        let count: i64 = digits.parse().ok().filter(|count| (1..=100_000).contains(count))?;
        OffsetDateTime::now_utc().checked_add(Duration::seconds(count.checked_mul(seconds)?))
    };
    if let Some(days) = text.strip_suffix('d') {
        return span(days, 86_400).ok_or_else(wrong);
    }
    if let Some(hours) = text.strip_suffix('h') {
        return span(hours, 3_600).ok_or_else(wrong);
    }
    OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339).map_err(|_| wrong())
}
