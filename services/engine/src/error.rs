//! What can go wrong in a use case, in words that the edges map to their wires once.

use std::time::Duration;

use pleat_domain::{Failure, Limit, Scope};
use pleat_pipelines::{CannotReplay, Faults};
use pleat_runtime::{PrepareError, RuntimeError};
use pleat_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No key where one is needed, or one that is not valid here. One answer for all of these.
    #[error("this needs a valid key: send `Authorization: Bearer <key>`")]
    Unauthenticated,
    #[error("this key lacks the scope `{}`; ask an admin of the tenant for one that has it", .0.as_str())]
    Forbidden(Scope),
    #[error("there is no such tenant")]
    UnknownTenant,
    #[error("unknown skill `{0}`; the agent card lists what there is")]
    UnknownSkill(String),
    #[error("name a skill: this agent has {}", list(.0))]
    SkillNeeded(Vec<String>),
    /// Unknown, expired, another tenant's or another caller's: one answer for all.
    #[error("task not found")]
    TaskNotFound,
    #[error("push configuration not found")]
    PushNotFound,
    /// Unknown, expired, another tenant's or another caller's: one answer for all.
    #[error("session not found; begin a new one with `initialize`")]
    SessionNotFound,
    /// The function did not give what it offers.
    #[error("{}", .0.message)]
    NotOffered(Box<Failure>),
    #[error("the task is already {0} and cannot be canceled")]
    NotCancelable(&'static str),
    #[error("the task is {0} and takes no further message")]
    NotContinuable(&'static str),
    #[error("the input does not match the skill's schema: {}", violations(.0))]
    InvalidInput(Vec<Violation>),
    #[error("{0}")]
    Invalid(String),
    /// Revoking it would lock everybody out.
    #[error("this is the last working {0}; create another one first, or revoke it with `force=true` (`--force`)")]
    LastKey(&'static str),
    #[error("{what} `{name}` already exists")]
    Exists { what: &'static str, name: String },
    #[error("there is no {what} `{name}`")]
    NotFound { what: &'static str, name: String },
    /// A guardrail or another hook said no before anything ran.
    #[error("{0}")]
    Blocked(String),
    /// A guardrail does not let an input pass. The caller is told which check it was, and nothing else.
    #[error("the guardrail `{0}` does not let this input pass")]
    Guarded(&'static str),
    /// Everything that is wrong with a guardrail policy.
    #[error("the policy cannot be taken: {0}")]
    BadPolicy(pleat_guardrails::Faults),
    /// The upload is not something that can be deployed.
    #[error("{0}")]
    NotDeployable(String),
    /// The text is no pipeline that could run here.
    #[error("the pipeline has {} faults; the first is at {}", .0.faults.len() + .0.more, first(.0))]
    BadPipeline(Box<Faults>),
    #[error("pipeline `{name}` is called by {}; archive or change those first", list(.callers))]
    PipelineInUse { name: String, callers: Vec<String> },
    #[error("pipeline `{0}` is archived; activate it first")]
    Archived(String),
    #[error(transparent)]
    CannotReplay(#[from] CannotReplay),
    /// `describe` failed in the sandbox.
    #[error("the function could not describe itself: {}", .0.message)]
    Describe(Box<Failure>),
    /// The tenant, or its caller, has used up what its plan allows.
    #[error("{0}")]
    LimitReached(#[from] Reached),
    #[error("the platform is at its limit ({0}); try again shortly")]
    Busy(&'static str),
    /// Never leaves: the earlier send's task is the answer.
    #[error("this was sent before and cannot be found again; try again shortly")]
    Repeated,
    #[error("this `Idempotency-Key` or message id was used before for another call; use a new one for each call")]
    KeyReused,
    #[error("this node has lost touch with the database and takes no work until it is back; try again shortly")]
    OutOfTouch,
    #[error("the platform is shutting down; try again shortly")]
    ShuttingDown,
    #[error("the database cannot take this now; try again shortly")]
    Unavailable(#[source] StoreError),
    #[error(
        "the master key is not the one that this database was set up with; start with that one. Nothing was changed"
    )]
    WrongMasterKey,
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A limit of the plan or of the key that stands in the way, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}; {}", .limit.sentence(*.most), advice(*.retry_after))]
pub struct Reached {
    pub limit: Limit,
    pub most: u64,
    /// `None`: not by waiting.
    pub retry_after: Option<Duration>,
}

fn advice(retry_after: Option<Duration>) -> String {
    match retry_after {
        Some(wait) => format!("try again in {} s", wait.as_secs_f64().ceil().max(1.0)),
        None => "delete what is not needed, or ask the operator for another plan".to_owned(),
    }
}

/// One fault of an input, with the place it is at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer into the input.
    pub pointer: String,
    pub message: String,
}

fn first(faults: &Faults) -> String {
    faults.faults.first().map(ToString::to_string).unwrap_or_default()
}

fn violations(all: &[Violation]) -> String {
    let lines: Vec<String> = all
        .iter()
        .map(|violation| match violation.pointer.as_str() {
            "" => violation.message.clone(),
            pointer => format!("at `{pointer}`: {}", violation.message),
        })
        .collect();
    lines.join("; ")
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none deployed yet".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy => Self::Busy("write queue"),
            StoreError::Closed => Self::ShuttingDown,
            StoreError::Repeated => Self::Repeated,
            StoreError::Unreachable(_) | StoreError::Full(_) => Self::Unavailable(error),
            StoreError::Unstorable(_) | StoreError::TooMany { .. } | StoreError::TooManyPushes { .. } => {
                Self::Invalid(error.to_string())
            }
            StoreError::LastKey { what } => Self::LastKey(what),
            StoreError::IssuerTaken(name) => Self::Exists { what: "issuer", name },
            StoreError::AliasTaken(name) => Self::Exists { what: "task", name },
            StoreError::NoRoom { limit, most } => Self::LimitReached(Reached { limit, most, retry_after: None }),
            StoreError::SlugTaken(slug) => Self::Exists { what: "tenant", name: slug.to_string() },
            error => Self::Internal(Box::new(error)),
        }
    }
}

impl From<RuntimeError> for EngineError {
    fn from(error: RuntimeError) -> Self {
        if error.is_busy() { Self::Busy("compile queue") } else { Self::Internal(Box::new(error)) }
    }
}

impl From<PrepareError> for EngineError {
    fn from(error: PrepareError) -> Self {
        match error {
            PrepareError::Starved => Self::Busy("compiler"),
            PrepareError::Crowded => Self::Busy("compile queue"),
            error if error.is_callers() => Self::NotDeployable(error.to_string()),
            error => Self::Internal(Box::new(error)),
        }
    }
}
