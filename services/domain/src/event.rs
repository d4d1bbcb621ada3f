//! The append-only event log of a task: what streams, resubscriptions and watchers read.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::failure::Failure;
use crate::ids::TaskId;
use crate::task::{Artifact, Ask, TaskState};
use crate::timestamp;

/// One event. `seq` counts from 1 within its task and is given by the task's owner, so there are no gaps.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Event {
    pub seq: u32,
    #[serde(with = "timestamp")]
    pub at: OffsetDateTime,
    pub body: EventBody,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventBody {
    Status(StatusChange),
    Artifact(ArtifactChunk),
    Progress(Progress),
    /// Of a run of a pipeline: for its owner, never for its caller.
    Step(StepChange),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StatusChange {
    pub state: TaskState,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<Failure>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ask: Option<Ask>,
    /// The rules of guardrails that the caller is warned of.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
}

impl StatusChange {
    /// A change that needs no words.
    pub const fn to(state: TaskState) -> Self {
        Self { state, failure: None, ask: None, warnings: Vec::new() }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ArtifactChunk {
    pub artifact: Artifact,
    /// Continues an artifact that earlier events began.
    pub append: bool,
    pub last: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub done: f64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub total: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
}

/// How an attempt at a step of a pipeline goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepChange {
    pub step: String,
    /// Of a fan-out: which item, from 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub item: Option<u32>,
    /// From 1; 0 with a step that was skipped.
    pub attempt: u32,
    pub phase: StepPhase,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_ms: Option<u64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepPhase {
    Started,
    Finished,
    Failed,
    Skipped,
}

impl Event {
    /// The state this event leads to, if it changes it.
    pub fn state(&self) -> Option<TaskState> {
        match &self.body {
            EventBody::Status(change) => Some(change.state),
            EventBody::Artifact(_) | EventBody::Progress(_) | EventBody::Step(_) => None,
        }
    }

    /// Nothing follows until a later message continues the task (or ever).
    pub fn ends_turn(&self) -> bool {
        self.state().is_some_and(|state| state.is_terminal() || state.is_interrupted())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// One line of a function's log. Belongs to the tenant, never to the caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    #[serde(with = "timestamp")]
    pub at: OffsetDateTime,
    pub level: LogLevel,
    pub message: String,
}
