//! One attempt at one step: a call in the name of the run's caller, of the version that the run is bound to.

use std::sync::Arc;
use std::time::Duration;

use pleat_domain::{Door, Failure, Raw, SkillName, StepChange, StepPhase, Task, TaskId, TaskState, limits};
use pleat_pipelines::{Attempt, StepStart};
use pleat_policy::Action;
use time::OffsetDateTime;
use tokio::time::Instant;

use super::drive::{Driver, change};
use super::journal::{self, Begun};
use super::refused::{Refused, refusal};
use crate::calling::value_of;
use crate::catalog::{Callable, Target};
use crate::engine::authorize;
use crate::error::EngineError;
use crate::hub::Interrupt;
use crate::invoke::{Invocation, Origin, StepOrigin};
use crate::outcome::Ending;
use crate::sink::Emitted;

/// How long a database that is away is left alone before it is asked again.
const UNAVAILABLE_PAUSE: Duration = Duration::from_millis(200);

/// What became of an attempt.
pub(super) struct Ended {
    pub(super) attempt: Attempt,
    /// `None`: this node makes no calls any more, or the run makes none.
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
            Some(begun) => self.join(&attempt, *begun).await,
            None => self.call(start, onward).await,
        };
        let (task, outcome) = match called {
            Ok(task) => (Some(Arc::clone(&task)), Some(outcome(&task))),
            Err(EngineError::ShuttingDown | EngineError::OutOfTouch) => (None, None),
            Err(_) if self.stop.is_cancelled() => (None, None),
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
        task.iter().for_each(|task| self.sink.warn(task.warnings()));
        let spoke = onward && self.sink.emitted() != Emitted::Nothing && task.is_some_and(|task| has_no_result(&task));
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
        let id = TaskId::new();
        let refused = |skill, input| Refused { id, attempt: &attempt, name: &name, skill, input };
        let skill = match self.callable_soon(&name).await {
            Ok(skill) => skill,
            Err(error) => return self.refused(refused(None, input), error).await,
        };
        let invocation = Box::new(Invocation {
            tenant: Arc::clone(&self.tenant),
            principal: self.standing.principal.clone(),
            skill: skill.clone(),
            input: input.clone(),
            message: None,
            context: Some(self.context.clone()),
            alias: None,
            once: None,
            push: None,
            door: Door::Pipeline,
        });
        let origin = StepOrigin {
            id,
            pins: Arc::clone(&self.pins),
            numbers: self.numbers.clone(),
            onward: onward.then(|| Arc::clone(&self.sink)),
        };
        let (label, depth) = (Some(attempt.label()), self.standing.depth + 1);
        let origin = Origin { parent: self.run, depth, label, step: Some(origin) };
        let timeout = step.and_then(|step| step.timeout);
        let admitted = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Err(EngineError::ShuttingDown),
            admitted = self.engine.admit(invocation, Some(origin)) => admitted,
        };
        match admitted {
            Ok(run) => self.engine.run_child(run, self.stopped(timeout)).await,
            Err(error) => self.refused(refused(Some(&skill.0), input), error).await,
        }
    }

    /// What to call, as soon as the database can be asked: a step does not fail because it could not be begun.
    async fn callable_soon(&self, name: &str) -> Result<Callable, EngineError> {
        loop {
            match self.callable(name).await {
                Err(EngineError::Unavailable(error)) => {
                    tracing::debug!(task.id = %self.run, error = &error as &dyn std::error::Error, "a step waits");
                }
                other => return other,
            }
            if tokio::time::timeout(UNAVAILABLE_PAUSE, self.stop.cancelled()).await.is_ok() {
                return Err(EngineError::ShuttingDown);
            }
        }
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
        if let Target::Function(code) = &skill.target
            && let Err(error @ EngineError::Unavailable(_)) = self.engine.load(self.tenant.id, code).await
        {
            return Err(error);
        }
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
    async fn join(&self, attempt: &Attempt, begun: Begun) -> Result<Arc<Task>, EngineError> {
        let timeout = self.plan.step(&attempt.step).and_then(|step| step.timeout);
        let gone = Duration::try_from(OffsetDateTime::now_utc() - begun.at).unwrap_or_default();
        let left = timeout.map(|timeout| timeout.saturating_sub(gone));
        let settled = self.engine.settled(self.tenant.id, begun.task);
        tokio::pin!(settled);
        tokio::select! {
            biased;
            task = &mut settled => task,
            cause = self.stopped(left) => match cause {
                Interrupt::Canceled => self.engine.stop_child(&self.tenant, begun.task, cause).await.map(Arc::new),
                Interrupt::TimedOut => {
                    let task = self.engine.stop_child(&self.tenant, begun.task, cause).await?;
                    Ok(Arc::new(timed_out(task)))
                }
                _ => settled.await,
            }
        }
    }
}

#[expect(clippy::result_large_err, reason = "what the machine of a run takes, once for each step")]
fn outcome(task: &Task) -> Result<Raw, Failure> {
    if task.state == TaskState::Completed { Ok(value_of(task)) } else { Err(journal::failure_of(task)) }
}

/// A run that was stopped on another node does not know why.
fn timed_out(task: Task) -> Task {
    if task.state != TaskState::Canceled {
        return task;
    }
    let failure = Ending::out_of_time(task.skill.as_ref().map_or("", SkillName::as_str)).failure;
    Task { state: TaskState::Failed, failure, ..task }
}

/// What it delivered is what it streamed.
fn has_no_result(task: &Task) -> bool {
    let name = task.skill.as_ref().map(|skill| format!("{skill}-result"));
    task.artifacts.iter().all(|artifact| Some(&artifact.name) != name.as_ref())
}
