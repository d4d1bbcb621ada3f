//! Group commit: many tasks of many tenants in one statement, each acknowledged after the commit.
//!
//! A caller's commit is encoded in the caller's own task, queued, and answered when it is durable. All commits of one
//! task after its first go to the same writer and are never in one batch together, so they take effect in order. Tasks
//! that are written once, and are small, have writers of their own: megabytes of another one must not hold them up. Nothing
//! here decides what a task should be.

mod arrivals;
mod batch;
mod encoded;
mod flush;
mod load;
mod statement;
mod worker;

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use pleat_domain::{Event, LogLine, Task, TenantId};
use sqlx::postgres::PgConnectOptions;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::config::StoreConfig;
use crate::error::StoreError;
use crate::node::Lease;
use crate::tenant_store::pushes::PushEntry;
use crate::wake::Bell;
use crate::writer::arrivals::Arrivals;
use crate::writer::encoded::Encoded;
use crate::writer::flush::{Flusher, HEAVY};
use crate::writer::load::Load;
use crate::writer::worker::Worker;

/// Payload bytes that may wait in the queues; a count alone would let large outputs fill the memory.
const QUEUED_BYTES: usize = 256 * 1024 * 1024;

/// One durable step of a task.
#[derive(Debug, Clone)]
pub struct Commit {
    pub tenant: TenantId,
    /// The task as it is after this step.
    pub task: Arc<Task>,
    pub change: Change,
    /// The epoch under which this node took the task, where it goes on with one that it holds. Under a later one the task
    /// may have been taken anew, by this very node: what still comes from before is fenced.
    pub held: Option<i64>,
    pub events: Vec<Event>,
    /// One log row, if there are lines.
    pub logs: Vec<LogLine>,
    /// The number of that log row within the task.
    pub log_seq: u32,
    /// Of an insert or a resume: what makes it happen once.
    pub once: Option<Once>,
    /// Of an insert: who is told of the task.
    pub push: Option<PushEntry>,
}

/// An idempotency key of the task's caller: under the same one, a second task is not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Once {
    pub key: String,
    /// Of what was sent.
    pub fingerprint: [u8; 32],
}

/// What a commit does to the task's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A new row, leased to this node, with its alias if the task has one. Doing it twice is doing it once.
    Insert,
    /// The same for a step of a run, which is `task.parent`: only while this node holds the run. A node that has lost it,
    /// and may not know yet, must not add to what another one goes on from.
    Step,
    /// Of a task that this node holds and that is not final or waiting. `input` stays as it was.
    Update,
    /// Continues a waiting task on this node; `task.turn` is the new turn, one above the stored one.
    Resume,
    /// Events and logs only, of a task that this node holds.
    Append,
}

impl Change {
    /// The task had no row before.
    const fn is_new(self) -> bool {
        matches!(self, Self::Insert | Self::Step)
    }
}

/// What became of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Done,
    /// The task is no longer this node's to change: another owner, another turn, or final. Nothing of the commit was
    /// written, events included.
    Fenced,
}

/// The way in to a node's writers.
pub struct Writer {
    /// Of tasks that are written once, as most are.
    once: Vec<Queue>,
    /// Of those that go on.
    going: Vec<Queue>,
    /// Operations in one write at most.
    batch: usize,
    waiting_bytes: Arc<AtomicUsize>,
    commits: AtomicU64,
}

/// The way to one writer.
struct Queue {
    sender: mpsc::Sender<Operation>,
    arrivals: Arc<Arrivals>,
    load: Arc<Load>,
}

impl Queue {
    fn waiting(&self) -> usize {
        self.sender.max_capacity() - self.sender.capacity()
    }
}

/// A commit on its way.
struct Operation {
    encoded: Encoded,
    reply: oneshot::Sender<Result<Written, StoreError>>,
    _claim: Claim,
}

impl Writer {
    pub(crate) fn start(
        config: &StoreConfig,
        options: &PgConnectOptions,
        lease: &Arc<Lease>,
        bell: &Arc<Bell>,
        tracker: &TaskTracker,
        stop: &CancellationToken,
    ) -> Self {
        let writers = config.writers.max(1);
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let turns = Arc::new(Semaphore::new(processors.saturating_sub(1).max(1)));
        let waiting_bytes = Arc::new(AtomicUsize::new(0));
        let queue = |_| {
            let (sender, receiver) = mpsc::channel(config.queue.div_ceil(writers).max(1));
            let (arrivals, load) = (Arc::<Arrivals>::default(), Arc::<Load>::default());
            let worker = Worker::new(
                config,
                Flusher::new(options.clone(), lease, bell, config.retention, &turns),
                (receiver, Arc::clone(&arrivals), Arc::clone(&load)),
                stop.clone(),
            );
            tracker.spawn(worker.run());
            Queue { sender, arrivals, load }
        };
        let (once, going) = ((0..writers).map(queue).collect(), (0..writers).map(queue).collect());
        Self { once, going, batch: config.batch.max(1), waiting_bytes, commits: AtomicU64::new(0) }
    }

    /// Returns after COMMIT.
    pub async fn commit(&self, commit: Commit) -> Result<Written, StoreError> {
        self.commits.fetch_add(1, Ordering::Relaxed);
        let encoded = Encoded::new(commit);
        let queue = self.queue(&encoded).ok_or(StoreError::Closed)?;
        let claim = self.claim(encoded.bytes)?;
        let (reply, answer) = oneshot::channel();
        queue.sender.try_send(Operation { encoded, reply, _claim: claim }).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => StoreError::Busy,
            mpsc::error::TrySendError::Closed(_) => StoreError::Closed,
        })?;
        queue.arrivals.one();
        let span = tracing::info_span!(target: "pleat_trace", "commit");
        answer.instrument(span).await.map_err(|_| StoreError::Closed)?
    }

    /// How many commits were asked for since it was started.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Operations and bytes that are queued.
    pub(crate) fn waiting(&self) -> (usize, usize) {
        let queues = self.once.iter().chain(&self.going);
        let queued = queues.map(Queue::waiting).sum();
        (queued, self.waiting_bytes.load(Ordering::Relaxed))
    }

    fn queue(&self, encoded: &Encoded) -> Option<&Queue> {
        let commit = &encoded.commit;
        // One that is over when it is first written has no events; they follow from it.
        let is_over = commit.change == Change::Insert && commit.events.is_empty() && encoded.bytes <= HEAVY;
        if !is_over {
            return Self::own(&self.going, commit);
        }
        // No other commit has to come after it, so that any writer will do. The more one of them takes along, the less
        // each of them costs: the others are for when it has a batch waiting, or is held up.
        let enough = |queue: &Queue| queue.waiting() >= self.batch.min(queue.sender.max_capacity());
        let ready = |queue: &&Queue| !enough(queue) && !queue.load.is_held_up();
        self.once.iter().find(ready).or_else(|| Self::own(&self.once, commit))
    }

    /// The one that all of a task's commits go to. A step locks the row of its run: two writers that lock the same rows
    /// could wait for each other, so that it goes where its run goes on. The low bits of a UUIDv7 are random.
    fn own<'a>(queues: &'a [Queue], commit: &Commit) -> Option<&'a Queue> {
        let run = commit.task.parent.filter(|_| commit.change == Change::Step);
        let index = run.unwrap_or(commit.task.id).as_uuid().as_u128() % (queues.len() as u128);
        queues.get(usize::try_from(index).unwrap_or(0))
    }

    /// One commit alone always fits, however large.
    fn claim(&self, bytes: usize) -> Result<Claim, StoreError> {
        let before = self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        let claim = Claim { bytes, waiting: self.waiting_bytes.clone() };
        if before > 0 && before + bytes > QUEUED_BYTES { Err(StoreError::Busy) } else { Ok(claim) }
    }
}

/// Bytes that are given back when their commit is answered.
struct Claim {
    bytes: usize,
    waiting: Arc<AtomicUsize>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
