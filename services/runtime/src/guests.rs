//! The threads guests run on: never the ones that do input and output, so that a spinning guest is not felt there.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

/// How long threads may take to end.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) struct Guests {
    handle: Handle,
    runtime: Mutex<Option<Runtime>>,
}

impl Guests {
    pub(crate) fn start(workers: usize) -> std::io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(workers.max(1))
            .thread_name("pleat-guest")
            .enable_time()
            // A spinning guest gives way every millisecond. Newcomers are looked for at each of these turns, and
            // timers at every eighth; with the defaults a neighbour would wait for 31 and 61 of them.
            .global_queue_interval(1)
            .event_interval(8)
            .build()?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Mutex::new(Some(runtime)) })
    }

    pub(crate) const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Ends all guests and waits for their threads.
    pub(crate) async fn stop(&self) {
        let Some(runtime) = self.take() else { return };
        // Waiting for threads blocks. An error means that the surrounding runtime ends too.
        let _ = tokio::task::spawn_blocking(move || runtime.shutdown_timeout(PATIENCE)).await;
    }

    fn take(&self) -> Option<Runtime> {
        self.runtime.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Guests {
    /// A runtime may not be dropped where blocking is not allowed, and this may be such a place.
    fn drop(&mut self) {
        if let Some(runtime) = self.take() {
            runtime.shutdown_background();
        }
    }
}
