//! The one way back out of the sandbox, implemented by the engine.
//!
//! By the time one of these is called the limits have been applied: lines are cut and escaped, chunks are valid and
//! of allowed size and number, keys and values fit. An implementation records, and decides what is granted; it must
//! not decide about limits again.
//!
//! What takes time comes back as a future that borrows nothing of the guest. It is run on the threads that do input
//! and output, and dropped when the guest no longer waits for it.

use std::future::ready;

use futures::future::BoxFuture;
use pleat_domain::event::Progress;
use pleat_domain::{Block, LogLevel, Raw};

pub use pleat_bindings::call::CallError;
pub use pleat_bindings::http::{Header, HttpError, Request as HttpRequest, Response as HttpResponse};
pub use pleat_bindings::key_value::{KvError, Page as KeyPage};
pub use pleat_bindings::secrets::SecretError;
pub use pleat_bindings::types::Error as GuestError;

/// A piece of an artifact, given out while the function runs.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// Without a name the chunks form `<skill>-stream`.
    pub artifact: Option<String>,
    pub body: ChunkBody,
    /// Closes the artifact.
    pub last: bool,
}

#[derive(Debug, Clone)]
pub enum ChunkBody {
    Text(String),
    Data(Raw),
    Blocks(Vec<Block>),
}

/// Work that a guest waits for.
pub type Work<T> = BoxFuture<'static, T>;

/// What was asked for cannot be had now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the platform cannot answer now")]
pub struct Unavailable;

/// What a guest may cause outside. `message`, `history`, `state` and `reply` hand JSON text in. What is not
/// implemented is not granted.
pub trait HostCalls: Send {
    fn log(&mut self, level: LogLevel, message: String);
    /// The guest waits for it, so that a slow reader slows the writer down.
    fn emit(&mut self, chunk: Chunk) -> BoxFuture<'_, ()>;
    fn progress(&mut self, progress: Progress);
    fn message(&mut self) -> String;
    fn history(&mut self) -> Vec<String>;
    fn state(&mut self) -> Option<String>;
    fn reply(&mut self) -> Option<String>;

    /// A setting of the tenant. The contract has no word for a failure here: it ends the call.
    fn config(&mut self, _name: String) -> Work<Result<Option<String>, Unavailable>> {
        Box::pin(ready(Ok(None)))
    }

    fn secret(&mut self, _name: String) -> Work<Result<String, SecretError>> {
        Box::pin(ready(Err(SecretError::NotGranted)))
    }

    fn value(&mut self, _key: String) -> Work<Result<Option<Vec<u8>>, KvError>> {
        Box::pin(ready(Err(KvError::NotGranted)))
    }

    fn set_value(&mut self, _key: String, _value: Vec<u8>, _ttl_seconds: Option<u32>) -> Work<Result<(), KvError>> {
        Box::pin(ready(Err(KvError::NotGranted)))
    }

    /// True: there was one.
    fn delete_value(&mut self, _key: String) -> Work<Result<bool, KvError>> {
        Box::pin(ready(Err(KvError::NotGranted)))
    }

    fn increment(&mut self, _key: String, _delta: i64) -> Work<Result<i64, KvError>> {
        Box::pin(ready(Err(KvError::NotGranted)))
    }

    fn list_keys(&mut self, _prefix: String, _cursor: Option<String>, _limit: u32) -> Work<Result<KeyPage, KvError>> {
        Box::pin(ready(Err(KvError::NotGranted)))
    }

    /// Another skill. Dropping the work stops it.
    #[expect(clippy::boxed_local, reason = "a raw value is a box wherever it goes")]
    fn call(&mut self, _skill: String, _input: Raw) -> Result<Work<Result<Raw, CallError>>, CallError> {
        Err(CallError::NotGranted)
    }

    /// HTTP to the outside.
    fn http(&mut self, request: HttpRequest) -> Result<Work<Result<HttpResponse, HttpError>>, HttpError> {
        Err(HttpError::NotGranted(host_of(&request.url).to_owned()))
    }
}

/// What would have to be granted: the URL without scheme, path and query.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    crate::text::cut(host, 253)
}

/// Host calls that go nowhere: for `describe`, which has no caller.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl HostCalls for Silent {
    fn log(&mut self, _: LogLevel, _: String) {}

    fn emit(&mut self, _: Chunk) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn progress(&mut self, _: Progress) {}

    fn message(&mut self) -> String {
        "null".to_owned()
    }

    fn history(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn state(&mut self) -> Option<String> {
        None
    }

    fn reply(&mut self) -> Option<String> {
        None
    }
}
