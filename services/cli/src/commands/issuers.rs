//! `pleat issuers`: whose tokens a tenant takes, beside its own keys.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use pleat_domain::Scope;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::commands::limits::LimitArgs;
use crate::commands::{Context, parse};
use crate::output::{Table, moment};
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat issuers add https://id.example.com --jwks-url https://id.example.com/.well-known/jwks.json --scopes invoke
  pleat issuers add my-backend --jwks keys.json --audience my-agent --scopes invoke,read
  pleat issuers list
  pleat issuers rotate 3f9a1c0b7d22 --jwks new-keys.json
  pleat issuers rm 3f9a1c0b7d22";

/// Register, list and remove issuers of tokens (JWT)
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct IssuersArgs {
    #[command(subcommand)]
    command: IssuersCommand,
}

#[derive(Subcommand)]
enum IssuersCommand {
    /// Register an issuer, with its public keys or the URL that serves them
    #[command(
        after_help = "Examples:\n  pleat issuers add my-backend --jwks keys.json --scopes invoke\n  pleat issuers add my-backend --jwks keys.json --rate 60 --cpu-per-day 60000   of each subject"
    )]
    Add {
        /// The issuer as its tokens name it in `iss`
        #[arg(value_name = "ISSUER")]
        issuer: String,
        /// A file with its public keys, as a JSON Web Key Set
        #[arg(long, value_name = "FILE", required_unless_present = "jwks_url")]
        jwks: Option<PathBuf>,
        /// The URL at which it serves its public keys
        #[arg(long, value_name = "URL", conflicts_with = "jwks")]
        jwks_url: Option<String>,
        /// What its tokens may name in `aud`; may be repeated [default: the tenant's own URLs]
        #[arg(long = "audience", value_name = "TEXT")]
        audiences: Vec<String>,
        /// The most that its tokens may do: invoke, read, deploy, admin
        #[arg(long, alias = "scope", value_name = "SCOPE,…", value_delimiter = ',', default_value = "invoke")]
        scopes: Vec<Scope>,
        /// What each subject of its tokens may use
        #[command(flatten)]
        limits: LimitArgs,
    },
    /// List the issuers
    #[command(after_help = "Examples:\n  pleat issuers list")]
    List,
    /// Give an issuer new keys in place of the old
    #[command(after_help = "Examples:\n  pleat issuers rotate 3f9a1c0b7d22 --jwks new-keys.json")]
    Rotate {
        /// Its id, as `pleat issuers list` shows it
        #[arg(value_name = "ID")]
        id: String,
        /// A file with its public keys, as a JSON Web Key Set
        #[arg(long, value_name = "FILE")]
        jwks: PathBuf,
    },
    /// Remove an issuer; its tokens end at once
    #[command(after_help = "Examples:\n  pleat issuers rm 3f9a1c0b7d22")]
    Rm {
        /// Its id, as `pleat issuers list` shows it
        #[arg(value_name = "ID")]
        id: String,
    },
}

#[derive(Deserialize)]
struct Issuers {
    issuers: Vec<Issuer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Issuer {
    id: String,
    issuer: String,
    audiences: Vec<String>,
    jwks_url: Option<String>,
    scopes: Vec<String>,
    created_at: String,
}

pub async fn run(args: &IssuersArgs, context: &Context<'_>) -> Result<()> {
    match &args.command {
        IssuersCommand::Add { issuer, jwks, jwks_url, audiences, scopes, limits } => {
            let mut body = Map::new();
            body.insert("issuer".to_owned(), json!(issuer));
            body.insert("audiences".to_owned(), json!(audiences));
            body.insert("scopes".to_owned(), json!(scopes));
            if let Some(path) = jwks {
                body.insert("jwks".to_owned(), read(path)?);
            }
            if let Some(url) = jwks_url {
                body.insert("jwksUrl".to_owned(), json!(url));
            }
            limits.put(&mut body);
            add(&Value::Object(body), context).await
        }
        IssuersCommand::List => list(context).await,
        IssuersCommand::Rotate { id, jwks } => rotate(id, &read(jwks)?, context).await,
        IssuersCommand::Rm { id } => remove(id, context).await,
    }
}

async fn add(body: &Value, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Admin)?;
    let answer = client.post(client.in_tenant(&["issuers"]).await?, body).await?;
    if context.output.json() {
        return Ok(context.output.document(&answer)?);
    }
    let made: Issuer = parse(answer)?;
    context.output.note(&format!("tokens of {} are taken, for at most: {}", made.issuer, made.scopes.join(", ")));
    Ok(context.output.line(&made.id)?)
}

async fn list(context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Admin)?;
    let answer = client.get(client.in_tenant(&["issuers"]).await?).await?;
    context.show(answer, |Issuers { issuers }| {
        let mut table = Table::new(&["ID", "ISSUER", "KEYS", "AUDIENCES", "SCOPES", "CREATED"]);
        for issuer in issuers {
            let audiences = match issuer.audiences.is_empty() {
                true => "the tenant's URLs".to_owned(),
                false => issuer.audiences.join(","),
            };
            table.row([
                issuer.id,
                issuer.issuer,
                issuer.jwks_url.unwrap_or_else(|| "given".to_owned()),
                audiences,
                issuer.scopes.join(","),
                moment(Some(&issuer.created_at)),
            ]);
        }
        table.render()
    })
}

async fn rotate(id: &str, jwks: &Value, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Admin)?;
    let url = client.in_tenant(&["issuers", id, "jwks"]).await?;
    client.answer(client.request(Method::PUT, url).json(&json!({ "jwks": jwks }))).await?;
    done(context, &json!({ "id": id, "rotated": true }), &format!("{id} has new keys"))
}

async fn remove(id: &str, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Admin)?;
    client.delete(client.in_tenant(&["issuers", id]).await?).await?;
    done(context, &json!({ "id": id, "removed": true }), &format!("removed {id}"))
}

fn done(context: &Context<'_>, document: &Value, note: &str) -> Result<()> {
    if context.output.json() {
        return Ok(context.output.document(document)?);
    }
    context.output.note(note);
    Ok(())
}

fn read(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("`{}` is not JSON", path.display()))
}
