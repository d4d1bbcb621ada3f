//! Driving one run: starts what is ready, waits for what runs, and tells how it ends. Decides nothing itself; what follows
//! from what is the machine's to say.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use pleat_domain::{ContextId, Failure, Raw, Reason, StepChange, StepPhase, TaskId, Tenant};
use pleat_guardrails::{Numbering, SharedNumbering};
use pleat_pipelines::{Attempt, End, Entry, Event, Plan, RunFailure};
use pleat_runtime::{CallMemory, CallReport, MemoryScope, Outcome, Stop};
use time::OffsetDateTime;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Pins;
use super::journal::{self, Pending};
use super::step::Ended;
use crate::catalog::Pipeline;
use crate::engine::Engine;
use crate::hub::{Interrupt, Live, lock};
use crate::reach::Standing;
use crate::run::Run;
use crate::sink::Sink;
use crate::tasks::CANCEL_PATIENCE;

/// How long what happens to steps may go unrecorded while nobody looks.
const QUIET: Duration = Duration::from_secs(1);

/// How long the ends of stopped steps are waited for: who cancels the run waits for its end in turn.
const STOP_PATIENCE: Duration = CANCEL_PATIENCE.saturating_sub(Duration::from_secs(1));

/// What a run needs to go on.
pub(crate) struct Driver {
    pub(super) engine: Engine,
    pub(super) tenant: Arc<Tenant>,
    pub(super) standing: Arc<Standing>,
    pub(super) run: TaskId,
    pub(super) context: ContextId,
    pub(super) plan: Arc<Plan>,
    pub(super) pins: Arc<Pins>,
    pub(super) live: Arc<Live>,
    pub(super) sink: Arc<Sink>,
    /// Results of steps are kept, and charged, to the end of the run.
    pub(super) memory: Arc<CallMemory>,
    pub(super) pending: Pending,
    pub(super) numbers: SharedNumbering,
    /// Stops the steps.
    pub(super) stop: CancellationToken,
    input: Raw,
    entries: Vec<Entry>,
}

impl Run {
    pub(crate) fn driver(&self, pipeline: &Pipeline) -> Driver {
        self.begun.iter().for_each(|step| self.sink().warn(step.warnings()));
        Driver {
            engine: self.engine.clone(),
            tenant: Arc::clone(&self.tenant),
            standing: Arc::clone(self.standing()),
            run: self.task().id,
            context: self.task().context.clone(),
            plan: Arc::clone(&pipeline.plan),
            pins: Arc::new(self.task().run.as_ref().map(|record| record.pins.clone()).unwrap_or_default()),
            live: self.live(),
            sink: self.sink(),
            memory: self.permit.memory(),
            pending: journal::pending(&self.begun),
            numbers: self.numbering(),
            stop: CancellationToken::new(),
            input: self.task().input.clone(),
            entries: journal::entries(&self.begun),
        }
    }
}

impl Run {
    /// The numbers that all of the run goes on with: behind its own, and those of the steps that it has.
    fn numbering(&self) -> SharedNumbering {
        let numbers = self.numbers.clone().unwrap_or_default();
        let notes = std::iter::once(&**self.task()).chain(&self.begun).filter_map(|task| task.guard.as_ref());
        let kept = notes.filter_map(|notes| serde_json::from_str::<Numbering>(notes.numbering.as_ref()?.get()).ok());
        kept.for_each(|kept| numbers.take_in(&kept));
        if let Some(watch) = &self.watch {
            lock(watch).number_with(&numbers);
        }
        numbers
    }
}

/// Runs to the end, behind what the journal has. Its CPU time is that of its steps, which are metered themselves.
pub(crate) fn drive(driver: Driver) -> BoxFuture<'static, CallReport> {
    Box::pin(async move {
        let started = Instant::now();
        let result = driver.drive().await;
        CallReport { result, cpu: Duration::ZERO, wall: started.elapsed(), peak_memory: 0 }
    })
}

impl Driver {
    async fn drive(mut self) -> Result<Outcome, Stop> {
        let entries = std::mem::take(&mut self.entries);
        let run = pleat_pipelines::Run::resume(Arc::clone(&self.plan), self.input.clone(), entries);
        let mut run = run.map_err(|error| {
            tracing::error!(task.id = %self.run, error = &error as &dyn std::error::Error, "a journal cannot be read");
            Stop::Failed(Failure::new(Reason::Internal, "the journal of this run cannot be read"))
        })?;
        let driver = Arc::new(self);
        let mut steps = FuturesUnordered::new();
        let end = driver.until_end(&mut run, &mut steps).await;
        // What still runs is stopped, and its records are waited for, so that nothing of a run is younger than its end.
        driver.stop.cancel();
        let rest = async { while steps.next().await.is_some() {} };
        let _ = tokio::time::timeout(STOP_PATIENCE, rest).await;
        match end {
            End::Output(value) => Ok(Outcome::Value(value)),
            End::Failed(failed) => Err(Stop::Failed(failure_of(failed))),
            End::Canceled => Err(Stop::Canceled),
        }
    }

    async fn until_end(
        self: &Arc<Self>,
        run: &mut pleat_pipelines::Run,
        steps: &mut FuturesUnordered<BoxFuture<'static, Ended>>,
    ) -> End {
        let (mut due, mut spoke) = (None, false);
        loop {
            // The rows of steps are committed by now: only what was skipped is news.
            let skipped = run.take_journal().into_iter().filter(|entry| matches!(entry.event, Event::Skipped));
            skipped.for_each(|entry| self.tell(&mut due, change(&entry.attempt, StepPhase::Skipped)));
            if let Some(end) = run.end() {
                if spoke {
                    self.sink.said_all();
                }
                return end.clone();
            }
            let (over, all) = run.progress();
            if let Some(progress) = self.sink.advance(over, all) {
                self.live.say(|ear| ear.progress(&progress));
            }
            for start in run.take_ready() {
                self.tell(&mut due, change(&start.attempt, StepPhase::Started));
                let step = Arc::clone(self).step(start);
                steps.push(Box::pin(step));
            }
            if run.end().is_some() {
                continue;
            }
            let ring = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.live.token.cancelled() => {
                    run.cancel();
                    return End::Canceled;
                }
                Some(ended) = steps.next(), if !steps.is_empty() => {
                    let Some(outcome) = ended.outcome else {
                        // No call can be made here any more: another node goes on behind what is recorded.
                        self.live.interrupt(Interrupt::HandedBack);
                        return End::Canceled;
                    };
                    let bytes = outcome.as_ref().map_or(0, |value| value.get().len());
                    spoke = ended.spoke;
                    self.tell(&mut due, ended.change);
                    if let Err(scope) = self.memory.charge(bytes) {
                        return End::Failed(out_of_memory(scope));
                    }
                    if let Err(error) = run.finish(&ended.attempt, outcome, OffsetDateTime::now_utc()) {
                        tracing::error!(task.id = %self.run, error = &error as &dyn std::error::Error, "a step ended twice");
                    }
                }
                () = ring => {
                    due = None;
                    self.sink.ring();
                }
            }
        }
    }

    /// Who follows the run is told at once. Otherwise it is recorded with whatever is recorded next, or soon.
    fn tell(&self, due: &mut Option<Instant>, change: StepChange) {
        self.sink.step(change);
        if self.live.is_read() {
            self.sink.ring();
        } else {
            due.get_or_insert_with(|| Instant::now() + QUIET);
        }
    }
}

pub(super) fn change(attempt: &Attempt, phase: StepPhase) -> StepChange {
    StepChange {
        step: attempt.step.to_string(),
        item: attempt.item,
        attempt: attempt.number,
        phase,
        task: None,
        duration_ms: None,
        code: None,
    }
}

fn out_of_memory(scope: MemoryScope) -> RunFailure {
    let message = format!("the results of the run's steps need more memory than there is: {scope}");
    let failure = Failure { retryable: true, ..Failure::new(Reason::MemoryLimit, message) };
    RunFailure { step: None, item: None, failure }
}

/// The failure of the step, with its place.
fn failure_of(failed: RunFailure) -> Failure {
    let RunFailure { step, item, failure } = failed;
    let Some(step) = step else { return failure };
    let item = item.map(|item| format!(", item {item}")).unwrap_or_default();
    Failure { message: format!("step `{step}`{item} failed: {}", failure.message), ..failure }
}
