//! Tasks: every call of every door is one.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::content::{self, Block};
use crate::event::{ArtifactChunk, Event, EventBody, StatusChange};
use crate::failure::Failure;
use crate::ids::{ContextId, TaskId};
use crate::json::Raw;
use crate::message::Message;
use crate::name::SkillName;
use crate::pipeline::RunRecord;
use crate::principal::Caller;

/// The eight states that all versions of A2A know between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskState {
    Submitted,
    Working,
    InputRequired,
    AuthRequired,
    Completed,
    Failed,
    Canceled,
    Rejected,
}

impl TaskState {
    pub const ALL: [Self; 8] = [
        Self::Submitted,
        Self::Working,
        Self::InputRequired,
        Self::AuthRequired,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::Rejected,
    ];

    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }

    /// Waits for the caller.
    pub const fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Working => "working",
            Self::InputRequired => "input-required",
            Self::AuthRequired => "auth-required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Rejected => "rejected",
        }
    }

    /// How the database keeps it: a number that never changes its meaning.
    pub const fn to_code(self) -> i16 {
        match self {
            Self::Submitted => 0,
            Self::Working => 1,
            Self::InputRequired => 2,
            Self::AuthRequired => 3,
            Self::Completed => 4,
            Self::Failed => 5,
            Self::Canceled => 6,
            Self::Rejected => 7,
        }
    }

    pub fn from_code(code: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.to_code() == code)
    }
}

/// The way a task came in; also decides the dialect in which shared A2A methods answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Door {
    #[serde(rename = "http")]
    Http,
    /// `tasks/send` and `tasks/sendSubscribe`.
    #[serde(rename = "a2a/0.1")]
    A2a01,
    #[serde(rename = "a2a/0.3")]
    A2a03,
    #[serde(rename = "a2a/1.0")]
    A2a10,
    #[serde(rename = "mcp")]
    Mcp,
    #[serde(rename = "call")]
    Call,
    #[serde(rename = "pipeline")]
    Pipeline,
    #[serde(rename = "control")]
    Control,
}

impl Door {
    const ALL: [Self; 8] =
        [Self::Http, Self::A2a01, Self::A2a03, Self::A2a10, Self::Mcp, Self::Call, Self::Pipeline, Self::Control];

    /// How the database keeps it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::A2a01 => "a2a/0.1",
            Self::A2a03 => "a2a/0.3",
            Self::A2a10 => "a2a/1.0",
            Self::Mcp => "mcp",
            Self::Call => "call",
            Self::Pipeline => "pipeline",
            Self::Control => "control",
        }
    }

    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|door| door.as_str() == text)
    }

    /// What the guest is told: the protocol, without its version.
    pub const fn guest_name(self) -> &'static str {
        match self {
            Self::A2a01 | Self::A2a03 | Self::A2a10 => "a2a",
            other => other.as_str(),
        }
    }
}

/// A deliverable. Its name is unique within the task and is its id on every wire.
/// It holds either one JSON value (whose form depends on the door) or explicit blocks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Artifact {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<Raw>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub blocks: Vec<Block>,
}

impl Artifact {
    pub fn of_value(name: impl Into<String>, value: Raw) -> Self {
        Self { name: name.into(), description: None, value: Some(value), blocks: Vec::new() }
    }

    pub fn of_blocks(name: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { name: name.into(), description: None, value: None, blocks }
    }
}

/// What an interrupted task waits for. `state` is the function's own and never leaves the platform.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ask {
    pub prompt: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub schema: Option<Raw>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub state: Option<Raw>,
    /// Set when it is the caller's client that is asked, and not the caller.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub client: Option<ClientAsk>,
}

impl Ask {
    /// A question to the caller.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), schema: None, state: None, client: None }
    }
}

/// Requests to the client that a caller works with, by name; for doors whose clients can serve them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ClientAsk {
    pub requests: Vec<ClientRequest>,
    /// The function wants the answers under their names, even where there is one only.
    pub named: bool,
}

/// One of them. `params` are those of the request in the Model Context Protocol.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ClientRequest {
    pub key: String,
    pub kind: ClientKind,
    pub params: Raw,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientKind {
    /// A question to the user.
    Elicit,
    /// A completion by the client's model.
    Sample,
    /// The directories that the client works on.
    Roots,
}

impl ClientKind {
    pub const ALL: [Self; 3] = [Self::Elicit, Self::Sample, Self::Roots];

    /// How a function names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Elicit => "elicit",
            Self::Sample => "sample",
            Self::Roots => "roots",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What guardrails noted on a task.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct GuardNotes {
    /// The rules that the caller is warned of.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
    /// Which value has which placeholder, by hashes; never leaves the platform.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub numbering: Option<Raw>,
}

/// A task with all that is kept of it.
#[derive(Debug, Clone)]
pub struct Task {
    pub id: TaskId,
    /// `None`: its caller has been asked which one it wants.
    pub skill: Option<SkillName>,
    /// The deployed version's number; 0 as long as there is no skill.
    pub version: i32,
    pub context: ContextId,
    pub parent: Option<TaskId>,
    /// Which attempt at which step of its parent it is, where that is a run of a pipeline. What such a step calls in turn
    /// has the same: who called the run sees neither.
    pub step: Option<String>,
    /// What it is pinned to, where it is a run of a pipeline itself.
    pub run: Option<Box<RunRecord>>,
    pub caller: Caller,
    pub door: Door,
    /// The id that a 0.1 client chose; echoed instead of ours.
    pub alias: Option<String>,
    pub state: TaskState,
    pub failure: Option<Failure>,
    pub ask: Option<Ask>,
    /// What `handle` got.
    pub input: Raw,
    /// The messages of all turns, oldest first; empty when `input` says it all.
    pub history: Vec<Message>,
    pub artifacts: Vec<Artifact>,
    pub guard: Option<GuardNotes>,
    pub attempt: i16,
    pub turn: i16,
    /// 0: no event rows were stored, the events follow from the task itself.
    pub last_seq: u32,
    pub cpu_us: i64,
    pub wall_us: i64,
    pub created_at: OffsetDateTime,
    pub updated_at: OffsetDateTime,
}

impl Task {
    /// The rules of guardrails that the caller is warned of.
    pub fn warnings(&self) -> &[String] {
        self.guard.as_ref().map_or(&[], |notes| notes.warnings.as_slice())
    }

    /// Warns the caller of these rules too.
    pub fn warn(&mut self, rules: impl IntoIterator<Item = String>) {
        for rule in rules {
            let warnings = &mut self.guard.get_or_insert_default().warnings;
            if !warnings.contains(&rule) {
                warnings.push(rule);
            }
        }
    }

    /// What its function wants to be answered in the place of the task: all that came of one message.
    pub fn reply(&self) -> Option<&Artifact> {
        let [artifact] = self.artifacts.as_slice() else { return None };
        let whole = self.state == TaskState::Completed && self.turn == 1 && !artifact.blocks.is_empty();
        (whole && artifact.blocks.iter().all(Block::is_reply)).then_some(artifact)
    }

    /// The events of a task that finished without storing any: what a subscriber would have seen.
    pub fn derived_events(&self) -> Vec<Event> {
        let working = StatusChange::to(TaskState::Working);
        let mut bodies = vec![(self.created_at, EventBody::Status(working))];
        for artifact in &self.artifacts {
            let chunk = ArtifactChunk { artifact: artifact.clone(), append: false, last: true };
            bodies.push((self.updated_at, EventBody::Artifact(chunk)));
        }
        if self.state != TaskState::Working && self.state != TaskState::Submitted {
            let change = StatusChange {
                state: self.state,
                failure: self.failure.clone(),
                ask: self.ask.clone(),
                warnings: self.warnings().to_vec(),
            };
            bodies.push((self.updated_at, EventBody::Status(change)));
        }
        (1..).zip(bodies).map(|(seq, (at, body))| Event { seq, at, body }).collect()
    }

    /// As it was before its first event.
    pub fn before_events(&self) -> Self {
        Self {
            state: TaskState::Submitted,
            failure: None,
            ask: None,
            artifacts: Vec::new(),
            last_seq: 0,
            updated_at: self.created_at,
            ..self.clone()
        }
    }

    /// As it is after one more event.
    pub fn apply(&mut self, event: &Event) {
        self.last_seq = event.seq;
        match &event.body {
            EventBody::Status(change) => {
                self.state = change.state;
                self.failure = change.failure.clone();
                self.ask = change.ask.clone();
                self.updated_at = event.at;
            }
            EventBody::Artifact(chunk) => self.add(chunk),
            EventBody::Progress(_) | EventBody::Step(_) => {}
        }
    }

    fn add(&mut self, chunk: &ArtifactChunk) {
        let ArtifactChunk { artifact, append, .. } = chunk;
        match self.artifacts.iter_mut().find(|earlier| earlier.name == artifact.name) {
            Some(earlier) if *append => {
                artifact.blocks.iter().for_each(|block| content::append(&mut earlier.blocks, block));
            }
            Some(earlier) => *earlier = artifact.clone(),
            None => self.artifacts.push(artifact.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_codes_round_trip() {
        for state in TaskState::ALL {
            assert_eq!(TaskState::from_code(state.to_code()), Some(state));
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
        assert_eq!(TaskState::from_code(99), None);
    }

    #[test]
    fn a_task_is_what_its_events_make_of_it() {
        let at = OffsetDateTime::UNIX_EPOCH;
        let id = TaskId::new();
        let mut task = Task {
            id,
            skill: None,
            version: 0,
            context: ContextId::of_task(id),
            parent: None,
            step: None,
            run: None,
            caller: Caller::anonymous(),
            door: Door::A2a10,
            alias: None,
            state: TaskState::Completed,
            failure: None,
            ask: None,
            guard: None,
            input: crate::json::raw("x"),
            history: Vec::new(),
            artifacts: vec![Artifact::of_blocks("old", Vec::new())],
            attempt: 1,
            turn: 1,
            last_seq: 9,
            cpu_us: 0,
            wall_us: 0,
            created_at: at,
            updated_at: at,
        }
        .before_events();
        assert_eq!((task.state, task.last_seq, task.artifacts.len()), (TaskState::Submitted, 0, 0));
        let chunk = |name: &str, text: &str, append| {
            let artifact = Artifact::of_blocks(name, vec![Block::text(text)]);
            EventBody::Artifact(ArtifactChunk { artifact, append, last: false })
        };
        let status = |state| EventBody::Status(StatusChange::to(state));
        let bodies = [
            status(TaskState::Working),
            chunk("talk", "a", false),
            chunk("talk", "b", true),
            chunk("other", "c", false),
            chunk("other", "d", false),
            status(TaskState::InputRequired),
        ];
        (1..).zip(bodies).for_each(|(seq, body)| task.apply(&Event { seq, at, body }));
        assert_eq!((task.state, task.last_seq), (TaskState::InputRequired, 6));
        let texts: Vec<(&str, &[Block])> =
            task.artifacts.iter().map(|artifact| (artifact.name.as_str(), artifact.blocks.as_slice())).collect();
        assert_eq!(texts, [("talk", [Block::text("ab")].as_slice()), ("other", [Block::text("d")].as_slice())]);
    }
}
