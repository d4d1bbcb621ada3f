//! Tasks as the control API shows them.

use pleat_domain::task::Ask;
use pleat_domain::{Artifact, Door, Failure, Message, Raw, RunRecord, Task, timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::guards::FindingView;

/// A task as its owner sees it: everything.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskView {
    pub(crate) id: String,
    /// None as long as its caller has been asked which one it wants.
    pub(crate) skill: Option<String>,
    pub(crate) version: Option<i32>,
    pub(crate) state: String,
    pub(crate) context_id: String,
    pub(crate) parent_task_id: Option<String>,
    /// Which attempt at which step of its parent it is, as `step#1` or `step[0]#1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<String>,
    /// What a run of a pipeline is bound to, and which steps it skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) run: Option<Box<RunRecord>>,
    pub(crate) caller: String,
    pub(crate) door: String,
    pub(crate) alias: Option<String>,
    pub(crate) attempt: i16,
    pub(crate) turn: i16,
    #[schema(value_type = Object)]
    pub(crate) input: Raw,
    #[schema(value_type = Vec<Object>)]
    pub(crate) artifacts: Vec<Artifact>,
    #[schema(value_type = Option<Object>)]
    pub(crate) failure: Option<Failure>,
    #[schema(value_type = Option<Object>)]
    pub(crate) ask: Option<Ask>,
    #[schema(value_type = Vec<Object>)]
    pub(crate) history: Vec<Message>,
    /// What guardrails found in it, oldest first; of one task that is asked for alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<FindingView>,
    pub(crate) cpu_us: i64,
    pub(crate) wall_us: i64,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
}

impl From<Task> for TaskView {
    fn from(task: Task) -> Self {
        Self {
            id: task.id.to_string(),
            version: task.skill.as_ref().map(|_| task.version),
            skill: task.skill.map(String::from),
            state: task.state.as_str().to_owned(),
            context_id: task.context.into(),
            parent_task_id: task.parent.map(|id| id.to_string()),
            step: task.step.filter(|_| task.door == Door::Pipeline),
            run: task.run,
            caller: task.caller.to_string(),
            door: task.door.as_str().to_owned(),
            alias: task.alias,
            attempt: task.attempt,
            turn: task.turn,
            input: task.input,
            artifacts: task.artifacts,
            failure: task.failure,
            ask: task.ask,
            history: task.history,
            findings: Vec::new(),
            cpu_us: task.cpu_us,
            wall_us: task.wall_us,
            created_at: timestamp::format(task.created_at),
            updated_at: timestamp::format(task.updated_at),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tasks {
    pub(crate) tasks: Vec<TaskView>,
    pub(crate) next_cursor: Option<String>,
}

/// A task and the calls that came of it, oldest first; each names its parent.
#[derive(Serialize, ToSchema)]
pub(crate) struct Trace {
    pub(crate) tasks: Vec<TaskView>,
    /// What guardrails found in them, oldest first; each names its task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<FindingView>,
    /// There are more tasks, or more findings, than are shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) more: bool,
}
