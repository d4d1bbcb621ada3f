//! One writer: takes what is queued, waits for company only while there is concurrency, and flushes.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::config::StoreConfig;
use crate::writer::Operation;
use crate::writer::arrivals::Arrivals;
use crate::writer::flush::Flusher;
use crate::writer::load::Load;

/// A batch stops growing here, so that large outputs do not make one enormous statement.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// After a pause this long, whoever comes is alone.
const QUIET: Duration = Duration::from_millis(5);

pub(super) struct Worker {
    receiver: mpsc::Receiver<Operation>,
    arrivals: Arc<Arrivals>,
    load: Arc<Load>,
    flusher: Flusher,
    stop: CancellationToken,
    most: usize,
    linger: Duration,
    /// The size of the last batch and when it was done: how many are likely to come back soon.
    company: usize,
    flushed: Instant,
    /// Taken from the queue but not fit for the batch at hand.
    carried: Option<Operation>,
}

impl Worker {
    pub(super) fn new(
        config: &StoreConfig,
        flusher: Flusher,
        (receiver, arrivals, load): (mpsc::Receiver<Operation>, Arc<Arrivals>, Arc<Load>),
        stop: CancellationToken,
    ) -> Self {
        Self {
            receiver,
            arrivals,
            load,
            flusher,
            stop,
            most: config.batch.max(1),
            linger: config.linger,
            company: 1,
            flushed: Instant::now(),
            carried: None,
        }
    }

    /// Ends when told to stop, after everything that was queued has been answered.
    pub(super) async fn run(mut self) {
        while let Some(first) = self.first().await {
            let mut batch = Batch::new(first);
            self.take_queued(&mut batch);
            if self.expects_company() {
                self.take_lingering(&mut batch).await;
            }
            self.company = batch.operations.len();
            let began = Instant::now();
            self.load.begins();
            self.flusher.flush(batch.operations).await;
            self.load.ends();
            self.flushed = Instant::now();
            metrics::histogram!("pleat_commit_operations").record(self.company as f64);
            metrics::histogram!("pleat_commit_seconds").record((self.flushed - began).as_secs_f64());
        }
    }

    async fn first(&mut self) -> Option<Operation> {
        if let Some(carried) = self.carried.take() {
            return Some(carried);
        }
        tokio::select! {
            biased;
            operation = self.receiver.recv() => operation,
            () = self.stop.cancelled() => {
                self.receiver.close();
                self.receiver.recv().await
            }
        }
    }

    fn expects_company(&self) -> bool {
        self.carried.is_none() && self.company > 1 && self.flushed.elapsed() < QUIET
    }

    fn take_queued(&mut self, batch: &mut Batch) {
        while self.carried.is_none() && batch.operations.len() < self.most {
            match self.receiver.try_recv() {
                Ok(operation) => self.carried = batch.add(operation),
                Err(_) => return,
            }
        }
    }

    /// Until as many are here as last time, or the time is up. Nobody wakes it before: that would cost each of them more
    /// than being taken along.
    async fn take_lingering(&mut self, batch: &mut Batch) {
        let missing = self.company.min(self.most).saturating_sub(batch.operations.len());
        if missing > 0 && !self.stop.is_cancelled() {
            self.arrivals.at_least(missing, self.linger).await;
            self.take_queued(batch);
        }
    }
}

struct Batch {
    operations: Vec<Operation>,
    tasks: HashSet<Uuid>,
    bytes: usize,
}

impl Batch {
    fn new(first: Operation) -> Self {
        let tasks = HashSet::from([first.encoded.id()]);
        Self { bytes: first.encoded.bytes, operations: vec![first], tasks }
    }

    /// Gives back what must wait for the next batch: a second step of a task would not see the first in the snapshot
    /// that one statement works on.
    fn add(&mut self, operation: Operation) -> Option<Operation> {
        let fits = self.bytes + operation.encoded.bytes <= BATCH_BYTES;
        if !fits || !self.tasks.insert(operation.encoded.id()) {
            return Some(operation);
        }
        self.bytes += operation.encoded.bytes;
        self.operations.push(operation);
        None
    }
}
