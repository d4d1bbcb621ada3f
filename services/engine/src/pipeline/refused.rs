//! Attempts that were refused before they ran. They have failed like any other: each has its row, so that a trace shows
//! it, a journal has it, and what guardrails found in it has a task to be found under.

use std::sync::Arc;

use pleat_domain::task::GuardNotes;
use pleat_domain::{Door, Failure, Raw, Reason, SkillName, Task, TaskId, TaskState, json};
use pleat_pipelines::Attempt;
use pleat_store::{Change, Commit, Written};
use time::OffsetDateTime;

use super::drive::Driver;
use crate::catalog::Skill;
use crate::error::EngineError;
use crate::findings::Circumstances;

/// What was to be called.
pub(super) struct Refused<'a> {
    pub(super) id: TaskId,
    pub(super) attempt: &'a Attempt,
    pub(super) name: &'a str,
    /// `None`: there is none that the caller could call, and nobody to say what of its input may be kept.
    pub(super) skill: Option<&'a Skill>,
    pub(super) input: Raw,
}

/// What may be kept of it.
struct Kept {
    input: Raw,
    failure: Failure,
    guard: Option<GuardNotes>,
}

impl Driver {
    /// Its record. A node that takes no work has refused nothing: the attempt is another one's to make.
    pub(super) async fn refused(&self, refused: Refused<'_>, error: EngineError) -> Result<Arc<Task>, EngineError> {
        if matches!(error, EngineError::ShuttingDown | EngineError::OutOfTouch) {
            return Err(error);
        }
        let guarded = matches!(error, EngineError::Guarded(_));
        let kept = self.kept(&refused, guarded, refusal(error));
        let task = Arc::new(self.failed_step(&refused, kept));
        let commit = Commit {
            tenant: self.tenant.id,
            task: Arc::clone(&task),
            change: Change::Step,
            held: None,
            events: Vec::new(),
            logs: Vec::new(),
            log_seq: 0,
            once: None,
            push: None,
        };
        match self.engine.write(&self.live, commit).await? {
            Written::Done => Ok(task),
            Written::Fenced => Err(EngineError::OutOfTouch),
        }
    }

    /// Nothing is kept that the guardrails of the skill would not have let in, and nothing of what they blocked.
    fn kept(&self, refused: &Refused<'_>, guarded: bool, mut failure: Failure) -> Kept {
        let Some(skill) = refused.skill.filter(|_| !guarded) else {
            return Kept { input: json::raw(&()), failure, guard: None };
        };
        let mut input = refused.input.clone();
        let Some(mut watch) = self.engine.watch(&self.tenant, &skill.guard, None) else {
            return Kept { input, failure, guard: None };
        };
        watch.number_with(&self.numbers);
        let caller = self.standing.principal.caller();
        let of = Circumstances {
            tenant: &self.tenant,
            task: Some(refused.id),
            skill: refused.name,
            caller: &caller,
            door: Door::Pipeline,
        };
        if watch.input(&mut input, None).is_err() {
            input = json::raw(&());
        }
        // A fault of an input may quote it.
        if let Err(by) = watch.words(None, Some(&mut failure)) {
            failure = by.failure();
        }
        self.engine.inner.findings.add(&of, watch.take_noted());
        Kept { input, failure, guard: watch.notes() }
    }

    fn failed_step(&self, refused: &Refused<'_>, kept: Kept) -> Task {
        let now = OffsetDateTime::now_utc();
        Task {
            id: refused.id,
            skill: SkillName::parse_skill(refused.name).ok(),
            version: self.pins.get(refused.name).copied().unwrap_or(0),
            context: self.context.clone(),
            parent: Some(self.run),
            step: Some(refused.attempt.label()),
            run: None,
            caller: self.standing.principal.caller(),
            door: Door::Pipeline,
            alias: None,
            state: TaskState::Failed,
            failure: Some(kept.failure),
            ask: None,
            input: kept.input,
            history: Vec::new(),
            artifacts: Vec::new(),
            guard: kept.guard,
            attempt: 1,
            turn: 1,
            last_seq: 0,
            cpu_us: 0,
            wall_us: 0,
            created_at: now,
            updated_at: now,
        }
    }
}

/// Why the attempt has failed.
pub(super) fn refusal(error: EngineError) -> Failure {
    let failed = |code: &str, message: String| Failure {
        code: Some(code.to_owned()),
        ..Failure::new(Reason::FunctionError, message)
    };
    let message = error.to_string();
    match error {
        EngineError::UnknownSkill(_) => failed("unknown_skill", message),
        EngineError::Unauthenticated | EngineError::Forbidden(_) => {
            failed("forbidden", "the caller may not call this skill".to_owned())
        }
        EngineError::InvalidInput(_) => failed("invalid_input", message),
        EngineError::Invalid(_) => failed("too_deep", message),
        EngineError::Guarded(check) => {
            Failure { code: Some(check.to_owned()), ..Failure::new(Reason::Blocked, message) }
        }
        EngineError::Blocked(reason) => Failure::new(Reason::Blocked, reason),
        EngineError::LimitReached(_) | EngineError::Busy(_) | EngineError::Unavailable(_) => {
            Failure::new(Reason::Busy, message)
        }
        error => {
            tracing::error!(error = &error as &dyn std::error::Error, "a step could not be called");
            Failure::new(Reason::Internal, "the step could not be called")
        }
    }
}
