//! `pleat pipeline deploy`: a file becomes a pipeline. What it contains is the server's to judge.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use serde::Deserialize;
use serde_json::Value;

use super::faults;
use crate::client::Client;
use crate::commands::{Context, parse};
use crate::problem::Problem;
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat pipeline deploy report.pipeline.yaml                as a draft
  pleat pipeline deploy report.pipeline.yaml --activate     as a skill that others can call
  pleat pipeline deploy report.pipeline.json --check        only look for faults

A new version of an active pipeline is active at once.";

/// Deploy a pipeline from a YAML or JSON file
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct DeployArgs {
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Make it a skill that others can call, at once
    #[arg(long)]
    activate: bool,
    /// Only look whether it could be deployed
    #[arg(long, conflicts_with = "activate")]
    check: bool,
    /// Anybody may call it, without a key
    #[arg(long, conflicts_with = "unlisted")]
    public: bool,
    /// Keep it off the card and every public list
    #[arg(long)]
    unlisted: bool,
}

#[derive(Deserialize)]
pub struct Deployed {
    pub name: String,
    pub version: i64,
    pub created: bool,
    pub state: String,
    pub url: String,
    #[serde(default)]
    warnings: Vec<Warning>,
    #[serde(default)]
    pub strained: Vec<String>,
}

#[derive(Deserialize)]
struct Checked {
    name: String,
    #[serde(default)]
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
struct Warning {
    line: u32,
    column: u32,
    message: String,
    hint: String,
}

pub async fn run(args: &DeployArgs, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let mut wishes = Vec::new();
    wishes.extend(args.activate.then_some(("activate", "true")));
    wishes.extend(args.check.then_some(("check", "true")));
    wishes.extend(args.public.then_some(("visibility", "public")));
    wishes.extend(args.unlisted.then_some(("visibility", "unlisted")));
    let answer = upload(&args.file, &client, &wishes).await?;
    if context.output.json() {
        return Ok(context.output.document(&answer)?);
    }
    if args.check {
        let Checked { name, warnings } = parse(answer)?;
        warn(&args.file, &warnings, context);
        return Ok(context.output.line(&format!("{name} has no faults"))?);
    }
    let deployed: Deployed = parse(answer)?;
    warn(&args.file, &deployed.warnings, context);
    crate::commands::deploy::warn(&deployed.strained, context.output);
    context.output.note(if deployed.created { "deployed" } else { "unchanged" });
    context.output.line(&format!("{} v{} {} {}", deployed.name, deployed.version, deployed.state, deployed.url))?;
    let name = deployed.name;
    context.output.note(&match deployed.state.as_str() {
        "draft" => format!("try it: pleat pipeline run {name}; then: pleat pipeline activate {name}"),
        _ => format!("try it: pleat call pipeline:{name}"),
    });
    Ok(())
}

/// Sends a file with these parameters. The answer is the server's.
pub async fn upload(file: &Path, client: &Client, wishes: &[(&str, &str)]) -> Result<Value> {
    let unreadable = |source| Problem::Unreadable { path: file.to_owned(), source };
    let text = std::fs::read_to_string(file).map_err(unreadable)?;
    let mut url = client.in_tenant(&["pipelines"]).await?;
    url.query_pairs_mut().extend_pairs(wishes);
    let kind = if file.extension().is_some_and(|end| end == "json") { "application/json" } else { "application/yaml" };
    let request = client.request(Method::POST, url).header(CONTENT_TYPE, kind).body(text.clone());
    faults::answer(client, request, &format!("`{}`", file.display()), Some(&text)).await
}

fn warn(file: &Path, warnings: &[Warning], context: &Context<'_>) {
    for Warning { line, column, message, hint } in warnings {
        context.output.note(&format!("{}:{line}:{column}: warning: {message}; {hint}", file.display()));
    }
}
