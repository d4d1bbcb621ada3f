//! The plain HTTP door: `POST /{skill}`, answered with the value or with a stream of the task's events.

use anyhow::Result;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Method, Response};

use super::{Call, PATIENCE};
use crate::client;
use crate::problem::{Problem, Refusal};
use crate::progress::{Printer, StateUpdate, Update, read_event};
use crate::sse::EventStream;

/// Names the task of a call in its answer.
const TASK_HEADER: &str = "pleat-task-id";

pub async fn call(call: &Call<'_>) -> Result<()> {
    let response = send(call, "application/json").await?;
    let body = call.body(response).await?;
    if body.is_empty() { Ok(()) } else { call.print(&body) }
}

pub async fn stream(call: &Call<'_>) -> Result<()> {
    let response = send(call, "text/event-stream").await?;
    let task = task_of(&response);
    let mut events = EventStream::new(call.client, response).shown(call.wire);
    let mut printer = Printer::new(call.output);
    while let Some(message) = events.next().await? {
        let update = read_event(&message.data, &call.client.url())?;
        if call.output.json() {
            printer.show_raw(&message.data)?;
        } else {
            printer.show(&update)?;
        }
        if let Update::State(state) = update
            && (state.is_final() || state.waits_for_caller())
        {
            printer.end_line()?;
            return finish(call, state, task).await;
        }
    }
    printer.end_line()?;
    Err(call.cut(task.as_deref()))
}

async fn finish(call: &Call<'_>, state: StateUpdate, task: Option<String>) -> Result<()> {
    if state.state == "completed" {
        return Ok(());
    }
    if state.waits_for_caller() {
        return Err(call.waits(&state.state, &state.message, task.as_deref()));
    }
    Err(call.ended(state.into_end(call.skill, task)).await)
}

/// A good answer; a refusal that names a task is that task's end.
async fn send(call: &Call<'_>, accept: &str) -> Result<Response> {
    let url = call.client.door(&[call.skill]).await?;
    let request = call.client.request(Method::POST, url).header(CONTENT_TYPE, "application/json");
    let mut request = request.header(ACCEPT, accept).body(call.input.clone());
    if accept == "application/json" {
        request = request.timeout(PATIENCE);
    }
    let response = call.client.send_shown(request, call.wire).await?;
    if response.status().is_success() {
        return Ok(response);
    }
    let refusal = client::refusal_shown(response, call.wire).await;
    if refusal.task.is_none() {
        return Err(Problem::Refused(Box::new(refusal)).into());
    }
    Err(ended(call, refusal).await)
}

/// This door tells a state other than `failed` in place of the reason.
async fn ended(call: &Call<'_>, refusal: Refusal) -> anyhow::Error {
    let Refusal { task, reason, message, .. } = refusal;
    let reason = reason.unwrap_or_default();
    let mut update = StateUpdate { message, ..StateUpdate::default() };
    match reason.as_str() {
        "input-required" | "auth-required" => return call.waits(&reason, &update.message, task.as_deref()),
        // Its message only says the state again.
        "canceled" => update = StateUpdate { state: reason, ..StateUpdate::default() },
        "rejected" => update.state = reason,
        _ => (update.state, update.reason) = ("failed".to_owned(), Some(reason)),
    }
    call.ended(update.into_end(call.skill, task)).await
}

fn task_of(response: &Response) -> Option<String> {
    response.headers().get(TASK_HEADER).and_then(|value| value.to_str().ok()).map(str::to_owned)
}
