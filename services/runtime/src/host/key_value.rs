//! `key-value`: keys and values are held to their sizes here, the tenant's share where they are kept.

use pleat_bindings::key_value::{self, KvError, Page};
use pleat_domain::limits;

use crate::host_calls::Work;
use crate::state::State;

/// Greater than every character that a key may hold: what a range of keys ends with.
const NOT_IN_KEYS: char = char::MAX;

impl key_value::Host for State {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<Vec<u8>>, KvError>> {
        self.cross(key.len())?;
        if let Err(fault) = check(&key, 1) {
            return Ok(Err(fault));
        }
        let work = self.host.value(key);
        let value = self.kept(work).await;
        let size = value.as_ref().ok().and_then(Option::as_ref).map_or(0, Vec::len);
        self.traffic.carry(size)?;
        Ok(value)
    }

    async fn set(
        &mut self,
        key: String,
        value: Vec<u8>,
        ttl_seconds: Option<u32>,
    ) -> wasmtime::Result<Result<(), KvError>> {
        self.cross(key.len() + value.len())?;
        if let Err(fault) = check(&key, 1) {
            return Ok(Err(fault));
        }
        if value.len() > limits::KEY_VALUE_VALUE {
            return Ok(Err(KvError::TooLarge));
        }
        let work = self.host.set_value(key, value, ttl_seconds);
        Ok(self.kept(work).await)
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<Result<bool, KvError>> {
        self.cross(key.len())?;
        if let Err(fault) = check(&key, 1) {
            return Ok(Err(fault));
        }
        let work = self.host.delete_value(key);
        Ok(self.kept(work).await)
    }

    async fn increment(&mut self, key: String, delta: i64) -> wasmtime::Result<Result<i64, KvError>> {
        self.cross(key.len())?;
        if let Err(fault) = check(&key, 1) {
            return Ok(Err(fault));
        }
        let work = self.host.increment(key, delta);
        Ok(self.kept(work).await)
    }

    async fn list_keys(
        &mut self,
        prefix: String,
        cursor: Option<String>,
        limit: u32,
    ) -> wasmtime::Result<Result<Page, KvError>> {
        self.cross(prefix.len() + cursor.as_ref().map_or(0, String::len))?;
        if let Err(fault) = check(&prefix, 0) {
            return Ok(Err(fault));
        }
        let work = self.host.list_keys(prefix, cursor, limit.clamp(1, limits::KEY_VALUE_PAGE));
        let page = self.kept(work).await;
        let size = page.as_ref().map_or(0, |page| page.keys.iter().map(String::len).sum());
        self.traffic.carry(size)?;
        Ok(page)
    }
}

impl State {
    fn kept<T: Send + 'static>(
        &self,
        work: Work<Result<T, KvError>>,
    ) -> impl Future<Output = Result<T, KvError>> + Send + use<T> {
        let done = self.done(work);
        async move { done.await.unwrap_or(Err(KvError::Unavailable)) }
    }
}

fn check(key: &str, least: usize) -> Result<(), KvError> {
    let most = limits::KEY_VALUE_KEY;
    if !(least..=most).contains(&key.len()) {
        return Err(KvError::InvalidKey(format!("a key has 1 to {most} bytes, not {}", key.len())));
    }
    if key.chars().any(|character| character.is_control() || character == NOT_IN_KEYS) {
        return Err(KvError::InvalidKey("a key has no control characters".to_owned()));
    }
    Ok(())
}
