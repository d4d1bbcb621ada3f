//! `pleat tasks watch`: a task's events from the first on. A broken line is taken up again where it broke.

use std::time::Duration;

use anyhow::Result;
use pleat_domain::TaskId;
use reqwest::Method;
use reqwest::header::ACCEPT;
use serde_json::Value;

use crate::client::{self, Client};
use crate::commands::Context;
use crate::commands::tasks::TaskView;
use crate::problem::Problem;
use crate::progress::{Printer, StateUpdate, Update, read_event};
use crate::sse::EventStream;
use crate::target::Role;

/// In a row, without one event in between.
const MOST_BREAKS: u32 = 8;

struct Watch<'a> {
    client: &'a Client,
    id: TaskId,
    last_id: Option<String>,
    breaks: u32,
    printer: Printer<'a>,
    context: &'a Context<'a>,
}

pub async fn run(id: TaskId, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let printer = Printer::new(context.output);
    let mut watch = Watch { client: &client, id, last_id: None, breaks: 0, printer, context };
    let last = watch.follow().await?;
    watch.printer.end_line()?;
    match last {
        Some(state) if state.state == "completed" => Ok(()),
        Some(state) if state.waits_for_caller() => {
            context.output.note(&format!("the task waits ({}): {}", state.state, state.message));
            Ok(())
        }
        Some(state) => Err(watch.failure(state).await.into()),
        None => {
            let message = "the stream broke before the task ended";
            Err(Problem::failed(message, format!("`pleat tasks get {id}` shows how it stands")).into())
        }
    }
}

impl Watch<'_> {
    /// The state the turn ended in; `None` when the line could not be kept.
    async fn follow(&mut self) -> Result<Option<StateUpdate>> {
        loop {
            let outcome = self.read().await;
            match outcome {
                Ok(Some(state)) => return Ok(Some(state)),
                Err(error) if !is_transport(&error) => return Err(error),
                Err(error) if self.last_id.is_none() && self.breaks == 0 => return Err(error),
                Ok(None) | Err(_) => {}
            }
            self.breaks += 1;
            if self.breaks > MOST_BREAKS {
                return Ok(None);
            }
            tokio::time::sleep(Duration::from_millis(250 * u64::from(self.breaks))).await;
        }
    }

    /// One connection's worth of events.
    async fn read(&mut self) -> Result<Option<StateUpdate>> {
        let url = self.client.in_tenant(&["tasks", &self.id.to_string(), "events"]).await?;
        let mut request = self.client.request(Method::GET, url).header(ACCEPT, "text/event-stream");
        if let Some(last) = &self.last_id {
            request = request.header("Last-Event-ID", last);
        }
        let response = self.client.send(request).await?;
        if !response.status().is_success() {
            return Err(Problem::Refused(Box::new(client::refusal(response).await)).into());
        }
        let mut events = EventStream::new(self.client, response);
        while let Some(message) = events.next().await? {
            self.breaks = 0;
            self.last_id = message.id.or(self.last_id.take());
            let update = read_event(&message.data, &self.client.url())?;
            if self.context.output.json() {
                self.printer.show_raw(&message.data)?;
            } else {
                self.printer.show(&update)?;
                self.say(&update)?;
            }
            if let Update::State(state) = update
                && (state.is_final() || state.waits_for_caller())
            {
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    fn say(&mut self, update: &Update) -> Result<()> {
        if let Update::State(state) = update {
            self.printer.end_line()?;
            self.context.output.note(&state.state);
        }
        Ok(())
    }

    /// The event has what a caller may see; the task itself may have the stack, and has the skill's name.
    async fn failure(&self, state: StateUpdate) -> Problem {
        let view = async {
            let url = self.client.in_tenant(&["tasks", &self.id.to_string()]).await?;
            let answer: Value = self.client.get(url).await?;
            crate::commands::parse::<TaskView>(answer)
        };
        let end = match view.await {
            Ok(task) if task.ended_badly() => task.into_end(),
            _ => state.into_end("the task", Some(self.id.to_string())),
        };
        Problem::Task(Box::new(end))
    }
}

fn is_transport(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Problem::Unreachable { .. } | Problem::TimedOut { .. }))
}
