//! The updates of a running task, in whichever dialect they come, and how they are shown while it runs.

use anyhow::Result;
use pleat_domain::{Block, Event, EventBody, StepChange, StepPhase};
use serde_json::Value;

use crate::output::Output;
use crate::problem::{Problem, Refusal, TaskEnd};

/// One update of a task.
#[derive(Debug)]
pub enum Update {
    State(StateUpdate),
    Chunk {
        artifact: String,
        text: String,
        append: bool,
    },
    Progress {
        done: f64,
        total: Option<f64>,
        note: Option<String>,
    },
    /// What a run of a pipeline does.
    Step(StepChange),
}

#[derive(Debug, Default)]
pub struct StateUpdate {
    pub state: String,
    pub reason: Option<String>,
    /// Why it failed, or what it asks for.
    pub message: String,
    pub stack: Option<String>,
}

impl StateUpdate {
    pub fn is_final(&self) -> bool {
        matches!(self.state.as_str(), "completed" | "failed" | "canceled" | "rejected")
    }

    pub fn waits_for_caller(&self) -> bool {
        matches!(self.state.as_str(), "input-required" | "auth-required")
    }

    pub fn into_end(self, skill: &str, task: Option<String>) -> TaskEnd {
        let Self { state, reason, message, stack } = self;
        TaskEnd { skill: skill.to_owned(), task, state, reason, code: None, message, stack }
    }
}

/// One message of an event stream of ours: an event of the task, or the reason why no more come.
pub fn read_event(data: &str, url: &str) -> Result<Update, Problem> {
    let fault = match serde_json::from_str::<Event>(data) {
        Ok(event) => return Ok(Update::from(event)),
        Err(fault) => fault,
    };
    let answer: Value = serde_json::from_str(data).unwrap_or_default();
    let text = |name: &str| answer.pointer(&format!("/error/{name}")).and_then(Value::as_str).map(str::to_owned);
    match (text("code"), text("message")) {
        (Some(code), Some(message)) => Err(Problem::Refused(Box::new(Refusal { code, message, ..Refusal::default() }))),
        _ => Err(Problem::Odd { url: url.to_owned(), source: fault }),
    }
}

impl From<Event> for Update {
    fn from(event: Event) -> Self {
        match event.body {
            EventBody::Progress(progress) => {
                Self::Progress { done: progress.done, total: progress.total, note: progress.note }
            }
            EventBody::Artifact(chunk) => {
                let value = chunk.artifact.value.as_deref().map(|raw| value_text(raw.get()));
                let text = value.unwrap_or_else(|| chunk_text(&chunk.artifact.blocks));
                Self::Chunk { artifact: chunk.artifact.name, text, append: chunk.append }
            }
            EventBody::Step(change) => Self::Step(change),
            EventBody::Status(change) => {
                let mut update = StateUpdate { state: change.state.as_str().to_owned(), ..StateUpdate::default() };
                if let Some(ask) = change.ask {
                    update.message = ask.prompt;
                }
                if let Some(failure) = change.failure {
                    update.reason = Some(failure.reason.as_str().to_owned());
                    update.message = failure.message;
                    update.stack = failure.detail;
                }
                Self::State(update)
            }
        }
    }
}

/// A JSON value as the text of a result: a string without its quotes, anything else as it is.
pub fn value_text(json: &str) -> String {
    serde_json::from_str::<String>(json).unwrap_or_else(|_| json.trim().to_owned())
}

/// Text runs on from chunk to chunk; anything else is a line of its own.
fn chunk_text(blocks: &[Block]) -> String {
    let text = blocks_text(blocks);
    let runs_on = blocks.iter().all(|block| matches!(block, Block::Text { .. }));
    if runs_on { text } else { text + "\n" }
}

pub fn blocks_text(blocks: &[Block]) -> String {
    let texts: Vec<String> = blocks.iter().filter(|block| block.is_public()).map(block_text).collect();
    texts.join("\n")
}

fn block_text(block: &Block) -> String {
    match block {
        Block::Text { text, .. } => text.clone(),
        Block::Data { data, .. } => data.0.get().to_owned(),
        Block::ResourceLink { uri, .. } => uri.clone(),
        Block::Resource { resource, .. } => resource.text.clone().unwrap_or_else(|| format!("[{}]", resource.uri)),
        Block::Image { mime_type, .. } => format!("[image: {mime_type}]"),
        Block::Audio { mime_type, .. } => format!("[audio: {mime_type}]"),
        _ => String::new(),
    }
}

fn step_text(change: &StepChange) -> String {
    let item = change.item.map(|item| format!("[{item}]")).unwrap_or_default();
    let attempt = if change.attempt > 1 { format!(", attempt {}", change.attempt) } else { String::new() };
    let phase = match change.phase {
        StepPhase::Started => "started",
        StepPhase::Finished => "finished",
        StepPhase::Failed => "failed",
        StepPhase::Skipped => "skipped",
    };
    let took = change.duration_ms.map(|took| format!(" after {took} ms")).unwrap_or_default();
    let code = change.code.as_deref().map(|code| format!(": {code}")).unwrap_or_default();
    format!("step {}{item}{attempt} {phase}{took}{code}", change.step)
}

/// Shows updates as they come: chunks are data, the rest is talk.
pub struct Printer<'a> {
    output: &'a Output,
    artifact: Option<String>,
    line_open: bool,
}

impl<'a> Printer<'a> {
    pub const fn new(output: &'a Output) -> Self {
        Self { output, artifact: None, line_open: false }
    }

    pub fn show(&mut self, update: &Update) -> Result<()> {
        match update {
            Update::Chunk { artifact, text, append } => {
                if !append || self.artifact.as_ref() != Some(artifact) {
                    self.end_line()?;
                }
                self.artifact = Some(artifact.clone());
                self.output.piece(text)?;
                self.line_open = if text.is_empty() { self.line_open } else { !text.ends_with('\n') };
            }
            Update::Progress { done, total, note } => {
                if self.output.terminal() {
                    self.end_line()?;
                }
                let total = total.map(|total| format!(" of {total}")).unwrap_or_default();
                let note = note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
                self.output.note(&format!("progress {done}{total}{note}"));
            }
            Update::Step(change) => {
                if self.output.terminal() {
                    self.end_line()?;
                }
                self.output.note(&step_text(change));
            }
            Update::State(_) => {}
        }
        Ok(())
    }

    /// The wire form of an update, for `--json`.
    pub fn show_raw(&self, data: &str) -> Result<()> {
        match serde_json::from_str::<Value>(data) {
            Ok(value) => self.output.row(&value)?,
            Err(_) => self.output.row(&Value::String(data.to_owned()))?,
        }
        Ok(())
    }

    pub fn end_line(&mut self) -> Result<()> {
        if std::mem::take(&mut self.line_open) {
            self.output.piece("\n")?;
        }
        Ok(())
    }
}
