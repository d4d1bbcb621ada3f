//! Everything that can go wrong in a client command, with the hint that belongs under it and the exit code.
//!
//! How it is printed is `report`'s business.

use std::path::PathBuf;

/// The server's own words about why it did not do what was asked.
#[derive(Debug, Clone, Default)]
pub struct Refusal {
    /// The HTTP status; 200 for an error of JSON-RPC.
    pub status: u16,
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
    /// Set when a task was made: then it is the task that failed, not the request.
    pub task: Option<String>,
    pub reason: Option<String>,
    /// The function's stack or stderr, when it was run and failed (`describe` at deploy).
    pub stack: Option<String>,
}

/// A task that ended without a result.
#[derive(Debug, Clone, Default)]
pub struct TaskEnd {
    pub skill: String,
    pub task: Option<String>,
    pub state: String,
    pub reason: Option<String>,
    /// The function's own word for it.
    pub code: Option<String>,
    pub message: String,
    /// The function's stack or stderr, where the key may see it.
    pub stack: Option<String>,
}

impl TaskEnd {
    fn sentence(&self) -> String {
        let (skill, state) = (&self.skill, if self.state.is_empty() { "failed" } else { &self.state });
        let happened = match state {
            "failed" => format!("`{skill}` failed"),
            other => format!("`{skill}` was {other}"),
        };
        let words: Vec<&str> = [&self.reason, &self.code].into_iter().flatten().map(String::as_str).collect();
        let reason = if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) };
        if self.message.is_empty() { happened + &reason } else { format!("{happened}: {}{reason}", self.message) }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("{message}")]
    Usage { message: String, hint: String },
    #[error("{message}")]
    Failed { message: String, hint: String },
    #[error("cannot read `{path}`")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("cannot reach the server at {url}")]
    Unreachable {
        url: String,
        #[source]
        source: reqwest::Error,
    },
    #[error("the server at {url} did not answer in time")]
    TimedOut { url: String },
    #[error("the server at {url} answered something unexpected")]
    Odd {
        url: String,
        #[source]
        source: serde_json::Error,
    },
    /// A definition with its faults: as text, and as the server tells them.
    #[error("{message}")]
    Faulty { message: String, faults: serde_json::Value },
    #[error("{}", .0.message)]
    Refused(Box<Refusal>),
    #[error("{}", .0.sentence())]
    Task(Box<TaskEnd>),
}

impl Problem {
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: hint.into() }
    }

    pub fn failed(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), hint: hint.into() }
    }

    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } => 2,
            Self::Task(_) => 3,
            _ => 1,
        }
    }

    /// For machines.
    pub fn code(&self) -> &str {
        match self {
            Self::Usage { .. } => "usage",
            Self::Failed { .. } => "failed",
            Self::Unreadable { .. } => "unreadable",
            Self::Unreachable { .. } => "unreachable",
            Self::TimedOut { .. } => "timed_out",
            Self::Odd { .. } => "unexpected_answer",
            Self::Faulty { .. } => "invalid_pipeline",
            Self::Refused(refusal) => &refusal.code,
            Self::Task(_) => "task_ended",
        }
    }

    /// Where in the function it happened.
    pub fn stack(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => refusal.stack.as_deref(),
            Self::Task(end) => end.stack.as_deref(),
            _ => None,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Usage { hint, .. } | Self::Failed { hint, .. } => Some(hint.clone()),
            Self::Unreadable { .. } => Some("check the path and its permissions".to_owned()),
            Self::Unreachable { .. } => Some("is it running? start one with `pleat dev`, or check --url".to_owned()),
            Self::TimedOut { .. } => Some("try again; `pleat tasks list` shows what is still running".to_owned()),
            Self::Odd { .. } => {
                Some("check that the URL is a Pleat server's control URL, of a version that fits this one".to_owned())
            }
            Self::Faulty { .. } => Some("nothing was changed; mend them and try again".to_owned()),
            Self::Refused(refusal) => refusal.hint.clone().or_else(|| hint_for(refusal.status).map(str::to_owned)),
            Self::Task(end) => {
                end.task.as_ref().map(|task| format!("`pleat logs --task {task}` shows what the function logged"))
            }
        }
    }
}

/// For answers that bring no hint of their own.
const fn hint_for(status: u16) -> Option<&'static str> {
    match status {
        401 => Some("pass a key with --key or PLEAT_KEY"),
        403 => Some("use a key that has the scope for this; `pleat keys list` shows what each key may do"),
        404 => Some("check the name and the tenant; `pleat list` shows what is deployed"),
        429 | 503 => Some("wait a moment and try again"),
        _ => None,
    }
}
