//! The hook bus: `pre-verb`, `post-verb` and `verb-error` around every invocation of every kind.
//!
//! A denied pre-verb stops the call before anything runs. This is where guardrails, metering and the bridge to
//! external agents stand; the bus itself decides nothing.

use std::sync::Arc;

use pleat_domain::{Failure, Raw, Task};
use time::OffsetDateTime;

/// One event of the bus. The fields are those that the bridge to external agents reports.
#[derive(Debug, Clone)]
pub struct VerbEvent<'a> {
    /// The canonical name of the skill, also when an alias was called.
    pub verb: &'a str,
    pub legacy_alias: Option<&'a str>,
    pub tenant: &'a str,
    /// Set when the target is an external agent.
    pub agent_card_id: Option<&'a str>,
    pub agent_url: Option<&'a str>,
    pub skill_id: &'a str,
    pub session_id: &'a str,
    pub caller: &'a str,
    pub args: &'a Raw,
    pub emitted_at: OffsetDateTime,
}

/// How a verb ended.
#[derive(Debug, Clone)]
pub struct VerbOutcome<'a> {
    pub task: &'a Task,
    pub duration: std::time::Duration,
}

/// A hook's refusal, in words for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied(pub String);

pub trait Hook: Send + Sync {
    /// Before the record is made and the guest runs.
    fn before(&self, event: &VerbEvent<'_>) -> Result<(), Denied>;
    /// After the outcome is decided and before it is recorded or leaves. May still refuse it.
    fn after(&self, event: &VerbEvent<'_>, outcome: &VerbOutcome<'_>) -> Result<(), Denied>;
    /// After that, where there is no result: the task failed, was rejected, or a hook refused what came out of it.
    fn error(&self, event: &VerbEvent<'_>, failure: &Failure) {
        let _ = (event, failure);
    }
}

/// The hooks of a platform, in order. The first denial wins.
#[derive(Clone, Default)]
pub(crate) struct Hooks(Vec<Arc<dyn Hook>>);

impl Hooks {
    pub(crate) fn new(hooks: Vec<Arc<dyn Hook>>) -> Self {
        Self(hooks)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn before(&self, event: &VerbEvent<'_>) -> Result<(), Denied> {
        self.0.iter().try_for_each(|hook| hook.before(event))
    }

    pub(crate) fn after(&self, event: &VerbEvent<'_>, outcome: &VerbOutcome<'_>) -> Result<(), Denied> {
        self.0.iter().try_for_each(|hook| hook.after(event, outcome))
    }

    pub(crate) fn error(&self, event: &VerbEvent<'_>, failure: &Failure) {
        self.0.iter().for_each(|hook| hook.error(event, failure));
    }
}
