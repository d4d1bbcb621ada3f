//! Configuration, secrets, key-value, calls and HTTP: no deployment can be granted any of them yet, so each answers
//! as the contract says for a function without the grant.

use pleat_bindings::call::{self, CallError, PendingCall};
use pleat_bindings::http::{self, HttpError, PendingResponse, Request, Response};
use pleat_bindings::key_value::{self, KvError, Page};
use pleat_bindings::secrets::{self, SecretError};
use pleat_bindings::{config, types};
use wasmtime::component::Resource;
use wasmtime_wasi::p2::DynPollable;

use crate::state::State;
use crate::text;

/// Handles are made by granted calls only; a guest that presents one made it up.
#[derive(Debug, thiserror::Error)]
#[error("there is no pending call behind this handle")]
struct NoSuchHandle;

impl config::Host for State {
    fn get(&mut self, _: String) -> wasmtime::Result<Option<String>> {
        Ok(None)
    }
}

impl secrets::Host for State {
    fn get(&mut self, _: String) -> wasmtime::Result<Result<String, SecretError>> {
        Ok(Err(SecretError::NotGranted))
    }
}

impl key_value::Host for State {
    fn get(&mut self, _: String) -> wasmtime::Result<Result<Option<Vec<u8>>, KvError>> {
        Ok(Err(KvError::NotGranted))
    }

    fn set(&mut self, _: String, _: Vec<u8>, _: Option<u32>) -> wasmtime::Result<Result<(), KvError>> {
        Ok(Err(KvError::NotGranted))
    }

    fn delete(&mut self, _: String) -> wasmtime::Result<Result<bool, KvError>> {
        Ok(Err(KvError::NotGranted))
    }

    fn increment(&mut self, _: String, _: i64) -> wasmtime::Result<Result<i64, KvError>> {
        Ok(Err(KvError::NotGranted))
    }

    fn list_keys(&mut self, _: String, _: Option<String>, _: u32) -> wasmtime::Result<Result<Page, KvError>> {
        Ok(Err(KvError::NotGranted))
    }
}

impl call::Host for State {
    fn start(&mut self, _: String, _: String) -> wasmtime::Result<Result<Resource<PendingCall>, CallError>> {
        Ok(Err(CallError::NotGranted))
    }
}

impl call::HostPendingCall for State {
    fn subscribe(&mut self, _: Resource<PendingCall>) -> wasmtime::Result<Resource<DynPollable>> {
        Err(NoSuchHandle.into())
    }

    fn take(&mut self, _: Resource<PendingCall>) -> wasmtime::Result<Option<Result<types::Json, CallError>>> {
        Err(NoSuchHandle.into())
    }

    fn drop(&mut self, _: Resource<PendingCall>) -> wasmtime::Result<()> {
        Err(NoSuchHandle.into())
    }
}

impl http::Host for State {
    fn send(&mut self, request: Request) -> wasmtime::Result<Result<Resource<PendingResponse>, HttpError>> {
        Ok(Err(HttpError::NotGranted(host_of(&request.url).to_owned())))
    }
}

impl http::HostPendingResponse for State {
    fn subscribe(&mut self, _: Resource<PendingResponse>) -> wasmtime::Result<Resource<DynPollable>> {
        Err(NoSuchHandle.into())
    }

    fn take(&mut self, _: Resource<PendingResponse>) -> wasmtime::Result<Option<Result<Response, HttpError>>> {
        Err(NoSuchHandle.into())
    }

    fn drop(&mut self, _: Resource<PendingResponse>) -> wasmtime::Result<()> {
        Err(NoSuchHandle.into())
    }
}

/// What would have to be granted: the URL without scheme, path and query.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    text::cut(host, 253)
}
