//! The threads guests run on: never the ones that do input and output, so that a spinning guest is not felt there.
//!
//! A set of them for each lane (see `pace`). Those of the slow lane are run only where nobody else wants to run, and put
//! aside at once for everybody else's threads, the database's included. Those of the steady lane have a low priority: the
//! system gives them their part, and may take milliseconds to put them aside, so that one processor is left without them.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use thread_priority::{
    NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::pace::Lane;

/// How long threads may take to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// About a tenth of what an ordinary thread gets, where both want to run.
pub(crate) const NICENESS: i32 = 10;

pub(crate) struct Guests {
    quick: Handle,
    slow: Handle,
    steady: Handle,
    runtimes: Mutex<Vec<Runtime>>,
}

impl Guests {
    pub(crate) fn start(workers: usize) -> std::io::Result<Self> {
        let quick = threads(workers, "pleat-guest").build()?;
        let long = |name| threads(all_but_one(workers), name);
        let slow = long("pleat-guest-slow").on_thread_start(step_aside).build()?;
        let steady = long("pleat-guest-low").on_thread_start(step_back).build()?;
        Ok(Self {
            quick: quick.handle().clone(),
            slow: slow.handle().clone(),
            steady: steady.handle().clone(),
            // The quick ones end last: the others may still wait for timers of theirs.
            runtimes: Mutex::new(vec![steady, slow, quick]),
        })
    }

    pub(crate) const fn of(&self, lane: Lane) -> &Handle {
        match lane {
            Lane::Quick => &self.quick,
            Lane::Slow => &self.slow,
            Lane::Steady => &self.steady,
        }
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

/// Whatever wakes takes the processor from such a thread at once, where a low priority alone leaves it there until the
/// system's next tick, which may be 10 ms away. Should this not be possible, the low priority is what is left.
fn step_aside() {
    let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    if set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle).is_err() {
        step_back();
    }
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
