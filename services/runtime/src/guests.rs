//! The threads guests run on: never the ones that do input and output, so that a spinning guest is not felt there.
//!
//! Two sets of them, one for each lane (see `pace`). Those of the slow lane have a low priority in the system's eyes:
//! they use what is idle, and are put aside for everybody else's threads, the database's included. The system may take
//! milliseconds to put a thread aside, though, so that one processor is left without them.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

/// How long threads may take to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// About a tenth of what an ordinary thread gets, where both want to run.
pub(crate) const NICENESS: i32 = 10;

pub(crate) struct Guests {
    quick: Handle,
    slow: Handle,
    runtimes: Mutex<Vec<Runtime>>,
}

impl Guests {
    pub(crate) fn start(workers: usize) -> std::io::Result<Self> {
        let quick = threads(workers, "pleat-guest").build()?;
        let slow = threads(all_but_one(workers), "pleat-guest-slow").on_thread_start(step_back).build()?;
        let (quick_handle, slow_handle) = (quick.handle().clone(), slow.handle().clone());
        // The slow ones end first: they may still wait for timers of the quick ones.
        Ok(Self { quick: quick_handle, slow: slow_handle, runtimes: Mutex::new(vec![slow, quick]) })
    }

    pub(crate) const fn quick(&self) -> &Handle {
        &self.quick
    }

    pub(crate) const fn slow(&self) -> &Handle {
        &self.slow
    }

    /// Ends all guests and waits for their threads.
    pub(crate) async fn stop(&self) {
        let runtimes = self.take();
        let end = move || runtimes.into_iter().for_each(|runtime| runtime.shutdown_timeout(PATIENCE));
        // Waiting for threads blocks. An error means that the surrounding runtime ends too.
        let _ = tokio::task::spawn_blocking(end).await;
    }

    fn take(&self) -> Vec<Runtime> {
        std::mem::take(&mut *self.runtimes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How many of them long work may have.
pub(crate) const fn all_but_one(processors: usize) -> usize {
    if processors > 1 { processors - 1 } else { 1 }
}

fn threads(workers: usize, name: &str) -> Builder {
    let mut builder = Builder::new_multi_thread();
    builder
        .worker_threads(workers.max(1))
        .thread_name(name)
        .enable_time()
        // A spinning guest gives way every millisecond. Newcomers are looked for at each of these turns, and
        // timers at every eighth; with the defaults a neighbour would wait for 31 and 61 of them.
        .global_queue_interval(1)
        .event_interval(8);
    builder
}

/// Lowers the priority of this thread alone: so Linux has it, where others would lower the whole process's.
fn step_back() {
    if cfg!(target_os = "linux")
        && let Err(error) = rustix::process::setpriority_process(None, NICENESS)
    {
        tracing::warn!(error = &error as &dyn std::error::Error, "long calls keep the priority of short ones");
    }
}

impl Drop for Guests {
    /// A runtime may not be dropped where blocking is not allowed, and this may be such a place.
    fn drop(&mut self) {
        self.take().into_iter().for_each(Runtime::shutdown_background);
    }
}
