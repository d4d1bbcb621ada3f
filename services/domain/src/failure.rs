//! Why a task failed, for machines (`reason`) and for people (`message`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The machine-readable reason. These words are a contract with callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The function said so itself; `Failure::code` is its own.
    FunctionError,
    CpuLimit,
    WallLimit,
    MemoryLimit,
    StackLimit,
    OutputLimit,
    /// It used the platform too often, or moved too much through it.
    HostCallLimit,
    /// The guest trapped: a panic, an abort, an access outside its memory.
    Trap,
    /// The guest ended its process instead of returning.
    Exit,
    /// What it returned is not what the contract says.
    BadOutput,
    /// No instance slot was free.
    Busy,
    NodeLost,
    Expired,
    /// A guardrail or another hook refused the outcome.
    Blocked,
    /// Ours, not the function's.
    Internal,
}

impl Reason {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FunctionError => "function_error",
            Self::CpuLimit => "cpu_limit",
            Self::WallLimit => "wall_limit",
            Self::MemoryLimit => "memory_limit",
            Self::StackLimit => "stack_limit",
            Self::OutputLimit => "output_limit",
            Self::HostCallLimit => "host_call_limit",
            Self::Trap => "trap",
            Self::Exit => "exit",
            Self::BadOutput => "bad_output",
            Self::Busy => "busy",
            Self::NodeLost => "node_lost",
            Self::Expired => "expired",
            Self::Blocked => "blocked",
            Self::Internal => "internal",
        }
    }
}

/// A failure as it is kept with the task. `message` is fit for the caller; `detail` (a stack trace, the guest's
/// stderr) is for the owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub reason: Reason,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    pub message: String,
    #[serde(default)]
    pub retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub details: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

impl Failure {
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        let retryable = matches!(reason, Reason::Busy | Reason::NodeLost);
        Self { reason, code: None, message: message.into(), retryable, details: None, detail: None }
    }

    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        self.detail = (!detail.is_empty()).then_some(detail);
        self
    }
}
