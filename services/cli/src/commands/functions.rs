//! `pleat list`, `versions`, `rollback` and `delete`: what is deployed, and which version of it runs.

use anyhow::Result;
use clap::Args;
use pleat_domain::SkillName;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::skill_name;
use crate::commands::deploy::warn;
use crate::commands::{Context, parse};
use crate::output::{Table, excerpt, moment, size};
use crate::target::Role;

/// List the deployed functions
#[derive(Args)]
#[command(after_help = "Examples:\n  pleat list\n  pleat list --json | jq -r '.functions[].url'")]
pub struct ListArgs {}

/// List the versions of a function
#[derive(Args)]
#[command(after_help = "Examples:\n  pleat versions hello")]
pub struct VersionsArgs {
    #[arg(value_name = "NAME", value_parser = skill_name)]
    name: SkillName,
}

/// Let a function run an earlier version again, at once
#[derive(Args)]
#[command(
    after_help = "Examples:\n  pleat rollback hello              to the version before\n  pleat rollback hello --to 3"
)]
pub struct RollbackArgs {
    #[arg(value_name = "NAME", value_parser = skill_name)]
    name: SkillName,
    /// The version to run [default: the one before]
    #[arg(long, value_name = "VERSION", value_parser = version_number)]
    to: Option<u32>,
}

/// Delete a function with all its versions
#[derive(Args)]
#[command(after_help = "Examples:\n  pleat delete hello")]
pub struct DeleteArgs {
    #[arg(value_name = "NAME", value_parser = skill_name)]
    name: SkillName,
}

#[derive(Deserialize)]
struct Functions {
    functions: Vec<Function>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Function {
    name: String,
    version: i64,
    language: String,
    visibility: String,
    #[serde(default)]
    description: String,
    updated_at: Option<String>,
}

#[derive(Deserialize)]
struct Versions {
    versions: Vec<Version>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    version: i64,
    hash: String,
    language: String,
    file_name: Option<String>,
    size: usize,
    created_at: Option<String>,
    created_by: Option<String>,
    #[serde(default)]
    active: bool,
}

#[derive(Deserialize)]
struct RolledBack {
    name: String,
    version: i64,
    #[serde(default)]
    warnings: Vec<String>,
}

#[derive(Deserialize)]
struct Deleted {
    #[serde(default)]
    warnings: Vec<String>,
}

pub async fn list(context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let answer = client.get(client.in_tenant(&["functions"]).await?).await?;
    context.show(answer, |Functions { functions }| {
        if functions.is_empty() {
            context.output.note("nothing is deployed yet; `pleat deploy hello.js` is a start");
            return String::new();
        }
        let mut table = Table::new(&["NAME", "VERSION", "VISIBILITY", "LANGUAGE", "UPDATED", "DESCRIPTION"]);
        for function in functions {
            let updated = moment(function.updated_at.as_deref());
            let version = format!("v{}", function.version);
            let description = excerpt(&function.description, 60);
            table.row([function.name, version, function.visibility, function.language, updated, description]);
        }
        table.render()
    })
}

pub async fn versions(args: &VersionsArgs, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let answer = client.get(client.in_tenant(&["functions", args.name.as_str(), "versions"]).await?).await?;
    context.show(answer, |Versions { versions }| {
        let mut table = Table::new(&["VERSION", "STATE", "HASH", "LANGUAGE", "FILE", "SIZE", "CREATED", "BY"]);
        for version in versions {
            let state = if version.active { "active" } else { "-" };
            table.row([
                format!("v{}", version.version),
                state.to_owned(),
                version.hash.chars().take(12).collect(),
                version.language,
                version.file_name.unwrap_or_else(|| "-".to_owned()),
                size(version.size),
                moment(version.created_at.as_deref()),
                version.created_by.unwrap_or_else(|| "-".to_owned()),
            ]);
        }
        table.render()
    })
}

pub async fn rollback(args: &RollbackArgs, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let url = client.in_tenant(&["functions", args.name.as_str(), "rollback"]).await?;
    let body = args.to.map_or_else(|| json!({}), |version| json!({ "version": version }));
    let answer = client.post(url, &body).await?;
    if context.output.json() {
        return Ok(context.output.document(&answer)?);
    }
    let RolledBack { name, version, warnings } = parse(answer)?;
    warn(&warnings, context.output);
    context.output.note("new calls run it from now on; calls in flight finish on their version");
    Ok(context.output.line(&format!("{name} v{version}"))?)
}

pub async fn delete(args: &DeleteArgs, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let answer = client.delete(client.in_tenant(&["functions", args.name.as_str()]).await?).await?;
    // Where there is nothing to warn of there is no answer.
    let Deleted { warnings } = parse(answer).unwrap_or(Deleted { warnings: Vec::new() });
    if context.output.json() {
        let answer = match warnings.is_empty() {
            true => json!({ "name": args.name, "deleted": true }),
            false => json!({ "name": args.name, "deleted": true, "warnings": warnings }),
        };
        return Ok(context.output.document(&answer)?);
    }
    warn(&warnings, context.output);
    context.output.note(&format!("deleted {}", args.name));
    Ok(())
}

/// `3`, or `v3` as the tables show it.
fn version_number(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix('v').unwrap_or(text).parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "a version is a number such as 3 or v3; `pleat versions NAME` lists them".to_owned())
}
