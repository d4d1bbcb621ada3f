//! The hook bus: `pre-verb`, `post-verb` and `verb-error` around every invocation of every kind.
//!
//! A denied pre-verb stops the call before anything runs. Metering and the dispatch log are subscribers, behind those
//! that an operator gives, so that they see what became of a call in the end; the bus itself decides nothing.

use std::sync::Arc;
use std::time::Duration;

use pleat_domain::{Artifact, Failure, Raw, Reason, SkillName, Task, TaskId, TaskState, Tenant};
use time::OffsetDateTime;

/// One event of the bus. The fields are those that the bridge to external agents reports.
#[derive(Debug, Clone)]
pub struct VerbEvent<'a> {
    /// The canonical name of the skill, also when an alias was called.
    pub verb: &'a SkillName,
    pub legacy_alias: Option<&'a str>,
    pub tenant: &'a Tenant,
    /// Set when the target is an external agent.
    pub agent_card_id: Option<&'a str>,
    pub agent_url: Option<&'a str>,
    pub skill_id: &'a str,
    pub session_id: &'a str,
    pub task: TaskId,
    pub caller: &'a str,
    pub args: &'a Raw,
    /// When this very event was.
    pub emitted_at: OffsetDateTime,
}

impl<'a> VerbEvent<'a> {
    /// An event of a task of this platform, now.
    pub(crate) fn of(tenant: &'a Tenant, verb: &'a SkillName, task: &'a Task) -> Self {
        Self {
            verb,
            legacy_alias: None,
            tenant,
            agent_card_id: None,
            agent_url: None,
            skill_id: verb.as_str(),
            session_id: task.context.as_str(),
            task: task.id,
            caller: task.caller.as_str(),
            args: &task.input,
            emitted_at: OffsetDateTime::now_utc(),
        }
    }
}

/// How a verb ended.
#[derive(Debug, Clone, Copy)]
pub struct VerbOutcome<'a> {
    pub outcome: TaskState,
    pub failure: Option<&'a Failure>,
    /// What was put out on the way.
    pub artifacts: &'a [Artifact],
    pub result: Option<&'a Artifact>,
    pub duration: Duration,
    pub cpu: Duration,
}

impl VerbOutcome<'_> {
    /// The bytes that were delivered.
    pub fn output_bytes(&self) -> usize {
        self.artifacts.iter().chain(self.result).map(size_of).sum()
    }
}

/// A hook's refusal, in words for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied(pub String);

pub trait Hook: Send + Sync {
    /// Before the record is made and the guest runs.
    fn before(&self, event: &VerbEvent<'_>) -> Result<(), Denied> {
        let _ = event;
        Ok(())
    }

    /// After the outcome is decided and before it is recorded or leaves. May still refuse it: for the hooks behind this
    /// one it has failed then.
    fn after(&self, event: &VerbEvent<'_>, outcome: &VerbOutcome<'_>) -> Result<(), Denied> {
        let _ = (event, outcome);
        Ok(())
    }

    /// Where there is no result: a hook refused the call or what came out of it, the task failed, or was rejected.
    fn error(&self, event: &VerbEvent<'_>, failure: &Failure) {
        let _ = (event, failure);
    }
}

/// The hooks of a platform, in order. The first denial wins.
#[derive(Clone, Default)]
pub struct Hooks(Vec<Arc<dyn Hook>>);

impl Hooks {
    pub(crate) fn new(hooks: Vec<Arc<dyn Hook>>) -> Self {
        Self(hooks)
    }

    /// Tells of a call that is to be made. The failure: it may not be, and that was told too.
    pub fn before(&self, event: &VerbEvent<'_>) -> Result<(), Denied> {
        let asked = self.0.iter().try_for_each(|hook| hook.before(event));
        if let Err(Denied(reason)) = &asked {
            self.error(event, &Failure::new(Reason::Blocked, reason.clone()));
        }
        asked
    }

    /// Tells of the outcome, and of the failure if it is one. Gives the failure that a hook has made of it.
    pub fn after(&self, event: &VerbEvent<'_>, outcome: VerbOutcome<'_>) -> Option<Failure> {
        let mut refused: Option<Failure> = None;
        for hook in &self.0 {
            let seen = match &refused {
                Some(failure) => {
                    VerbOutcome { outcome: TaskState::Failed, failure: Some(failure), result: None, ..outcome }
                }
                None => outcome,
            };
            if let Err(Denied(reason)) = hook.after(event, &seen)
                && refused.is_none()
            {
                refused = Some(Failure::new(Reason::Blocked, reason));
            }
        }
        if let Some(failure) = refused.as_ref().or(outcome.failure) {
            self.error(event, failure);
        }
        refused
    }

    fn error(&self, event: &VerbEvent<'_>, failure: &Failure) {
        let event = VerbEvent { emitted_at: OffsetDateTime::now_utc(), ..event.clone() };
        self.0.iter().for_each(|hook| hook.error(&event, failure));
    }
}

/// What a caller is given of it, roughly: its value, or else its blocks.
fn size_of(artifact: &Artifact) -> usize {
    match &artifact.value {
        Some(value) => value.get().len(),
        None => serde_json::to_string(&artifact.blocks).map_or(0, |text| text.len()),
    }
}
