//! Tasks after they were made: get, follow, cancel, and the log lines of functions.

use std::time::Duration;

use pleat_domain::{Event, LogLevel, Principal, Role, SkillName, Task, TaskId, TaskState, Tenant};
use pleat_policy::Action;
use pleat_store::{FindingRow, LogFilter};
use time::OffsetDateTime;

use crate::engine::{Engine, authorize};
use crate::error::EngineError;
use crate::hub::{Interrupt, Live, Phase};
use crate::subscribe::{EventStream, PAGE, Until};

#[derive(Debug, Clone, Default)]
pub struct LogQuery {
    pub skill: Option<SkillName>,
    pub task: Option<TaskId>,
    pub after: Option<OffsetDateTime>,
    pub limit: u32,
}

#[derive(Debug)]
pub struct LogEntry {
    pub task: TaskId,
    /// The record of the task that the line is in: who follows leaves out the (task, record) it knows.
    pub record: u32,
    pub skill: SkillName,
    pub version: i32,
    pub at: OffsetDateTime,
    pub level: LogLevel,
    pub message: String,
}

#[derive(Debug)]
pub struct LogPage {
    pub entries: Vec<LogEntry>,
    /// When the newest of them was recorded: ask with `after` for what follows.
    pub newest: Option<OffsetDateTime>,
}

/// A task with what came of it.
#[derive(Debug)]
pub struct Trace {
    /// The task itself first.
    pub tasks: Vec<Task>,
    /// Oldest first.
    pub findings: Vec<FindingRow>,
    /// There is more than this of either.
    pub more: bool,
}

/// Tasks shown of one trace.
const TRACE: u32 = 2_000;

/// How long a cancel waits for the guest to be gone and the record to be written.
pub(crate) const CANCEL_PATIENCE: Duration = Duration::from_secs(5);

/// Records of several writers may be committed a little out of order: who follows is shown this much again.
const LOG_OVERLAP: Duration = Duration::from_secs(2);

impl Engine {
    /// A task of this tenant that this caller may see, by our id or by the id that the caller chose.
    pub async fn task(&self, tenant: &Tenant, principal: &Principal, id: &str) -> Result<Task, EngineError> {
        authorize(principal, Action::UseDoor, EngineError::TaskNotFound)?;
        let task = self.visible_task(tenant, principal, id).await?;
        // Who calls a pipeline sees the run, never its steps, nor what these call.
        if task.step.is_some() { Err(EngineError::TaskNotFound) } else { Ok(task) }
    }

    /// The same with everything that a function has said so far which still runs.
    pub async fn current_task(&self, tenant: &Tenant, principal: &Principal, id: &str) -> Result<Task, EngineError> {
        let task = self.task(tenant, principal, id).await?;
        if task.state.is_terminal() || task.state.is_interrupted() {
            return Ok(task);
        }
        self.snapshot(tenant, task).await
    }

    /// For the control API: any task of the tenant.
    pub async fn tenant_task(&self, tenant: &Tenant, principal: &Principal, id: &str) -> Result<Task, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::TaskNotFound)?;
        self.visible_task(tenant, principal, id).await
    }

    /// A task and all calls that came of it, oldest first, with what was found in them.
    pub async fn trace(&self, tenant: &Tenant, principal: &Principal, id: &str) -> Result<Trace, EngineError> {
        let task = self.tenant_task(tenant, principal, id).await?;
        let below = self.tenant_store(tenant).descendants(task.id, TRACE).await?;
        let mut tasks: Vec<Task> = std::iter::once(task).chain(below).collect();
        let cut = tasks.len() > TRACE as usize;
        tasks.truncate(TRACE as usize);
        let found = self.findings_of(tenant, principal, &tasks).await?;
        Ok(Trace { tasks, findings: found.findings, more: cut || found.more })
    }

    async fn visible_task(&self, tenant: &Tenant, principal: &Principal, id: &str) -> Result<Task, EngineError> {
        let store = self.tenant_store(tenant);
        let own = principal.caller();
        let id = match id.parse::<TaskId>() {
            Ok(id) => Some(id),
            // An id of the caller's own making. Nobody has none: such an id could be guessed.
            Err(_) if own.is_anonymous() => None,
            Err(_) => store.task_by_alias(&own, id).await?,
        };
        let id = id.ok_or(EngineError::TaskNotFound)?;
        let owner = (!principal.sees_all_tasks()).then_some(&own);
        let task = store.task(id, owner).await?.ok_or(EngineError::TaskNotFound)?;
        authorize(principal, Action::ReadTask(&task.caller), EngineError::TaskNotFound)?;
        Ok(task)
    }

    /// The task of an id that a client chose, if the caller has one of that name.
    pub async fn task_by_alias(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        alias: &str,
    ) -> Result<Option<Task>, EngineError> {
        match self.task(tenant, principal, alias).await {
            Ok(task) => Ok(Some(task)),
            Err(EngineError::TaskNotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The events of a task after a sequence number.
    pub fn events(&self, tenant: &Tenant, task: &Task, after: u32, until: Until) -> EventStream {
        self.follow(tenant.id, task.id, after, None, until)
    }

    /// A task as its events have made it by now: `last_seq` is that of the last one that is in it. The row of a task that
    /// runs lacks what the function has said since the turn began.
    pub async fn snapshot(&self, tenant: &Tenant, task: Task) -> Result<Task, EngineError> {
        if task.state.is_terminal() || task.state.is_interrupted() {
            let derived = || task.derived_events().last().map_or(0, |event| event.seq);
            let last_seq = if task.last_seq == 0 { derived() } else { task.last_seq };
            return Ok(Task { last_seq, ..task });
        }
        let mut now = task.before_events();
        self.each_event(tenant, task.id, u32::MAX, |event| now.apply(event)).await?;
        Ok(now)
    }

    /// A task as it was when one of its turns began, that is behind the event `after`, with the message that began it.
    pub async fn before_turn(&self, tenant: &Tenant, task: &Task, after: u32) -> Result<Task, EngineError> {
        let first = after.saturating_add(1);
        // Nothing has been recorded of it but that it began; what was asked before it is kept in the row meanwhile.
        if task.last_seq == first {
            return Ok(Task { last_seq: after, ask: None, ..task.clone() });
        }
        let (mut then, mut asked) = (task.before_events(), 0);
        self.each_event(tenant, task.id, first, |event| {
            asked += usize::from(event.state().is_some_and(TaskState::is_interrupted));
            then.apply(event);
        })
        .await?;
        let said = then.history.iter().enumerate().filter(|(_, message)| message.role == Role::User);
        if let Some(last) = said.map(|(place, _)| place).nth(asked) {
            then.history.truncate(last + 1);
        }
        Ok(Task { last_seq: after, ..then })
    }

    /// Has the stored events of a task looked at, in order, up to one.
    async fn each_event(
        &self,
        tenant: &Tenant,
        id: TaskId,
        last: u32,
        mut look: impl FnMut(&Event),
    ) -> Result<(), EngineError> {
        let store = self.tenant_store(tenant);
        let mut seen = 0;
        while seen < last {
            let events = store.events_after(id, seen, PAGE).await?;
            events.iter().take_while(|event| event.seq <= last).for_each(&mut look);
            seen = match events.last() {
                Some(event) if events.len() == PAGE as usize => event.seq,
                _ => break,
            };
        }
        Ok(())
    }

    /// Stops a task that is not final. Returns it as recorded.
    pub async fn cancel(&self, tenant: &Tenant, principal: &Principal, id: &str) -> Result<Task, EngineError> {
        let task = self.task(tenant, principal, id).await?;
        authorize(principal, Action::CancelTask(&task.caller), EngineError::TaskNotFound)?;
        self.stop(tenant, task).await
    }

    /// For the control API.
    pub async fn cancel_any(&self, tenant: &Tenant, principal: &Principal, id: &str) -> Result<Task, EngineError> {
        authorize(principal, Action::CancelAnyTask, EngineError::TaskNotFound)?;
        let task = self.visible_task(tenant, principal, id).await?;
        self.stop(tenant, task).await
    }

    /// For who called and no longer waits: stops what still runs on this node.
    pub fn cancel_here(&self, tenant: &Tenant, id: TaskId) {
        if let Some(live) = self.inner.hub.get(tenant.id, id) {
            live.interrupt(Interrupt::Canceled);
        }
    }

    /// How long a task can be asked for, from its beginning.
    pub fn retention(&self) -> Duration {
        self.inner.store.retention()
    }

    async fn stop(&self, tenant: &Tenant, task: Task) -> Result<Task, EngineError> {
        let before = task.state;
        // Should its node be lost, whoever takes the task over ends it.
        let patience = CANCEL_PATIENCE + self.inner.store.lease() * 2;
        let ended = tokio::time::timeout(patience, self.stop_wherever(tenant, task)).await;
        let now = ended.map_err(|_| EngineError::Busy("cancellations"))??;
        // Who asks twice gets the canceled task twice only if this request did it.
        match (now.state, before.is_terminal()) {
            (TaskState::Canceled, false) => Ok(now),
            (state, _) => Err(EngineError::NotCancelable(state.as_str())),
        }
    }

    /// The same for a call of another task, which ends for this cause where it runs here. Should it run elsewhere, it is
    /// canceled.
    pub(crate) async fn stop_child(&self, tenant: &Tenant, id: TaskId, cause: Interrupt) -> Result<Task, EngineError> {
        if let Some(live) = self.inner.hub.get(tenant.id, id) {
            live.interrupt(cause);
        }
        let task = self.tenant_store(tenant).task(id, None).await?.ok_or(EngineError::TaskNotFound)?;
        self.stop_wherever(tenant, task).await
    }

    /// The task once it is final. It may run here, elsewhere, or nowhere, and move meanwhile.
    async fn stop_wherever(&self, tenant: &Tenant, mut task: Task) -> Result<Task, EngineError> {
        let store = self.tenant_store(tenant);
        let mut follower = self.inner.news.follow(task.id);
        let mut asked = false;
        while !task.state.is_terminal() {
            follower.looking();
            if task.state.is_interrupted() {
                store.cancel_idle(task.id).await?;
                self.inner.news.changed(&[task.id]);
                self.wake_pushes(tenant.id, task.id).await;
            } else if let Some(live) = self.inner.hub.get(tenant.id, task.id) {
                self.stop_here(&live).await?;
            } else if asked {
                follower.wait(self).await?;
            } else {
                store.request_cancel(task.id).await?;
                asked = true;
            }
            task = store.task(task.id, None).await?.ok_or(EngineError::TaskNotFound)?;
        }
        Ok(task)
    }

    async fn stop_here(&self, live: &Live) -> Result<(), EngineError> {
        live.interrupt(Interrupt::Canceled);
        let mut committed = live.watch();
        let ended = committed.wait_for(|now| now.phase != Phase::Running);
        let ended = tokio::time::timeout(CANCEL_PATIENCE, ended).await;
        ended.map_or(Err(EngineError::Busy("cancellations")), |_| Ok(()))
    }

    pub async fn logs(&self, tenant: &Tenant, principal: &Principal, query: LogQuery) -> Result<LogPage, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        let filter = LogFilter {
            skill: query.skill,
            task: query.task,
            after: query.after.map(|after| after - LOG_OVERLAP),
            limit: query.limit.clamp(1, 1_000),
        };
        let rows = self.tenant_store(tenant).logs(filter).await?;
        let newest = rows.iter().map(|row| row.at).max();
        let entries = rows.into_iter().flat_map(|row| {
            let (task, record, skill, version) = (row.task, row.seq, row.skill, row.version);
            row.lines.into_iter().map(move |line| LogEntry {
                task,
                record,
                skill: skill.clone(),
                version,
                at: line.at,
                level: line.level,
                message: line.message,
            })
        });
        Ok(LogPage { entries: entries.collect(), newest })
    }
}
