//! `pleat logs`: what functions logged, once or as it comes.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use pleat_domain::{SkillName, TaskId};
use serde::Deserialize;
use serde_json::Value;

use crate::arguments::any_skill;
use crate::client::Client;
use crate::commands::{Context, parse};
use crate::output::Output;
use crate::problem::Problem;
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat logs
  pleat logs hello -f
  pleat logs --task task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70
  pleat logs -f --json | jq -r 'select(.level == \"error\").message'";

const PAUSE: Duration = Duration::from_millis(500);
/// What the server takes lines from at most, in one answer.
const MOST_CALLS: u32 = 1_000;
/// A restart of the server should not end a `logs -f`; its end should.
const MOST_MISSES: u32 = 20;

/// Show what functions logged
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct LogsArgs {
    /// Only this function's
    #[arg(value_name = "NAME", value_parser = any_skill)]
    name: Option<SkillName>,
    /// Go on showing lines as they come
    #[arg(short, long)]
    follow: bool,
    /// Only this task's
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
    /// How many of the latest lines
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(..=10_000))]
    lines: u32,
}

#[derive(Deserialize)]
struct Page {
    entries: Vec<Value>,
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct Entry {
    task: String,
    skill: String,
    version: Value,
    at: String,
    level: String,
    message: String,
}

pub async fn run(args: &LogsArgs, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let page = fetch(args, &client, None).await?;
    if page.entries.is_empty() && !args.follow {
        context.output.note("no lines; `console.log(…)` in a function writes some");
    }
    let known = Known::of(&page);
    let passed_over = page.entries.len().saturating_sub(args.lines as usize);
    print(page.entries.into_iter().skip(passed_over), context.output)?;
    if args.follow { follow(args, &client, known, page.cursor, context.output).await } else { Ok(()) }
}

/// Ends when it is interrupted, or when the server stays away.
async fn follow(
    args: &LogsArgs,
    client: &Client,
    mut known: Known,
    mut cursor: Option<String>,
    output: &Output,
) -> Result<()> {
    let mut misses = 0;
    loop {
        tokio::time::sleep(PAUSE).await;
        match fetch(args, client, cursor.as_deref()).await {
            Ok(page) => {
                misses = 0;
                let seen = Known::of(&page);
                print(page.entries.into_iter().filter(|entry| !known.has(entry)), output)?;
                // An empty page says nothing about what the next one will repeat.
                known = if seen.0.is_empty() { known } else { seen };
                cursor = page.cursor.or(cursor);
            }
            Err(error) if is_away(&error) && misses < MOST_MISSES => {
                if misses == 0 {
                    output.note("the server does not answer; trying again");
                }
                misses += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

async fn fetch(args: &LogsArgs, client: &Client, after: Option<&str>) -> Result<Page> {
    let mut url = client.in_tenant(&["logs"]).await?;
    let mut query = url.query_pairs_mut();
    if let Some(name) = &args.name {
        query.append_pair("skill", name.as_str());
    }
    if let Some(task) = &args.task {
        query.append_pair("task", &task.to_string());
    }
    if let Some(cursor) = after {
        query.append_pair("after", cursor);
    }
    // The server counts calls, not lines. Who follows needs all that the next page may repeat.
    let calls = if args.follow { MOST_CALLS } else { args.lines.clamp(1, MOST_CALLS) };
    query.append_pair("limit", &calls.to_string());
    drop(query);
    parse(client.get(url).await?)
}

/// The records of the page before: pages overlap, so that no line is missed that was recorded late.
struct Known(HashSet<(String, u64)>);

impl Known {
    fn of(page: &Page) -> Self {
        Self(page.entries.iter().filter_map(Self::name).collect())
    }

    fn has(&self, entry: &Value) -> bool {
        Self::name(entry).is_some_and(|name| self.0.contains(&name))
    }

    fn name(entry: &Value) -> Option<(String, u64)> {
        Some((entry.get("task")?.as_str()?.to_owned(), entry.get("record")?.as_u64()?))
    }
}

fn print(entries: impl Iterator<Item = Value>, output: &Output) -> Result<()> {
    for entry in entries {
        if output.json() {
            output.row(&entry)?;
            continue;
        }
        let Entry { task, skill, version, at, level, message } = parse(entry)?;
        let message = message.replace('\n', "\n    ");
        let level = level.to_uppercase();
        output.line(&format!("{at} {level:<5} {skill} v{version} {task} {message}"))?;
    }
    Ok(())
}

fn is_away(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<Problem>() {
        Some(Problem::Unreachable { .. } | Problem::TimedOut { .. }) => true,
        Some(Problem::Refused(refusal)) => matches!(refusal.status, 502..=504),
        _ => false,
    }
}
