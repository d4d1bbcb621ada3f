//! Counters and histograms by their labels, looked up once: to make one out of its name and labels costs several
//! allocations, and every request has a few.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// All of one name. Made when it is first needed, because what counts may be installed after the engine was made.
pub struct Handles<T>(RwLock<HashMap<[&'static str; 2], T>>);

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T: Clone> Handles<T> {
    /// The one with these labels; who has only one of them leaves the other empty.
    pub fn of(&self, labels: [&'static str; 2], make: impl FnOnce() -> T) -> T {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&labels).cloned();
        known.unwrap_or_else(|| {
            let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
            all.entry(labels).or_insert_with(make).clone()
        })
    }
}
