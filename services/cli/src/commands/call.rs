//! `pleat call`: call a skill through one of its doors and print what it returns.

mod a2a;
mod http;
pub mod input;
mod mcp;

use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use pleat_domain::{SkillName, TaskId};
use reqwest::Response;
use serde_json::Value;

use crate::client::Client;
use crate::commands::tasks::TaskView;
use crate::commands::{Context, parse};
use crate::output::Output;
use crate::problem::{Problem, TaskEnd};
use crate::target::Role;
use crate::wire::Wire;

const EXAMPLES: &str = "\
Examples:
  pleat call hello '{\"name\":\"Ada\"}'
  pleat call summarize @article.json
  cat order.json | pleat call price -
  pleat call countdown '{\"from\":5}' --stream
  pleat call hello '{\"name\":\"Ada\"}' --via a2a --json
  pleat call hello '{\"name\":\"Ada\"}' --raw              show the wire, and the same as a curl line
  pleat call ask-name Ada --task task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70

INPUT is JSON; text that does not look like JSON is sent as a string. \
With --json the result is printed as JSON, the events of --stream one a line; \
over A2A that is the protocol's own task and events.";

/// Longer than the longest call the platform allows.
const PATIENCE: Duration = Duration::from_secs(16 * 60);

/// Call a skill and print its result
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CallArgs {
    /// The function's name
    #[arg(value_name = "SKILL", value_parser = skill)]
    skill: String,
    /// JSON, or text; @FILE reads a file, - reads stdin [default: {}]
    #[arg(value_name = "INPUT", allow_hyphen_values = true)]
    input: Option<String>,
    /// Print chunks as they come
    #[arg(long, short)]
    stream: bool,
    /// Answer a task that waits for input; goes over A2A, because the other doors have no conversation here
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
    /// The door to call through
    #[arg(long, value_enum, value_name = "DOOR", default_value = "http")]
    via: Via,
    /// Show the request and the answer as they go over the wire, on stderr, and the same request with curl
    #[arg(long)]
    raw: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Via {
    /// POST /{skill}
    Http,
    /// JSON-RPC tasks/send and tasks/sendSubscribe
    A2a,
    /// tools/call; --stream shows progress
    Mcp,
}

/// One call on its way.
struct Call<'a> {
    client: &'a Client,
    output: &'a Output,
    skill: &'a str,
    /// JSON text, sent as it is.
    input: String,
    /// The task that this continues.
    task: Option<TaskId>,
    /// Both sides are shown.
    wire: Option<&'a Wire<'a>>,
}

pub async fn run(args: &CallArgs, context: &Context<'_>) -> Result<()> {
    let input = input::read(args.input.as_deref())?;
    let client = context.connect(Role::Caller)?;
    let wire = Wire::new(context.output, client.key_file());
    let (output, wire) = (context.output, args.raw.then_some(&wire));
    let call = Call { client: &client, output, skill: &args.skill, input, task: args.task, wire };
    let via = if args.task.is_some() { Via::A2a } else { args.via };
    match (via, args.stream) {
        (Via::Http, false) => http::call(&call).await,
        (Via::Http, true) => http::stream(&call).await,
        (Via::A2a, false) => a2a::call(&call).await,
        (Via::A2a, true) => a2a::stream(&call).await,
        (Via::Mcp, stream) => mcp::call(&call, stream).await,
    }
}

impl Call<'_> {
    /// The body of a good answer.
    async fn body(&self, response: Response) -> Result<String> {
        let body = response.text().await.map_err(|error| self.client.broken(error))?;
        if let Some(wire) = self.wire {
            wire.answer(&body);
        }
        Ok(body)
    }

    /// A result: a string as text, other JSON indented for a person and as it came for a program.
    fn print(&self, json: &str) -> Result<()> {
        let value = serde_json::from_str::<Value>(json);
        match value {
            Ok(Value::String(text)) if !self.output.json() => self.print_text(&text),
            Ok(value) if self.output.terminal() => Ok(self.output.document(&value)?),
            _ => Ok(self.output.line(json.trim())?),
        }
    }

    fn print_text(&self, text: &str) -> Result<()> {
        let printed = if text.ends_with('\n') { self.output.piece(text) } else { self.output.line(text) };
        Ok(printed?)
    }

    /// The call made a task that has no result. Its owner may see more of it than its caller.
    async fn ended(&self, end: TaskEnd) -> anyhow::Error {
        let seen = match &end.task {
            Some(task) if self.client.has_key() => self.look(task).await.ok(),
            _ => None,
        };
        let seen = seen.filter(TaskView::ended_badly).map(TaskView::into_end);
        Problem::Task(Box::new(seen.unwrap_or(end))).into()
    }

    async fn look(&self, task: &str) -> Result<TaskView> {
        parse(self.client.get(self.client.in_tenant(&["tasks", task]).await?).await?)
    }

    /// The task is not over, but this call is: it waits for somebody.
    fn waits(&self, state: &str, prompt: &str, task: Option<&str>) -> anyhow::Error {
        let hint = task.map_or_else(
            || "`pleat tasks list --state input-required` shows its id".to_owned(),
            |task| format!("answer it with `pleat call {} ANSWER --task {task}`", self.skill),
        );
        Problem::failed(format!("`{}` waits for an answer ({state}): {prompt}", self.skill), hint).into()
    }

    fn cut(&self, task: Option<&str>) -> anyhow::Error {
        let hint = task.map_or_else(
            || "the task goes on without you; `pleat tasks list` finds it".to_owned(),
            |task| format!("the task goes on without you; `pleat tasks watch {task}` follows it"),
        );
        Problem::failed("the stream ended before the task did", hint).into()
    }
}

/// For clap: a function, or a pipeline by its skill name.
fn skill(text: &str) -> Result<String, pleat_domain::name::BadName> {
    SkillName::parse_skill(text).map(|_| text.to_owned())
}
