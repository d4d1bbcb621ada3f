//! `pleat pipeline run`: one run as its owner has it, a draft's too.

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use pleat_domain::SkillName;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::arguments::skill_name;
use crate::client::{self, Client};
use crate::commands::call::input;
use crate::commands::tasks::TaskView;
use crate::commands::{Context, parse};
use crate::problem::Problem;
use crate::progress::{Printer, StateUpdate, Update, read_event};
use crate::sse::EventStream;
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat pipeline run report '{\"topic\":\"rain\"}'
  pleat pipeline run report @topic.json --stream      show the steps as they go
  pleat pipeline run report '{\"topic\":\"rain\"}' --json

INPUT is JSON; text that does not look like JSON is sent as a string.";

/// A run may have many steps.
const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// Run a pipeline, a draft too, and print its output
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    #[arg(value_name = "NAME", value_parser = skill_name)]
    name: SkillName,
    /// JSON, or text; @FILE reads a file, - reads stdin [default: {}]
    #[arg(value_name = "INPUT", allow_hyphen_values = true)]
    input: Option<String>,
    /// Show steps and chunks as they come
    #[arg(long, short)]
    stream: bool,
}

pub async fn run(args: &RunArgs, context: &Context<'_>) -> Result<()> {
    let input = input::read(args.input.as_deref())?;
    let client = context.connect(Role::Deployer)?;
    let url = client.in_tenant(&["pipelines", args.name.as_str(), "runs"]).await?;
    let request = client.request(Method::POST, url).header(CONTENT_TYPE, "application/json").body(input);
    if args.stream {
        return stream(args, &client, request, context).await;
    }
    let answer = client.answer_within(request, PATIENCE).await?;
    let task: TaskView = parse(answer.clone())?;
    if task.ended_badly() {
        return Err(Problem::Task(Box::new(task.into_end())).into());
    }
    if context.output.json() {
        return Ok(context.output.document(&answer)?);
    }
    context.output.note(&format!("`pleat tasks trace {}` shows its steps", task.id));
    print(&task, context)
}

/// A string as text, anything else as JSON.
fn print(task: &TaskView, context: &Context<'_>) -> Result<()> {
    let value = task.artifacts.last().and_then(|artifact| artifact.value.as_ref());
    let value = value.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    match (value, task.artifacts.last()) {
        (Some(Value::String(text)), _) => Ok(context.output.line(text.trim_end_matches('\n'))?),
        (Some(value), _) => Ok(context.output.document(&value)?),
        (None, Some(artifact)) => Ok(context.output.line(&crate::progress::blocks_text(&artifact.blocks))?),
        (None, None) => Ok(()),
    }
}

async fn stream(args: &RunArgs, client: &Client, request: RequestBuilder, context: &Context<'_>) -> Result<()> {
    let response = client.send(request.header(ACCEPT, "text/event-stream")).await?;
    if !response.status().is_success() {
        return Err(Problem::Refused(Box::new(client::refusal(response).await)).into());
    }
    let mut events = EventStream::new(client, response);
    let mut printer = Printer::new(context.output);
    let mut last: Option<StateUpdate> = None;
    while let Some(message) = events.next().await? {
        let update = read_event(&message.data, &client.url())?;
        match context.output.json() {
            true => printer.show_raw(&message.data)?,
            false => printer.show(&update)?,
        }
        if let Update::State(state) = update {
            last = Some(state);
        }
    }
    printer.end_line()?;
    match last {
        Some(state) if state.state == "completed" => Ok(()),
        Some(state) if state.is_final() => {
            Err(Problem::Task(Box::new(state.into_end(&format!("pipeline:{}", args.name), None))).into())
        }
        _ => {
            let hint = format!("the run goes on without you; `pleat pipeline runs {}` finds it", args.name);
            Err(Problem::failed("the stream ended before the run did", hint).into())
        }
    }
}
