//! What every suite stands on: a Postgres that this process starts and takes down, a runtime that the tests share,
//! and a server of its own for each test.

pub mod binary;
pub mod cluster;
mod database;
pub mod dev;
pub mod guest;
pub mod project;
mod redact;
mod server;
mod sse;
pub mod tongue;

pub use database::database;
pub use guest::{answering, recursing, spinning};
pub use redact::redacted;
pub use server::{TestServer, read, runtime};
pub use sse::{Frame, Stream, frames};
pub use tongue::{Told, Tongue};

/// A file of the fixtures, or of the examples.
pub fn fixture(name: &str) -> Vec<u8> {
    let path = root().join("tests/fixtures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn example(name: &str) -> Vec<u8> {
    let path = root().join("functions-sdk/examples").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The top of the source tree.
pub fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The built binary.
pub fn pleat() -> &'static str {
    env!("CARGO_BIN_EXE_pleat")
}
