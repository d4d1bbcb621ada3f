//! What becomes of the tasks that a lost node left: they run here, or they end with the reason.
//!
//! A task keeps its id and its events; a subscriber sees `working` once more, and what follows.

use std::sync::Arc;
use std::time::Duration;

use pleat_domain::event::StatusChange;
use pleat_domain::{Door, Event, EventBody, Failure, Principal, Reason, Task, TaskId, TaskState, Tenant};
use pleat_store::{Change, Claimed, Commit, Written};
use time::OffsetDateTime;

use crate::catalog::Skill;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::guarding::Watch;
use crate::hooks::{VerbEvent, VerbOutcome};
use crate::outcome::Ending;
use crate::reach::Standing;
use crate::run::{Admitted, Run};

/// How often a function that may run again is tried, the first time included.
const MOST_ATTEMPTS: i16 = 3;

/// The old owner's last events may still arrive while a task is claimed: then the place to go on is looked up again.
const TRIES: usize = 5;
const PAUSE: Duration = Duration::from_secs(1);

/// What a run needs.
struct Means {
    tenant: Arc<Tenant>,
    skill: Arc<Skill>,
    /// In whose name.
    principal: Principal,
    /// How often it was tried before.
    attempt: i16,
    /// Of a run of a pipeline: the steps that are recorded.
    begun: Vec<Task>,
}

impl Engine {
    /// Takes over everything that nobody holds any more.
    pub(crate) async fn rescue(&self) -> Result<(), EngineError> {
        while self.open_for_work().is_ok() {
            let claimed = self.inner.store.claim_lost().await?;
            if claimed.is_empty() {
                return Ok(());
            }
            tracing::warn!(tasks = claimed.len(), "tasks of a lost node were taken over");
            for claimed in claimed {
                let engine = self.clone();
                self.inner.tracker.spawn(async move { engine.take_over(claimed).await });
            }
        }
        Ok(())
    }

    async fn take_over(&self, mut claimed: Claimed) {
        let (tenant, id, given_back) = (claimed.tenant, claimed.task.id, claimed.given_back);
        for _ in 0..TRIES {
            let error = match self.decide(claimed).await {
                Ok(()) => return,
                Err(error) => error,
            };
            match self.inner.store.claim_again(tenant, id).await {
                Ok(Some(again)) => claimed = Claimed { given_back, ..again },
                Ok(None) => return,
                Err(_) => {
                    tracing::warn!(task.id = %id, error = &error as &dyn std::error::Error, "a task was not taken over");
                    break;
                }
            }
        }
        // At a limit, mostly. Not at once: another node would be at it too.
        tokio::time::sleep(PAUSE).await;
        self.give_back(tenant, id).await;
    }

    async fn decide(&self, claimed: Claimed) -> Result<(), EngineError> {
        if claimed.canceled {
            self.cancel_steps(&claimed).await?;
            return self.end_and_tell(claimed, Ending::plain(TaskState::Canceled)).await;
        }
        match self.able_to_run(&claimed).await? {
            Some(means) => self.run_again(claimed, means).await,
            None => {
                self.cancel_steps(&claimed).await?;
                let failure = Failure::new(Reason::NodeLost, "the node that ran this task was lost; send it again");
                self.end_and_tell(claimed, Ending::failed(failure)).await
            }
        }
    }

    /// Ends a call of which nobody else will tell the hooks how it ended.
    async fn end_and_tell(&self, claimed: Claimed, ending: Ending) -> Result<(), EngineError> {
        let tenant = claimed.tenant;
        let (outcome, failure) = (ending.state, ending.failure.clone());
        let task = self.end(claimed, ending).await?;
        if let (Some(skill), Some(tenant)) = (&task.skill, self.inner.store.key_tenant(tenant).await?) {
            let (failure, none) = (failure.as_ref(), Duration::ZERO);
            let outcome = VerbOutcome { outcome, failure, artifacts: &[], result: None, duration: none, cpu: none };
            self.inner.hooks.after(&VerbEvent::of(&tenant, skill, &task), outcome);
        }
        Ok(())
    }

    /// The steps of a run that end with it, wherever they are.
    async fn cancel_steps(&self, claimed: &Claimed) -> Result<(), EngineError> {
        if claimed.task.run.is_none() {
            return Ok(());
        }
        let store = self.inner.store.tenant(claimed.tenant);
        for step in store.steps_of(claimed.task.id).await? {
            if !step.state.is_terminal() {
                store.request_cancel(step.id).await?;
                // It may run here by now, and a node does not hear itself.
                self.inner.hub.cancel(&[step.id]);
            }
        }
        Ok(())
    }

    /// What has never run may run; what has may only if its function says that it does no harm. What another task
    /// called is that task's to call again. A run of a pipeline goes on behind its journal, also within another run.
    async fn able_to_run(&self, claimed: &Claimed) -> Result<Option<Means>, EngineError> {
        let task = &claimed.task;
        let Some(tenant) = self.inner.store.key_tenant(claimed.tenant).await? else { return Ok(None) };
        let Some(name) = &task.skill else { return Ok(None) };
        let skill = match self.skill_version(&tenant, name, task.version).await {
            Ok(skill) => skill,
            Err(EngineError::Unavailable(error)) => return Err(EngineError::Unavailable(error)),
            Err(_) => return Ok(None),
        };
        let mut begun = Vec::new();
        let mut attempt = task.attempt;
        if skill.pipeline().is_some() {
            let store = self.inner.store.tenant(claimed.tenant);
            begun = store.steps_of(task.id).await?;
            // Only attempts that came to nothing count: then it may be the run that brings nodes down.
            attempt -= i16::from(claimed.given_back);
            attempt = if store.moved_since(task.id, task.updated_at).await? { 0 } else { attempt };
        }
        let new = task.state == TaskState::Submitted;
        let again = (skill.pipeline().is_some() || skill.manifest.is_idempotent()) && attempt < MOST_ATTEMPTS;
        let called = task.parent.is_some() && !(skill.pipeline().is_some() && task.door == Door::Pipeline);
        if called || !(new || again) {
            return Ok(None);
        }
        let principal = self.principal_behind(&tenant, &task.caller).await?;
        Ok(principal.map(|principal| Means { tenant: Arc::new(tenant), skill, principal, attempt, begun }))
    }

    async fn run_again(&self, claimed: Claimed, means: Means) -> Result<(), EngineError> {
        let Means { tenant, skill, principal, attempt, begun } = means;
        let permit = self.enter(&tenant, &principal, &skill, &claimed.task.input).await?;
        if let Err(EngineError::Blocked(reason)) = self.ask_hooks(&VerbEvent::of(&tenant, &skill.name, &claimed.task)) {
            return self.end(claimed, Ending::failed(Failure::new(Reason::Blocked, reason))).await.map(drop);
        }
        let Claimed { mut task, kept, .. } = claimed;
        // Its input was looked at when it was sent.
        let watch = self.watch(&tenant, &skill.guard, task.guard.as_ref()).map(Watch::shared);
        let admitted = Admitted { permit, standing: Standing { principal, depth: 0 }, watch };
        let backlog = backlog(&task);
        if task.state == TaskState::Working {
            task.attempt = attempt + 1;
        }
        task.state = TaskState::Working;
        task.updated_at = OffsetDateTime::now_utc();
        tracing::info!(task.id = %task.id, attempt = task.attempt, "running a task again");
        let mut run = Run::new(self.clone(), tenant, skill, admitted, task, kept, backlog);
        run.begun = begun;
        let id = run.task().id;
        let (_, rest) = run.run_again().await?;
        self.honour_cancel(id).await;
        // Who has followed it from here finds it running here.
        self.inner.news.changed(&[id]);
        rest.await;
        Ok(())
    }

    /// A wish to cancel that came while the task was taken over has found it nowhere.
    async fn honour_cancel(&self, id: TaskId) {
        match self.inner.store.canceled_among(&[id]).await {
            Ok(canceled) => self.inner.hub.cancel(&canceled),
            Err(error) => {
                tracing::warn!(task.id = %id, error = &error as &dyn std::error::Error, "a cancel could not be looked for");
            }
        }
    }

    /// Records the end of a task that does not run here.
    async fn end(&self, claimed: Claimed, ending: Ending) -> Result<Arc<Task>, EngineError> {
        let mut task = claimed.task;
        let id = task.id;
        let mut events = backlog(&task);
        task.state = ending.state;
        task.failure = ending.failure.clone();
        task.updated_at = OffsetDateTime::now_utc();
        let last = StatusChange { failure: ending.failure, ..StatusChange::to(ending.state) };
        let seq = events.last().map_or(task.last_seq, |event| event.seq) + 1;
        events.push(Event { seq, at: task.updated_at, body: EventBody::Status(last) });
        task.last_seq = seq;
        let task = Arc::new(task);
        let commit = Commit {
            tenant: claimed.tenant,
            task: Arc::clone(&task),
            change: Change::Update,
            held: None,
            events,
            logs: Vec::new(),
            log_seq: 0,
            once: None,
            push: None,
        };
        match self.inner.store.writer().commit(commit).await? {
            Written::Done => {
                self.inner.news.changed(&[id]);
                Ok(task)
            }
            Written::Fenced => Err(EngineError::NotContinuable("held by another node")),
        }
    }
}

/// Events that its readers may have seen although they have no rows.
fn backlog(task: &Task) -> Vec<Event> {
    if task.last_seq == 0 { task.derived_events() } else { Vec::new() }
}
