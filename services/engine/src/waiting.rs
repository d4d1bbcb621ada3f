//! Rows on their way to the database: many at a time, a moment after what they are about, so that no call waits for them.
//!
//! A node that is killed loses those of its last moments; one that is stopped loses nothing.

use std::sync::Mutex;

use crate::hub::lock;

/// What waits while the database is away; beyond that the oldest are lost, and that is said.
const MOST: usize = 100_000;
/// Written in parts, so that one statement stays small.
const PART: usize = 1_000;

pub(crate) struct Waiting<T> {
    rows: Mutex<Vec<T>>,
    /// One at a time: who reads after writing must find what another was writing.
    writing: tokio::sync::Mutex<()>,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self { rows: Mutex::default(), writing: tokio::sync::Mutex::default() }
    }
}

impl<T> Waiting<T> {
    pub(crate) fn add(&self, more: impl IntoIterator<Item = T>) {
        let mut rows = lock(&self.rows);
        rows.extend(more);
        let lost = rows.len().saturating_sub(MOST);
        if lost > 0 {
            rows.drain(..lost);
            tracing::error!(lost, "records are lost: the database is too slow for them");
        }
    }

    /// What is to be written now.
    pub(crate) async fn take(&self) -> Taken<'_, T> {
        let alone = self.writing.lock().await;
        Taken { rows: std::mem::take(&mut *lock(&self.rows)), written: 0, home: &self.rows, _alone: alone }
    }
}

/// Rows on their way. What does not arrive goes back, also when whoever was writing it has gone: writing a row twice
/// must be writing it once.
pub(crate) struct Taken<'a, T> {
    rows: Vec<T>,
    written: usize,
    home: &'a Mutex<Vec<T>>,
    _alone: tokio::sync::MutexGuard<'a, ()>,
}

impl<T> Taken<'_, T> {
    /// What goes next; nothing when all is written.
    pub(crate) fn part(&self) -> Option<&[T]> {
        self.rows.get(self.written..)?.chunks(PART).next()
    }

    /// That has arrived.
    pub(crate) fn arrived(&mut self) {
        self.written += PART;
    }
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        let mut rest = self.rows.split_off(self.written.min(self.rows.len()));
        if !rest.is_empty() {
            let mut waiting = lock(self.home);
            rest.append(&mut waiting);
            *waiting = rest;
        }
    }
}
