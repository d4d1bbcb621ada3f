//! Small values that outlive the call, shared by the functions of one tenant.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::pleat::function::key_value;
pub use crate::bindings::pleat::function::key_value::{KvError, Page};
use crate::{Context, Error};

/// The tenant's store. Needs `keyValue` in the manifest, and the grant.
#[derive(Debug, Clone, Copy)]
pub struct KeyValue(());

impl Context {
    pub fn key_value(&self) -> KeyValue {
        KeyValue(())
    }
}

impl KeyValue {
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>, KvError> {
        key_value::get(key)
    }

    pub fn get_json<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Error> {
        Ok(self.get(key)?.map(|value| serde_json::from_slice(&value)).transpose()?)
    }

    /// At most 64 KiB. Without a time to live it stays until it is deleted.
    pub fn set(&self, key: &str, value: &[u8], time_to_live: Option<Duration>) -> Result<(), KvError> {
        let seconds = time_to_live.map(|time| u32::try_from(time.as_secs()).unwrap_or(u32::MAX));
        key_value::set(key, value, seconds)
    }

    pub fn set_json(
        &self,
        key: &str,
        value: &(impl Serialize + ?Sized),
        time_to_live: Option<Duration>,
    ) -> Result<(), Error> {
        Ok(self.set(key, &serde_json::to_vec(value)?, time_to_live)?)
    }

    /// True: there was one.
    pub fn delete(&self, key: &str) -> Result<bool, KvError> {
        key_value::delete(key)
    }

    /// Adds to a number and gives the sum; no other call can come between. What is not there counts as 0.
    pub fn increment(&self, key: &str, delta: i64) -> Result<i64, KvError> {
        key_value::increment(key, delta)
    }

    /// Keys that begin with `prefix`, in order, at most 1,000 at a time; `cursor` goes on where a page ended.
    pub fn list(&self, prefix: &str, cursor: Option<&str>, limit: u32) -> Result<Page, KvError> {
        key_value::list_keys(prefix, cursor, limit)
    }
}
