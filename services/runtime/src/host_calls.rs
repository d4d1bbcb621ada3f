//! The one way back out of the sandbox, implemented by the engine.
//!
//! By the time one of these is called the limits have been applied: lines are cut and escaped, chunks are valid and
//! of allowed size and number. An implementation records; it must not decide about limits again.

use futures::future::BoxFuture;
use pleat_domain::event::Progress;
use pleat_domain::{Block, LogLevel, Raw};

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

/// What a guest may cause outside. `message`, `history`, `state` and `reply` hand JSON text in.
pub trait HostCalls: Send {
    fn log(&mut self, level: LogLevel, message: String);
    /// The guest waits for it, so that a slow reader slows the writer down.
    fn emit(&mut self, chunk: Chunk) -> BoxFuture<'_, ()>;
    fn progress(&mut self, progress: Progress);
    fn message(&mut self) -> String;
    fn history(&mut self) -> Vec<String>;
    fn state(&mut self) -> Option<String>;
    fn reply(&mut self) -> Option<String>;
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
