//! `pleat tasks`: every call is a task; here they are listed, looked at and stopped. Following one is `watch`.

mod trace;
mod view;
mod watch;

use anyhow::Result;
use clap::{Args, Subcommand};
use pleat_domain::{SkillName, TaskId, TaskState, timestamp};
use serde::Deserialize;
use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::arguments::any_skill;
use crate::commands::{Context, parse};
use crate::output::{Table, moment};
use crate::target::Role;

pub use view::TaskView;

const EXAMPLES: &str = "\
Examples:
  pleat tasks list --state working
  pleat tasks get task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70
  pleat tasks watch task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70
  pleat tasks trace task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70
  pleat tasks cancel task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70";

/// List, show, watch, trace and cancel tasks
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct TasksArgs {
    #[command(subcommand)]
    command: TasksCommand,
}

#[derive(Subcommand)]
enum TasksCommand {
    List(ListArgs),
    /// Show one task with its input and result
    #[command(after_help = "Examples:\n  pleat tasks get task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70")]
    Get {
        #[arg(value_name = "ID")]
        id: TaskId,
    },
    /// Follow a task from its beginning to its end
    #[command(after_help = "Examples:\n  pleat tasks watch task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70 --json")]
    Watch {
        #[arg(value_name = "ID")]
        id: TaskId,
    },
    /// Show a task with the calls that its function has made, or a run with its steps
    #[command(after_help = "Examples:\n  pleat tasks trace task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70")]
    Trace {
        #[arg(value_name = "ID")]
        id: TaskId,
    },
    /// Stop a task, and the calls it has made
    #[command(after_help = "Examples:\n  pleat tasks cancel task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70")]
    Cancel {
        #[arg(value_name = "ID")]
        id: TaskId,
    },
}

/// List tasks, the latest first
#[derive(Args)]
#[command(after_help = "Examples:\n  pleat tasks list --skill hello --state failed -n 5")]
struct ListArgs {
    /// Only of this function, or pipeline:NAME
    #[arg(long, value_name = "NAME", value_parser = any_skill)]
    skill: Option<SkillName>,
    /// Only in this state
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Option<TaskState>,
    /// Only of this conversation
    #[arg(long, value_name = "ID")]
    context: Option<String>,
    /// Only of this caller, as `pleat tasks get` shows it
    #[arg(long, value_name = "CALLER")]
    caller: Option<String>,
    /// Only those that changed then or later: a time, or how long ago (`90s`, `15m`, `2h`)
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<String>,
    /// How many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
    /// Go on where an earlier list ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    pub tasks: Vec<TaskView>,
    pub next_cursor: Option<String>,
}

pub async fn run(args: &TasksArgs, context: &Context<'_>) -> Result<()> {
    match &args.command {
        TasksCommand::List(filter) => list(filter, context).await,
        TasksCommand::Get { id } => get(*id, context).await,
        TasksCommand::Watch { id } => watch::run(*id, context).await,
        TasksCommand::Trace { id } => trace::run(*id, context).await,
        TasksCommand::Cancel { id } => cancel(*id, context).await,
    }
}

async fn list(filter: &ListArgs, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let mut url = client.in_tenant(&["tasks"]).await?;
    let pairs = [
        ("skill", filter.skill.as_ref().map(ToString::to_string)),
        ("state", filter.state.map(|state| state.as_str().to_owned())),
        ("context", filter.context.clone()),
        ("caller", filter.caller.clone()),
        ("since", filter.since.clone()),
        ("limit", Some(filter.limit.to_string())),
        ("cursor", filter.cursor.clone()),
    ];
    let pairs = pairs.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)));
    url.query_pairs_mut().extend_pairs(pairs);
    let answer = client.get(url).await?;
    context.show(answer, |Page { tasks, next_cursor }| {
        if tasks.is_empty() {
            context.output.note("no tasks; they are kept for a day");
            return String::new();
        }
        if let Some(cursor) = next_cursor {
            context.output.note(&format!("there are more: --cursor {cursor}"));
        }
        let mut table = Table::new(&["ID", "SKILL", "STATE", "DOOR", "CALLER", "CREATED", "TOOK"]);
        for task in tasks {
            let took = task.took();
            let skill = task.skill_and_version();
            let created = moment(task.created_at.as_deref());
            table.row([task.id, skill, task.state, task.door, task.caller, created, took]);
        }
        table.render()
    })
}

async fn get(id: TaskId, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let answer = client.get(client.in_tenant(&["tasks", &id.to_string()]).await?).await?;
    context.show(answer, |task: TaskView| task.describe())
}

async fn cancel(id: TaskId, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let url = client.in_tenant(&["tasks", &id.to_string(), "cancel"]).await?;
    let answer = client.post(url, &json!({})).await?;
    if context.output.json() {
        return Ok(context.output.document(&answer)?);
    }
    let task: TaskView = parse(answer)?;
    Ok(context.output.line(&format!("{} {}", task.id, task.state))?)
}

/// For clap: a moment as the control API takes it.
pub fn since(text: &str) -> Result<String, String> {
    let moment = match ago(text) {
        Some(ago) => OffsetDateTime::now_utc() - ago,
        None => OffsetDateTime::parse(text, &Rfc3339)
            .map_err(|_| "write a time such as 2026-11-16T10:00:00Z, or how long ago: 90s, 15m, 2h".to_owned())?,
    };
    Ok(timestamp::format(moment))
}

fn ago(text: &str) -> Option<time::Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number = i64::from(number.parse::<u32>().ok()?);
    match unit {
        "s" => Some(time::Duration::seconds(number)),
        "m" => Some(time::Duration::minutes(number)),
        "h" => Some(time::Duration::hours(number)),
        _ => None,
    }
}

/// For clap.
pub fn state(text: &str) -> Result<TaskState, String> {
    let found = TaskState::ALL.into_iter().find(|state| state.as_str() == text);
    let names: Vec<&str> = TaskState::ALL.into_iter().map(TaskState::as_str).collect();
    found.ok_or_else(|| format!("states are {}", names.join(", ")))
}
