//! Running the end of a finished run again: what came before a chosen step is copied, the rest is called anew.

use std::sync::Arc;

use futures::future::try_join_all;
use pleat_domain::{Door, Principal, RunRecord, SkillName, Task, TaskId, TaskState, Tenant};
use pleat_pipelines::{CannotReplay, StepId};
use pleat_policy::Action;
use pleat_store::{Change, Commit};

use super::{Pins, journal};
use crate::catalog::Callable;
use crate::engine::{Engine, authorize};
use crate::error::EngineError;
use crate::invoke::Invocation;
use crate::run::Run;

impl Engine {
    /// A new run of the same versions with the same input. It is recorded when this returns, and goes on by itself.
    pub async fn replay(
        &self,
        tenant: &Arc<Tenant>,
        principal: &Principal,
        id: &str,
        from: &str,
    ) -> Result<Arc<Task>, EngineError> {
        authorize(principal, Action::Deploy, EngineError::TaskNotFound)?;
        let old = self.tenant_task(tenant, principal, id).await?;
        let (Some(name), Some(record)) = (&old.skill, &old.run) else {
            return Err(EngineError::Invalid("only a run of a pipeline can be replayed".to_owned()));
        };
        if !old.state.is_terminal() {
            return Err(EngineError::NotContinuable(old.state.as_str()));
        }
        self.none_archived(tenant, name, &record.pins).await?;
        let skill = self.skill_version(tenant, name, old.version).await?;
        authorize(principal, Action::Invoke(skill.grants.visibility), EngineError::TaskNotFound)?;
        let steps = self.kept_steps(tenant, &old, &skill, from).await?;
        let invocation = Box::new(Invocation {
            tenant: Arc::clone(tenant),
            principal: principal.clone(),
            skill: Callable(skill),
            input: old.input.clone(),
            message: None,
            context: Some(old.context.clone()),
            alias: None,
            once: None,
            push: None,
            door: Door::Control,
        });
        let mut run = self.admit(invocation, None).await?;
        let pins = record.pins.clone();
        let record = RunRecord { pins, replay_of: Some(old.id), from: Some(from.to_owned()), skipped: Vec::new() };
        run.task_mut().run = Some(Box::new(record));
        run.begun = self.copy_steps(tenant, run.task(), steps).await?;
        let recorded = self.spawn(run.span(), Run::start(run)).await?;
        Ok(Arc::clone(recorded.task()))
    }

    /// What is archived is refused everywhere, also where a run was bound to one of its versions.
    async fn none_archived(&self, tenant: &Tenant, name: &SkillName, pins: &Pins) -> Result<(), EngineError> {
        let catalog = self.catalog(tenant).await?;
        let called = pins.keys().filter_map(|name| SkillName::parse_skill(name).ok());
        let mut all = std::iter::once(name.clone()).chain(called).filter(|skill| skill.as_pipeline().is_some());
        let archived = all.find(|skill| catalog.runnable(skill).is_none());
        let bare = archived.as_ref().and_then(SkillName::as_pipeline).map(str::to_owned);
        bare.map_or(Ok(()), |name| Err(EngineError::Archived(name)))
    }

    /// The steps of the old run that the new one takes over.
    async fn kept_steps(
        &self,
        tenant: &Tenant,
        old: &Task,
        skill: &crate::catalog::Skill,
        from: &str,
    ) -> Result<Vec<Task>, EngineError> {
        let pipeline = skill.pipeline().ok_or_else(|| EngineError::UnknownSkill(skill.name.to_string()))?;
        let from = StepId::parse(from).map_err(|_| EngineError::NotFound { what: "step", name: from.to_owned() })?;
        let steps = self.tenant_store(tenant).steps_of(old.id).await?;
        let (plan, entries) = (Arc::clone(&pipeline.plan), journal::entries(&steps));
        let replayed = pleat_pipelines::Run::replay(plan, old.input.clone(), entries, &from);
        let mut replayed = replayed.map_err(|error| match error {
            CannotReplay::Journal(fault) => EngineError::Internal(Box::new(fault)),
            error => EngineError::CannotReplay(error),
        })?;
        let kept: Vec<String> = replayed.take_journal().iter().map(|entry| entry.attempt.label()).collect();
        let is_kept = |step: &Task| step.step.as_ref().is_some_and(|label| kept.contains(label));
        Ok(steps.into_iter().filter(|step| step.state != TaskState::Canceled && is_kept(step)).collect())
    }

    /// Written before the run itself: should it be taken over, they are its journal.
    async fn copy_steps(&self, tenant: &Tenant, run: &Task, steps: Vec<Task>) -> Result<Vec<Task>, EngineError> {
        let copies: Vec<Arc<Task>> = steps.into_iter().map(|step| Arc::new(copy(run, step))).collect();
        let writes = copies.iter().map(|copy| {
            self.inner.store.writer().commit(Commit {
                tenant: tenant.id,
                task: Arc::clone(copy),
                change: Change::Insert,
                held: None,
                events: Vec::new(),
                logs: Vec::new(),
                log_seq: 0,
                once: None,
                push: None,
            })
        });
        try_join_all(writes).await?;
        Ok(copies.into_iter().map(Arc::unwrap_or_clone).collect())
    }
}

/// It was not called again, and cost nothing.
fn copy(run: &Task, step: Task) -> Task {
    Task {
        id: TaskId::new(),
        parent: Some(run.id),
        caller: run.caller.clone(),
        context: run.context.clone(),
        run: None,
        last_seq: 0,
        cpu_us: 0,
        wall_us: 0,
        ..step
    }
}
