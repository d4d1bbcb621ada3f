//! `pleat pipeline graph` and `explain`: a pipeline for people, deployed or in a file.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use pleat_domain::SkillName;
use pleat_pipelines::Definition;
use reqwest::Method;
use serde_json::json;

use super::faults;
use crate::arguments::skill_name;
use crate::client::checked;
use crate::commands::Context;
use crate::problem::Problem;
use crate::target::Role;

/// Draw a pipeline
#[derive(Args)]
#[command(
    after_help = "Examples:\n  pleat pipeline graph report\n  pleat pipeline graph -f report.pipeline.yaml --mermaid"
)]
pub struct GraphArgs {
    #[command(flatten)]
    which: Which,
    /// As a Mermaid flowchart
    #[arg(long)]
    mermaid: bool,
}

/// Tell what each step of a pipeline receives from where, and when it runs
#[derive(Args)]
#[command(after_help = "Examples:\n  pleat pipeline explain report\n  pleat pipeline explain -f report.pipeline.yaml")]
pub struct ExplainArgs {
    #[command(flatten)]
    which: Which,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// One that is deployed
    #[arg(value_name = "NAME", value_parser = skill_name)]
    name: Option<SkillName>,
    /// One in a file; no server is asked
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
}

pub async fn graph(args: &GraphArgs, context: &Context<'_>) -> Result<()> {
    let text = match &args.which.file {
        Some(file) if args.mermaid => pleat_pipelines::graph::mermaid(&definition(file)?),
        Some(file) => pleat_pipelines::graph::text(&definition(file)?),
        None => ask(&args.which, "graph", if args.mermaid { "mermaid" } else { "text" }, context).await?,
    };
    print("graph", &text, context)
}

pub async fn explain(args: &ExplainArgs, context: &Context<'_>) -> Result<()> {
    let text = match &args.which.file {
        Some(file) => pleat_pipelines::explain(&definition(file)?),
        None => ask(&args.which, "explain", "", context).await?,
    };
    print("explanation", &text, context)
}

fn definition(file: &Path) -> Result<Definition> {
    let unreadable = |source| Problem::Unreadable { path: file.to_owned(), source };
    let text = std::fs::read_to_string(file).map_err(unreadable)?;
    let name = format!("`{}`", file.display());
    Ok(pleat_pipelines::parse(&text).map_err(|faults| faults::found(&name, &text, &faults))?)
}

async fn ask(which: &Which, what: &str, format: &str, context: &Context<'_>) -> Result<String> {
    let client = context.connect(Role::Deployer)?;
    let name = which.name.as_ref().map(SkillName::as_str).unwrap_or_default();
    let mut url = client.in_tenant(&["pipelines", name, what]).await?;
    if !format.is_empty() {
        url.query_pairs_mut().append_pair("format", format);
    }
    checked(client.send(client.request(Method::GET, url)).await?).await
}

fn print(name: &str, text: &str, context: &Context<'_>) -> Result<()> {
    match context.output.json() {
        true => Ok(context.output.document(&json!({ name: text }))?),
        false => Ok(context.output.line(text.trim_end())?),
    }
}
