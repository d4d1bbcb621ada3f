//! Writing what has already happened: tried again while the database is away, because there is nobody to refuse to.

use std::time::{Duration, Instant};

use pleat_store::{Commit, StoreError, Written};

use crate::engine::Engine;
use crate::hub::{Interrupt, Live};

/// How long an outcome is kept trying to be recorded while the database is away.
const RECORD_PATIENCE: Duration = Duration::from_secs(600);
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl Engine {
    /// `live` is whose record it is: once another node may have it, nothing of it is written here any more.
    pub(crate) async fn write(&self, live: &Live, commit: Commit) -> Result<Written, StoreError> {
        let started = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            match self.inner.store.writer().commit(commit.clone()).await {
                Err(error) if error.is_transient() && started.elapsed() < RECORD_PATIENCE => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                other => return other,
            }
            if matches!(live.interrupted(), Some(Interrupt::Fenced | Interrupt::HandedBack)) {
                return Ok(Written::Fenced);
            }
        }
    }
}
