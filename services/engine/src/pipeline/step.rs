//! One attempt at one step: a call in the name of the run's caller, of the version that the run is bound to.

use std::sync::Arc;
use std::time::Duration;

use pleat_domain::{Door, Failure, Raw, Reason, SkillName, StepChange, StepPhase, Task, TaskId, TaskState, limits};
use pleat_pipelines::{Attempt, StepStart};
use pleat_policy::Action;
use time::OffsetDateTime;
use tokio::time::Instant;

use super::drive::{Driver, change};
use super::journal;
use crate::calling::value_of;
use crate::catalog::Callable;
use crate::engine::authorize;
use crate::error::EngineError;
use crate::hub::Interrupt;
use crate::invoke::{Invocation, Origin, StepOrigin};

/// What became of an attempt.
pub(super) struct Ended {
    pub(super) attempt: Attempt,
    /// `None`: this node makes no calls any more.
    pub(super) outcome: Option<Result<Raw, Failure>>,
    pub(super) change: StepChange,
    /// Its stream, which was the run's, was all it had to say.
    pub(super) spoke: bool,
}

impl Driver {
    pub(super) async fn step(self: Arc<Self>, start: StepStart) -> Ended {
        self.wait_for(start.not_before).await;
        let started = Instant::now();
        let attempt = start.attempt.clone();
        let onward = self.streams(&attempt);
        let called = match self.pending.get(&attempt.label()) {
            Some(begun) => self.join(*begun).await,
            None => self.call(start, onward).await,
        };
        let (task, outcome) = match called {
            Ok(task) => (Some(Arc::clone(&task)), Some(self.outcome(&task).await)),
            Err(EngineError::ShuttingDown | EngineError::OutOfTouch) => (None, None),
            Err(error) => (None, Some(Err(refusal(error)))),
        };
        let failure = outcome.as_ref().and_then(|outcome| outcome.as_ref().err());
        let phase = if failure.is_some() { StepPhase::Failed } else { StepPhase::Finished };
        let change = StepChange {
            task: task.as_ref().map(|task| task.id),
            duration_ms: u64::try_from(started.elapsed().as_millis()).ok(),
            code: failure.map(|failure| failure.code.clone().unwrap_or_else(|| failure.reason.as_str().to_owned())),
            ..change(&attempt, phase)
        };
        let spoke = onward && self.sink.has_artifacts() && task.is_some_and(|task| has_no_result(&task));
        Ended { attempt, outcome, change, spoke }
    }

    async fn wait_for(&self, moment: Option<OffsetDateTime>) {
        let Some(moment) = moment else { return };
        let wait = Duration::try_from(moment - OffsetDateTime::now_utc()).unwrap_or_default();
        let _ = tokio::time::timeout(wait, self.stop.cancelled()).await;
    }

    /// Whether what it says is what the run says. With several tries nobody is shown half of a failed one.
    fn streams(&self, attempt: &Attempt) -> bool {
        let once = self.plan.step(&attempt.step).is_some_and(|step| step.retry.attempts == 1);
        once && self.plan.is_final(&attempt.step)
    }

    async fn call(&self, start: StepStart, onward: bool) -> Result<Arc<Task>, EngineError> {
        let StepStart { attempt, input, .. } = start;
        let step = self.plan.step(&attempt.step);
        let name = step.and_then(|step| step.call.skill()).unwrap_or_default();
        let skill = self.callable(&name).await?;
        let invocation = Invocation {
            tenant: Arc::clone(&self.tenant),
            principal: self.standing.principal.clone(),
            skill,
            input,
            message: None,
            context: Some(self.context.clone()),
            alias: None,
            once: None,
            push: None,
            door: Door::Pipeline,
        };
        let origin = StepOrigin {
            label: attempt.label(),
            pins: Arc::clone(&self.pins),
            onward: onward.then(|| Arc::clone(&self.sink)),
        };
        let origin = Origin { parent: self.run, depth: self.standing.depth + 1, step: Some(origin) };
        let timeout = step.and_then(|step| step.timeout);
        self.engine.call_child(invocation, origin, self.stopped(timeout)).await
    }

    /// The version that the run is bound to, if its caller may call it now.
    async fn callable(&self, name: &str) -> Result<Callable, EngineError> {
        if self.standing.depth >= limits::CALL_DEPTH {
            return Err(EngineError::Invalid("the calls are nested too deeply".to_owned()));
        }
        let unknown = || EngineError::UnknownSkill(name.to_owned());
        let version = self.pins.get(name).copied().ok_or_else(unknown)?;
        let parsed = SkillName::parse_skill(name).map_err(|_| unknown())?;
        let skill = self.engine.skill_version(&self.tenant, &parsed, version).await?;
        authorize(&self.standing.principal, Action::Invoke(skill.grants.visibility), unknown())?;
        Ok(Callable(skill))
    }

    /// Why the call has to end before it does by itself.
    async fn stopped(&self, timeout: Option<Duration>) -> Interrupt {
        let out_of_time = async {
            match timeout {
                Some(timeout) => tokio::time::sleep(timeout).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.stop.cancelled() => match self.live.interrupted() {
                Some(cause @ (Interrupt::Shutdown | Interrupt::HandedBack | Interrupt::Fenced)) => cause,
                _ => Interrupt::Canceled,
            },
            () = out_of_time => Interrupt::TimedOut,
        }
    }

    /// Waits for an attempt that began before the run came to this node: an inner run goes on by itself wherever it is
    /// taken over, and anything else is recorded as lost.
    async fn join(&self, begun: TaskId) -> Result<Arc<Task>, EngineError> {
        let settled = self.engine.settled(self.tenant.id, begun);
        tokio::pin!(settled);
        tokio::select! {
            biased;
            task = &mut settled => task,
            cause = self.stopped(None) => {
                if cause == Interrupt::Canceled {
                    self.engine.tenant_store(&self.tenant).request_cancel(begun).await?;
                }
                settled.await
            }
        }
    }

    async fn outcome(&self, task: &Task) -> Result<Raw, Failure> {
        match task.state {
            TaskState::Completed => Ok(value_of(task)),
            TaskState::InputRequired | TaskState::AuthRequired => {
                self.engine.end_question(&self.tenant, task).await;
                let prompt = task.ask.as_ref().map(|ask| ask.prompt.clone()).unwrap_or_default();
                Err(failed(task.state.as_str(), format!("it asks, and nobody can answer: {prompt}")))
            }
            _ => Err(journal::failure_of(task)),
        }
    }
}

/// What it delivered is what it streamed.
fn has_no_result(task: &Task) -> bool {
    let name = task.skill.as_ref().map(|skill| format!("{skill}-result"));
    task.artifacts.iter().all(|artifact| Some(&artifact.name) != name.as_ref())
}

fn failed(code: &str, message: String) -> Failure {
    Failure { code: Some(code.to_owned()), ..Failure::new(Reason::FunctionError, message) }
}

/// What was refused before it ran.
fn refusal(error: EngineError) -> Failure {
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
