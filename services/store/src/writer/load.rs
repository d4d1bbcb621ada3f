//! What a writer is at, for who has a commit that any of them could take.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A batch that takes longer than this is held up by something: a lock, a slow disk, a database that is away.
const HELD_UP: Duration = Duration::from_millis(20);

#[derive(Default)]
pub(super) struct Load {
    writing_since: Mutex<Option<Instant>>,
}

impl Load {
    pub(super) fn begins(&self) {
        *self.lock() = Some(Instant::now());
    }

    pub(super) fn ends(&self) {
        *self.lock() = None;
    }

    pub(super) fn is_held_up(&self) -> bool {
        self.lock().is_some_and(|since| since.elapsed() > HELD_UP)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.writing_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
