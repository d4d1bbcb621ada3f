//! `pleat push`: who is told of tasks, what became of each notification, and the key they are signed with.

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use pleat_domain::TaskId;
use reqwest::Url;
use serde::Deserialize;
use serde_json::json;

use crate::commands::Context;
use crate::output::{Table, moment};
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat push list --dead
  pleat push deliveries --task task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70
  pleat push retry task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70 my-hook
  pleat push key

Callers set up notifications over A2A, for their own tasks; docs/push.md says how, and how to check a signature.";

/// Look at push notifications, and send again what could not be delivered
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PushArgs {
    #[command(subcommand)]
    command: PushCommand,
}

#[derive(Subcommand)]
enum PushCommand {
    /// List who is told of tasks, the youngest configuration first
    #[command(after_help = "Examples:\n  pleat push list\n  pleat push list --dead")]
    List {
        #[command(flatten)]
        page: PageArgs,
        /// Only those that were given up
        #[arg(long)]
        dead: bool,
    },
    /// List what became of notifications, the latest attempt first
    #[command(after_help = "Examples:\n  pleat push deliveries --state retrying")]
    Deliveries {
        #[command(flatten)]
        page: PageArgs,
        /// Only in this state
        #[arg(long, value_name = "STATE")]
        state: Option<State>,
    },
    /// Go on where a receiver was given up, at once
    #[command(after_help = "Examples:\n  pleat push retry task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70 my-hook")]
    Retry {
        #[arg(value_name = "TASK")]
        task: TaskId,
        /// The configuration, as `pleat push list` has it
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Print the key that receivers check signatures with
    #[command(after_help = "Examples:\n  pleat push key")]
    Key,
}

#[derive(Args)]
struct PageArgs {
    /// Only of this task
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
    /// How many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
    /// Go on where an earlier list ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

impl PageArgs {
    fn ask(&self, url: &mut Url, state: Option<&str>) {
        let pairs = [
            ("task", self.task.map(|task| task.to_string())),
            ("state", state.map(str::to_owned)),
            ("limit", Some(self.limit.to_string())),
            ("cursor", self.cursor.clone()),
        ];
        let pairs = pairs.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)));
        url.query_pairs_mut().extend_pairs(pairs);
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum State {
    Delivered,
    Retrying,
    Dead,
}

impl State {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Retrying => "retrying",
            Self::Dead => "dead",
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pushes {
    pushes: Vec<Push>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Push {
    task: String,
    id: String,
    destination: String,
    dialect: String,
    state: String,
    attempts: u32,
    next_at: Option<String>,
    ended: Option<String>,
    created_at: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Deliveries {
    deliveries: Vec<Delivery>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Delivery {
    task: String,
    push: String,
    event: u32,
    destination: String,
    state: String,
    attempts: u32,
    status: Option<u16>,
    fault: Option<String>,
    at: Option<String>,
}

#[derive(Deserialize)]
struct Key {
    key: String,
}

pub async fn run(args: &PushArgs, context: &Context<'_>) -> Result<()> {
    match &args.command {
        PushCommand::List { page, dead } => list(page, *dead, context).await,
        PushCommand::Deliveries { page, state } => deliveries(page, *state, context).await,
        PushCommand::Retry { task, id } => retry(*task, id, context).await,
        PushCommand::Key => {
            let client = context.connect(Role::Deployer)?;
            let answer = client.get(client.in_tenant(&["push-key"]).await?).await?;
            context.show(answer, |Key { key }| key)
        }
    }
}

async fn list(page: &PageArgs, dead: bool, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let mut url = client.in_tenant(&["pushes"]).await?;
    page.ask(&mut url, dead.then_some("dead"));
    let answer = client.get(url).await?;
    context.show(answer, |Pushes { pushes, next_cursor }| {
        if pushes.is_empty() {
            context.output.note("nobody is told of any task");
            return String::new();
        }
        more(next_cursor, context);
        let mut table =
            Table::new(&["TASK", "ID", "TO", "DIALECT", "STATE", "FAILED", "NEXT", "CREATED", "ENDED BECAUSE"]);
        for push in pushes {
            let (next, created) = (moment(push.next_at.as_deref()), moment(push.created_at.as_deref()));
            let failed = push.attempts.to_string();
            let why = push.ended.unwrap_or_default();
            table.row([push.task, push.id, push.destination, push.dialect, push.state, failed, next, created, why]);
        }
        table.render()
    })
}

async fn deliveries(page: &PageArgs, state: Option<State>, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let mut url = client.in_tenant(&["deliveries"]).await?;
    page.ask(&mut url, state.map(State::as_str));
    let answer = client.get(url).await?;
    context.show(answer, |Deliveries { deliveries, next_cursor }| {
        if deliveries.is_empty() {
            context.output.note("no deliveries; they are kept as long as their task");
            return String::new();
        }
        more(next_cursor, context);
        let mut table = Table::new(&["AT", "TASK", "ID", "EVENT", "TO", "STATE", "ATTEMPTS", "ANSWER"]);
        for one in deliveries {
            let answer = one.fault.or_else(|| one.status.map(|status| status.to_string())).unwrap_or_default();
            let (at, event, attempts) = (moment(one.at.as_deref()), one.event.to_string(), one.attempts.to_string());
            table.row([at, one.task, one.push, event, one.destination, one.state, attempts, answer]);
        }
        table.render()
    })
}

async fn retry(task: TaskId, id: &str, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let url = client.in_tenant(&["tasks", &task.to_string(), "pushes", id, "retry"]).await?;
    client.post(url, &json!({})).await?;
    if context.output.json() {
        return Ok(context.output.document(&json!({ "task": task.to_string(), "id": id, "retried": true }))?);
    }
    context.output.note(&format!("{id} is tried again"));
    Ok(())
}

fn more(cursor: Option<String>, context: &Context<'_>) {
    if let Some(cursor) = cursor {
        context.output.note(&format!("there are more: --cursor {cursor}"));
    }
}
