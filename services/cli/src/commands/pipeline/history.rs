//! `pleat pipeline runs` and `replay`: what has run, and running the end of it again.

use anyhow::Result;
use clap::Args;
use pleat_domain::{SkillName, TaskId, TaskState};
use serde_json::json;

use crate::arguments::skill_name;
use crate::commands::tasks::{Page, TaskView, since, state};
use crate::commands::{Context, parse};
use crate::output::{Table, moment};
use crate::target::Role;

/// List the runs of a pipeline, the latest first
#[derive(Args)]
#[command(
    after_help = "Examples:\n  pleat pipeline runs report\n  pleat pipeline runs report --state failed --since 2h"
)]
pub struct RunsArgs {
    #[arg(value_name = "NAME", value_parser = skill_name)]
    name: SkillName,
    /// Only in this state
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Option<TaskState>,
    /// Only of this caller, as `pleat tasks get` shows it
    #[arg(long, value_name = "CALLER")]
    caller: Option<String>,
    /// Only those that changed then or later: a time, or how long ago (`90s`, `15m`, `2h`)
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<String>,
    /// Also those that were steps of other runs
    #[arg(long)]
    steps: bool,
    /// How many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
    /// Go on where an earlier list ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// Run the end of a finished run again, from a step on
#[derive(Args)]
#[command(
    after_help = "Examples:\n  pleat pipeline replay task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70 --from summarize\n\nWhat came before the step is taken over as it was, with the versions that the run had."
)]
pub struct ReplayArgs {
    #[arg(value_name = "ID")]
    id: TaskId,
    /// The step from which everything is called again
    #[arg(long, value_name = "STEP")]
    from: String,
}

pub async fn runs(args: &RunsArgs, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let mut url = client.in_tenant(&["pipelines", args.name.as_str(), "runs"]).await?;
    let pairs = [
        ("state", args.state.map(|state| state.as_str().to_owned())),
        ("caller", args.caller.clone()),
        ("since", args.since.clone()),
        ("steps", args.steps.then(|| "true".to_owned())),
        ("limit", Some(args.limit.to_string())),
        ("cursor", args.cursor.clone()),
    ];
    let pairs = pairs.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)));
    url.query_pairs_mut().extend_pairs(pairs);
    context.show(client.get(url).await?, |Page { tasks, next_cursor }| {
        if tasks.is_empty() {
            context.output.note("no runs; they are kept for a day");
            return String::new();
        }
        if let Some(cursor) = next_cursor {
            context.output.note(&format!("there are more: --cursor {cursor}"));
        }
        let mut table = Table::new(&["ID", "VERSION", "STATE", "CALLER", "CREATED", "TOOK", "FAILURE"]);
        for run in tasks {
            let (created, took) = (moment(run.created_at.as_deref()), run.took());
            let version = run.version.map(|version| format!("v{version}")).unwrap_or_default();
            let failure = run.failure.map_or_else(|| "-".to_owned(), |failure| failure.message);
            table.row([run.id, version, run.state, run.caller, created, took, crate::output::excerpt(&failure, 60)]);
        }
        table.render()
    })
}

pub async fn replay(args: &ReplayArgs, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let url = client.in_tenant(&["tasks", &args.id.to_string(), "replay"]).await?;
    let answer = client.post(url, &json!({ "from": args.from })).await?;
    if context.output.json() {
        return Ok(context.output.document(&answer)?);
    }
    let task: TaskView = parse(answer)?;
    context.output.note(&format!("it runs; `pleat tasks watch {}` follows it", task.id));
    Ok(context.output.line(&task.id)?)
}
