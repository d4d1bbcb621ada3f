//! `config.get` and `secrets.get`.

use pleat_bindings::config;
use pleat_bindings::secrets::{self, SecretError};

use crate::host_calls::Unavailable;
use crate::state::State;

impl config::Host for State {
    async fn get(&mut self, name: String) -> wasmtime::Result<Option<String>> {
        self.cross(name.len())?;
        let work = self.host.config(name);
        let value = self.done(work).await.unwrap_or(Err(Unavailable))?;
        self.traffic.carry(value.as_ref().map_or(0, String::len))?;
        Ok(value)
    }
}

impl secrets::Host for State {
    async fn get(&mut self, name: String) -> wasmtime::Result<Result<String, SecretError>> {
        self.cross(name.len())?;
        let work = self.host.secret(name);
        let value = self.done(work).await.unwrap_or(Err(SecretError::Unavailable));
        self.traffic.carry(value.as_ref().map_or(0, String::len))?;
        Ok(value)
    }
}
