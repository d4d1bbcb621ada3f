//! One turn of one task, from admission to its last record.
//!
//! A blocking call that finishes within the grace time is written once, finished. Everything else is written when it
//! is admitted, so that no id leaves before its row is committed.

mod early;
mod guard;
mod offer;
mod prompt;
mod recorded;

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::Either;
use pleat_domain::event::{ArtifactChunk, StatusChange};
use pleat_domain::{Artifact, Door, Event, EventBody, Failure, LogLine, Message, Raw, Reason, Task, TaskState, Tenant};
use pleat_guardrails::SharedNumbering;
use pleat_runtime::{Call, CallReport, Entry, GuestContext, Stop};
use pleat_store::{Change, Commit, Once, PushEntry, StoreError, Written};
use time::OffsetDateTime;
use tokio::sync::oneshot;

use crate::admission::Permit;
use crate::catalog::{Skill, Target};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::guarding::SharedWatch;
use crate::guest_host::GuestHost;
use crate::hub::{Again, Interrupt, Live, Phase, lock};
use crate::invoke::{StepOrigin, first_message};
use crate::load::party;
use crate::outcome::Ending;
use crate::pipeline;
use crate::reach::{Reach, Standing};
use crate::sink::{Batch, Sink};

pub(crate) use recorded::Recorded;

/// What goes on after the first answer.
pub(crate) type Rest = Pin<Box<dyn Future<Output = ()> + Send>>;

pub(crate) struct Run {
    pub(crate) engine: Engine,
    pub(crate) tenant: Arc<Tenant>,
    pub(crate) skill: Arc<Skill>,
    pub(crate) permit: Permit,
    /// Shared with the guest while it runs and with who writes and shows it: copied only where one of them still has it.
    task: Arc<Task>,
    standing: Arc<Standing>,
    live: Arc<Live>,
    sink: Arc<Sink>,
    pub(crate) watch: Option<SharedWatch>,
    /// What the function kept from the turn before.
    kept: Option<Raw>,
    /// Events of earlier turns that have no rows yet.
    backlog: Vec<Event>,
    /// What makes this call happen once.
    pub(crate) once: Option<Once>,
    /// Who is told of it.
    pub(crate) push: Option<PushEntry>,
    /// What the caller's client answered to the turn before.
    pub(crate) reply: Option<Raw>,
    /// Of a run of a pipeline: the steps that are recorded already.
    pub(crate) begun: Vec<Task>,
    /// Of a step: what guardrails number with the other tasks of its run.
    pub(crate) numbers: Option<SharedNumbering>,
    log_seq: u32,
    flushed: Instant,
}

/// What a call was let in with, and in whose name.
pub(crate) struct Admitted {
    pub(crate) permit: Permit,
    pub(crate) standing: Standing,
    /// Who looks at what goes in and comes out.
    pub(crate) watch: Option<SharedWatch>,
}

impl Run {
    pub(crate) fn new(
        engine: Engine,
        tenant: Arc<Tenant>,
        skill: Arc<Skill>,
        admitted: Admitted,
        mut task: Task,
        kept: Option<Raw>,
        backlog: Vec<Event>,
    ) -> Box<Self> {
        task.last_seq = backlog.last().map_or(task.last_seq, |event| event.seq);
        let again = match &skill.target {
            Target::Pipeline(_) => Again::Anytime,
            Target::Function(_) if skill.manifest.is_idempotent() => Again::Elsewhere,
            Target::Function(_) => Again::Never,
        };
        let live = Live::new(tenant.id, task.id, task.last_seq, engine.inner.store.epoch(), again);
        let log_seq = first_log_record(&task);
        let Admitted { permit, standing, watch } = admitted;
        if let Some(watch) = &watch {
            task.guard = lock(watch).notes();
        }
        let sink = Arc::new(Sink::new(&skill.name, skill.limits().output_bytes, watch.clone(), None));
        Box::new(Self {
            engine,
            tenant,
            skill,
            permit,
            standing: Arc::new(standing),
            task: Arc::new(task),
            live,
            sink,
            watch,
            kept,
            backlog,
            once: None,
            push: None,
            reply: None,
            begun: Vec::new(),
            numbers: None,
            log_seq,
            flushed: Instant::now(),
        })
    }

    /// It is a step of a run. What a last step says is also what the run says.
    pub(crate) fn belong_to(&mut self, step: StepOrigin) {
        self.numbers = Some(step.numbers);
        let Some(onward) = step.onward else { return };
        let (name, limit) = (&self.skill.name, self.skill.limits().output_bytes);
        onward.allow(limit);
        self.sink = Arc::new(Sink::new(name, limit, self.watch.clone(), Some(onward)));
    }

    /// Where the call is stopped from outside.
    pub(crate) fn live(&self) -> Arc<Live> {
        Arc::clone(&self.live)
    }

    pub(crate) fn sink(&self) -> Arc<Sink> {
        Arc::clone(&self.sink)
    }

    pub(crate) const fn standing(&self) -> &Arc<Standing> {
        &self.standing
    }

    pub(crate) const fn task(&self) -> &Arc<Task> {
        &self.task
    }

    pub(crate) fn task_mut(&mut self) -> &mut Task {
        Arc::make_mut(&mut self.task)
    }

    /// A call whose caller waits: one write if it is quick.
    pub(crate) async fn blocking(mut self: Box<Self>, done: oneshot::Sender<Result<Arc<Task>, EngineError>>) {
        let mut call = Box::pin(self.call());
        // What a run goes on from is written by who holds the run.
        let first = if self.task.door == Door::Pipeline { Change::Step } else { Change::Insert };
        let outcome = match self.early(&mut call).await {
            Some(report) => self.finish(report, first).await,
            None => match self.record(first).await {
                Ok(_) => match self.follow_through(call).await {
                    // Another node has it now: its end is this call's answer.
                    Err(EngineError::OutOfTouch) => self.engine.settled(self.tenant.id, self.task.id).await,
                    outcome => outcome,
                },
                Err(error) => {
                    self.abandon(call).await;
                    Err(error)
                }
            },
        };
        let _ = done.send(outcome);
    }

    /// Its record could not be made: it is stopped, and what it used counts.
    async fn abandon(&mut self, call: impl Future<Output = CallReport>) {
        self.live.interrupt(Interrupt::NotRecorded);
        let used = Used::of(&call.await);
        let lost = Failure::new(Reason::NodeLost, "the call could not be recorded; send it again");
        self.ask_hooks(Ending::failed(lost), &[], used);
        self.permit.release();
    }

    /// A call that is recorded before it runs.
    pub(crate) async fn start(mut self: Box<Self>) -> Result<(Recorded, Rest), EngineError> {
        let recorded = self.record(Change::Insert).await?;
        Ok((recorded, self.rest()))
    }

    /// The next turn of a task that waited.
    pub(crate) async fn resume(mut self: Box<Self>) -> Result<(Recorded, Rest), EngineError> {
        let recorded = self.record(Change::Resume).await?;
        Ok((recorded, self.rest()))
    }

    /// Another attempt at a turn that a lost node had begun.
    pub(crate) async fn run_again(mut self: Box<Self>) -> Result<(Recorded, Rest), EngineError> {
        let recorded = self.record(Change::Update).await?;
        Ok((recorded, self.rest()))
    }

    fn rest(mut self: Box<Self>) -> Rest {
        Box::pin(async move {
            let call = Box::pin(self.call());
            // The outcome is recorded or logged; who waits reads it from the live task.
            let _ = self.follow_through(call).await;
        })
    }

    fn call(&self) -> impl Future<Output = CallReport> + Send + use<> {
        match self.skill.pipeline() {
            Some(pipeline) => Either::Left(pipeline::drive(self.driver(pipeline))),
            None => Either::Right(self.enter(Entry::Handle { input: self.task.input.clone() })),
        }
    }

    /// Enters the guest at one of its exports.
    pub(crate) fn enter(&self, entry: Entry) -> impl Future<Output = CallReport> + Send + use<> {
        let task = &self.task;
        let host = Box::new(GuestHost {
            sink: Arc::clone(&self.sink),
            live: Arc::clone(&self.live),
            task: Arc::clone(task),
            state: self.kept.clone(),
            reply: self.reply.clone(),
            watch: self.watch.clone(),
            reach: self.reach(),
        });
        let context = GuestContext {
            task_id: task.id.to_string(),
            context_id: task.context.as_str().to_owned(),
            skill: self.skill.name.to_string(),
            version: task.version.to_string(),
            caller: task.caller.to_string(),
            door: task.door.guest_name().to_owned(),
            attempt: u32::try_from(task.attempt).unwrap_or(1),
            turn: u32::try_from(task.turn).unwrap_or(1),
        };
        let (engine, tenant) = (self.engine.clone(), self.tenant.id);
        let known = self.permit.function();
        let code = match &self.skill.target {
            Target::Function(code) if known.is_none() => Some(code.clone()),
            Target::Function(_) | Target::Pipeline(_) => None,
        };
        let party = party(self.tenant.id);
        let (limits, memory, cancel) = (self.skill.limits(), self.permit.memory(), self.live.token.clone());
        async move {
            let loaded = match (known, &code) {
                (Some(function), _) => Ok(function),
                (None, Some(code)) => Box::pin(engine.load(tenant, code)).await,
                (None, None) => Err(EngineError::Internal("a pipeline has no code".into())),
            };
            match loaded {
                Ok(function) => {
                    let runtime = &engine.inner.runtime;
                    runtime.call(Call { party, function, entry, context, limits, memory, host, cancel }).await
                }
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "a deployed function cannot be loaded");
                    let stop = Stop::Failed(Failure::new(Reason::Internal, "the function cannot be loaded"));
                    CallReport { result: Err(stop), cpu: Duration::ZERO, wall: Duration::ZERO, peak_memory: 0 }
                }
            }
        }
    }

    fn reach(&self) -> Reach {
        Reach {
            engine: self.engine.clone(),
            tenant: Arc::clone(&self.tenant),
            skill: Arc::clone(&self.skill),
            standing: Arc::clone(&self.standing),
            task: Arc::clone(&self.task),
        }
    }

    /// Writes the task as working; from here on it has an id that others may use.
    async fn record(&mut self, change: Change) -> Result<Recorded, EngineError> {
        let change_of_state = StatusChange::to(TaskState::Working);
        let events = self.number(vec![EventBody::Status(change_of_state)]);
        let task = Arc::clone(&self.task);
        let mut rows = std::mem::take(&mut self.backlog);
        rows.extend(events.iter().cloned());
        let commit = self.commit_of(Arc::clone(&task), change, rows, Vec::new());
        match self.write_first(commit).await? {
            Written::Done => {}
            Written::Fenced if self.task.step.is_some() => return Err(EngineError::OutOfTouch),
            Written::Fenced => return Err(EngineError::NotContinuable("already continued")),
        }
        self.engine.inner.measures.change(TaskState::Working);
        self.engine.inner.hub.insert(Arc::clone(&self.live));
        self.live.publish(events, Phase::Running);
        if change == Change::Resume {
            // Who has waited for this finds it running here.
            self.engine.inner.news.changed(&[self.task.id]);
        }
        Ok(Recorded { task, live: Arc::clone(&self.live) })
    }

    /// Records what the guest says while it runs, then how it ended.
    async fn follow_through(
        &mut self,
        mut call: Pin<Box<impl Future<Output = CallReport>>>,
    ) -> Result<Arc<Task>, EngineError> {
        let sink = Arc::clone(&self.sink);
        let report = loop {
            tokio::select! {
                biased;
                report = &mut call => break report,
                () = sink.ready() => {
                    let wait = self.engine.inner.config.event_interval.saturating_sub(self.flushed.elapsed());
                    tokio::select! {
                        biased;
                        report = &mut call => break report,
                        () = tokio::time::sleep(wait) => self.flush().await,
                    }
                }
            }
        };
        let outcome = self.finish(report, Change::Update).await;
        self.engine.inner.hub.remove(&self.live);
        if outcome.is_err() {
            self.hand_over().await;
        }
        outcome
    }

    async fn flush(&mut self) {
        let Batch { bodies, logs } = self.sink.take();
        self.flushed = Instant::now();
        if bodies.is_empty() && logs.is_empty() {
            return;
        }
        let events = self.number(bodies);
        let commit = self.commit_of(Arc::clone(&self.task), Change::Append, events.clone(), logs);
        match self.write(commit).await {
            Ok(Written::Done) => self.live.publish(events, Phase::Running),
            Ok(Written::Fenced) => self.live.interrupt(Interrupt::Fenced),
            Err(error) => {
                tracing::error!(task.id = %self.task.id, error = &error as &dyn std::error::Error, "events could not be recorded");
                self.live.interrupt(Interrupt::NotRecorded);
            }
        }
    }

    /// Decides how the turn ends and records it; the last thing a run does.
    async fn finish(&mut self, report: CallReport, change: Change) -> Result<Arc<Task>, EngineError> {
        let used = Used::of(&report);
        let interrupted = self.live.interrupted();
        let stopped = matches!(report.result, Err(Stop::Canceled));
        if interrupted.is_some_and(|cause| cause.loses(stopped)) {
            self.engine.keep_findings(self.watch.as_ref(), &self.circumstances());
            return Err(EngineError::OutOfTouch);
        }
        self.sink.end();
        let Batch { mut bodies, logs } = self.sink.take();
        let emitted = self.sink.emitted();
        let artifacts = self.sink.artifacts();
        let ending = Ending::of(self.kept(report.result).await, interrupted, &self.skill, self.task.door, emitted);
        let (ending, artifacts) = self.guard_output(ending, artifacts, &mut bodies);
        let warnings = self.sink.warnings();
        if !warnings.is_empty() {
            self.task_mut().warn(warnings);
        }
        let mut ending = self.ask_hooks(ending, &artifacts, used);
        self.permit.release();
        // A task that is written once needs no event rows: they follow from the task.
        let once = matches!(change, Change::Insert | Change::Step);
        for artifact in artifacts {
            self.deliver(artifact);
        }
        if let Some(artifact) = ending.result.take() {
            if !once {
                let chunk = ArtifactChunk { artifact: artifact.clone(), append: false, last: true };
                bodies.push(EventBody::Artifact(chunk));
            }
            self.deliver(artifact);
        }
        self.apply(&ending, report.cpu, report.wall);
        let events = if once { Vec::new() } else { self.ended(ending, bodies) };
        let task = Arc::clone(&self.task);
        let commit = self.commit_of(Arc::clone(&task), change, events.clone(), logs);
        let written = if once { self.write_first(commit).await } else { self.write(commit).await };
        if written? == Written::Fenced {
            // Somebody else has it, or has ended it: what they record is what it is.
            return Err(EngineError::OutOfTouch);
        }
        self.live.finish(Arc::clone(&task));
        self.live.publish(events, Phase::Ended);
        Ok(task)
    }

    /// What is told of a turn's end, behind what else is still to be told.
    fn ended(&mut self, ending: Ending, mut bodies: Vec<EventBody>) -> Vec<Event> {
        let Ending { state, failure, ask, .. } = ending;
        let warnings = self.task.warnings().to_vec();
        bodies.push(EventBody::Status(StatusChange { state, failure, ask, warnings }));
        self.number(bodies)
    }

    /// Lets go of a task that was not ended here. Whoever follows it reads on from the database, and should its lease
    /// still be this node's, anybody may take it over.
    async fn hand_over(&self) {
        self.live.publish([], Phase::Moved);
        self.engine.give_back(self.tenant.id, self.task.id).await;
    }

    /// A name stands for one artifact: a later turn's takes the place of an earlier one's.
    fn deliver(&mut self, artifact: Artifact) {
        let artifacts = &mut self.task_mut().artifacts;
        artifacts.retain(|earlier| earlier.name != artifact.name);
        artifacts.push(artifact);
    }

    fn apply(&mut self, ending: &Ending, cpu: Duration, wall: Duration) {
        let task = self.task_mut();
        task.state = ending.state;
        task.failure = ending.failure.clone();
        task.ask = ending.ask.clone();
        if let Some(ask) = &ending.ask {
            if task.history.is_empty() {
                task.history.push(first_message(task.id, &task.input));
            }
            let id = format!("{}-{}", task.id, task.history.len() + 1);
            task.history.push(Message::agent(id, vec![pleat_domain::Block::text(ask.prompt.clone())]));
        }
        task.cpu_us = task.cpu_us.saturating_add(micros(cpu));
        task.wall_us = task.wall_us.saturating_add(micros(wall));
        task.updated_at = OffsetDateTime::now_utc();
        self.engine.count_end(&self.task, &self.tenant, cpu, wall);
    }

    fn number(&mut self, bodies: Vec<EventBody>) -> Vec<Event> {
        let (at, task) = (OffsetDateTime::now_utc(), self.task_mut());
        if let Some(record) = &mut task.run {
            pipeline::note_skipped(record, &bodies);
        }
        if bodies.iter().any(|body| matches!(body, EventBody::Status(_))) {
            // The same time to those who ask and to those who are told.
            task.updated_at = at;
        }
        let first = task.last_seq;
        let events: Vec<Event> = (first + 1..).zip(bodies).map(|(seq, body)| Event { seq, at, body }).collect();
        task.last_seq = events.last().map_or(first, |event| event.seq);
        events
    }

    fn commit_of(&mut self, task: Arc<Task>, change: Change, events: Vec<Event>, logs: Vec<LogLine>) -> Commit {
        if !logs.is_empty() {
            self.log_seq += 1;
        }
        let once = self.once.clone().filter(|_| matches!(change, Change::Insert | Change::Resume));
        let push = self.push.take().filter(|_| change == Change::Insert);
        let held = Some(self.live.epoch).filter(|_| matches!(change, Change::Update | Change::Append));
        Commit { tenant: self.tenant.id, task, change, held, events, logs, log_seq: self.log_seq, once, push }
    }

    /// A task's first record of this turn, which can be refused to who waits for it. Nobody waits for a step: what has
    /// been called must not be called again because the database was away.
    async fn write_first(&self, commit: Commit) -> Result<Written, StoreError> {
        match self.task.step {
            Some(_) => self.write(commit).await,
            None => self.engine.inner.store.writer().commit(commit).await,
        }
    }

    /// A running task's record.
    async fn write(&self, commit: Commit) -> Result<Written, StoreError> {
        self.engine.write(&self.live, commit).await
    }
}

/// What the sandbox reports of a call's cost.
#[derive(Clone, Copy)]
pub(crate) struct Used {
    cpu: Duration,
    wall: Duration,
}

impl Used {
    fn of(report: &CallReport) -> Self {
        Self { cpu: report.cpu, wall: report.wall }
    }
}

/// Each turn counts its log records in a range of its own, and each attempt at it in a part of that: half of it for the
/// first, which is the usual one.
fn first_log_record(task: &Task) -> u32 {
    let turn = u32::try_from(task.turn - 1).unwrap_or(0);
    let attempt = u32::try_from(task.attempt).unwrap_or(1).clamp(1, 3);
    let part = if attempt == 1 { 0 } else { attempt };
    (turn << 16) + (part << 14)
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
