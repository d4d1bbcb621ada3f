//! `pleat pipeline`: functions put together. Deployed from a file, run, looked at, drawn, activated and archived.

pub mod deploy;
mod draw;
mod faults;
mod history;
mod run;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use pleat_domain::SkillName;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::skill_name;
use crate::commands::{Context, parse};
use crate::output::{Table, excerpt, moment};
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat pipeline deploy report.pipeline.yaml --activate
  pleat pipeline run report '{\"topic\":\"rain\"}'
  pleat pipeline list --state active
  pleat pipeline graph -f report.pipeline.yaml      without a server
  pleat pipeline runs report --state failed
  pleat pipeline replay task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70 --from summarize

A pipeline is a draft until it is activated: it runs only with `pleat pipeline run`. An active one is the skill \
`pipeline:NAME` on the card, an MCP tool and an address; an archived one is refused everywhere.";

/// Deploy, run, show, draw, activate and archive pipelines
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PipelineArgs {
    #[command(subcommand)]
    command: PipelineCommand,
}

#[derive(Subcommand)]
enum PipelineCommand {
    Deploy(deploy::DeployArgs),
    Run(run::RunArgs),
    List(ListArgs),
    Show(ShowArgs),
    Graph(draw::GraphArgs),
    Explain(draw::ExplainArgs),
    /// Make a pipeline a skill that others can call
    #[command(after_help = "Examples:\n  pleat pipeline activate report")]
    Activate {
        #[arg(value_name = "NAME", value_parser = skill_name)]
        name: SkillName,
    },
    /// Refuse a pipeline everywhere from now on; runs that go on finish
    #[command(after_help = "Examples:\n  pleat pipeline archive report")]
    Archive {
        #[arg(value_name = "NAME", value_parser = skill_name)]
        name: SkillName,
    },
    Runs(history::RunsArgs),
    Replay(history::ReplayArgs),
}

/// List the pipelines
#[derive(Args)]
#[command(after_help = "Examples:\n  pleat pipeline list\n  pleat pipeline list --state draft --json")]
struct ListArgs {
    /// Only in this state
    #[arg(long, value_enum, value_name = "STATE")]
    state: Option<State>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum State {
    Draft,
    Active,
    Archived,
}

/// Show a pipeline as it was sent
#[derive(Args)]
#[command(after_help = "Examples:\n  pleat pipeline show report\n  pleat pipeline show report --version 2 --json")]
struct ShowArgs {
    #[arg(value_name = "NAME", value_parser = skill_name)]
    name: SkillName,
    /// A version [default: the one that runs]
    #[arg(long, value_name = "VERSION")]
    version: Option<u32>,
}

#[derive(Deserialize)]
struct Pipelines {
    pipelines: Vec<Pipeline>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pipeline {
    name: String,
    state: String,
    version: i64,
    visibility: String,
    #[serde(default)]
    description: String,
    updated_at: Option<String>,
    source: Option<String>,
}

pub async fn run(args: &PipelineArgs, context: &Context<'_>) -> Result<()> {
    match &args.command {
        PipelineCommand::Deploy(args) => deploy::run(args, context).await,
        PipelineCommand::Run(args) => run::run(args, context).await,
        PipelineCommand::List(args) => list(args, context).await,
        PipelineCommand::Show(args) => show(args, context).await,
        PipelineCommand::Graph(args) => draw::graph(args, context).await,
        PipelineCommand::Explain(args) => draw::explain(args, context).await,
        PipelineCommand::Activate { name } => change(name, "activate", context).await,
        PipelineCommand::Archive { name } => change(name, "archive", context).await,
        PipelineCommand::Runs(args) => history::runs(args, context).await,
        PipelineCommand::Replay(args) => history::replay(args, context).await,
    }
}

async fn list(args: &ListArgs, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let mut url = client.in_tenant(&["pipelines"]).await?;
    let state = args.state.and_then(|state| state.to_possible_value());
    if let Some(state) = state {
        url.query_pairs_mut().append_pair("state", state.get_name());
    }
    context.show(client.get(url).await?, |Pipelines { pipelines }| {
        if pipelines.is_empty() {
            context.output.note("there are none; `pleat pipeline deploy FILE` makes one");
            return String::new();
        }
        let mut table = Table::new(&["NAME", "STATE", "VERSION", "VISIBILITY", "UPDATED", "DESCRIPTION"]);
        for one in pipelines {
            let (version, updated) = (format!("v{}", one.version), moment(one.updated_at.as_deref()));
            let description = excerpt(&one.description, 60);
            table.row([one.name, one.state, version, one.visibility, updated, description]);
        }
        table.render()
    })
}

async fn show(args: &ShowArgs, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let mut url = client.in_tenant(&["pipelines", args.name.as_str()]).await?;
    if let Some(version) = args.version {
        url.query_pairs_mut().append_pair("version", &version.to_string());
    }
    context.show(client.get(url).await?, |one: Pipeline| {
        context.output.note(&format!("{} v{}, {}, {}", one.name, one.version, one.state, one.visibility));
        one.source.unwrap_or_default().trim_end().to_owned()
    })
}

async fn change(name: &SkillName, verb: &str, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let url = client.in_tenant(&["pipelines", name.as_str(), verb]).await?;
    let request = client.request(reqwest::Method::POST, url).json(&json!({}));
    let answer = faults::answer(&client, request, &format!("pipeline `{name}`"), None).await?;
    if context.output.json() {
        return Ok(context.output.document(&answer)?);
    }
    let one: Pipeline = parse(answer)?;
    Ok(context.output.line(&format!("{} v{} {}", one.name, one.version, one.state))?)
}
