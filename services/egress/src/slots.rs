//! How many requests of one tenant are under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::EgressError;

#[derive(Clone)]
pub(crate) struct Slots {
    most: usize,
    taken: Arc<Mutex<HashMap<String, usize>>>,
}

/// Gives its place back when dropped.
pub(crate) struct Slot {
    slots: Slots,
    tenant: String,
}

impl Slots {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, taken: Arc::default() }
    }

    pub(crate) fn take(&self, tenant: &str) -> Result<Slot, EgressError> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(tenant.to_owned()).or_default();
        if *count >= self.most {
            return Err(EgressError::Busy);
        }
        *count += 1;
        Ok(Slot { slots: self.clone(), tenant: tenant.to_owned() })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.slots.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.tenant) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                taken.remove(&self.tenant);
            }
        }
    }
}
