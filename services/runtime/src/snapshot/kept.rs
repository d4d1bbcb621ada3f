//! What the platform has compiled of its own. Compiling costs more than everything else in a deploy, so the platform
//! keeps the results in files.
//!
//! Such a file holds native code. It is made from the platform's own bytes only, never by a process that has seen a
//! tenant's. The server writes it with a MAC and checks that; a child checks that it reads what the server has checked.

use std::hash::{Hash, Hasher};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wasmtime::component::Component;
use wasmtime::{Config, Engine, OptLevel};

use super::{SCRIPT_STACK, SnapshotError};

/// On demand and with small reservations: the pooling engine reserves terabytes of address space, and the child
/// lives under a limit of a few gigabytes. Hence its own compatibility hash, too. Calls run on the caller's thread,
/// which needs a stack larger than [`SCRIPT_STACK`].
pub(super) fn engine() -> Result<Engine, SnapshotError> {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .concurrency_support(false)
        .shared_memory(false)
        .wasm_memory64(false)
        .memory_reservation(64 << 20)
        .memory_reservation_for_growth(64 << 20)
        .memory_guard_size(64 << 10)
        .max_wasm_stack(SCRIPT_STACK)
        .async_stack_size(2 * SCRIPT_STACK)
        // Compiled once and run for milliseconds.
        .cranelift_opt_level(OptLevel::None);
    Ok(Engine::new(&config)?)
}

/// A file of the platform's own compiled code, whose MAC the parent has checked, and what was in it then.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct KeptFile {
    pub(crate) path: PathBuf,
    /// SHA-256 in hex.
    pub(crate) digest: String,
}

/// Content of a [`KeptFile`], as the parent checked it.
#[derive(Debug)]
pub(crate) struct KeptCode(Vec<u8>);

impl KeptFile {
    /// `None`: it is gone, or is not what the parent checked.
    pub(crate) fn read(&self) -> Option<KeptCode> {
        let bytes = std::fs::read(&self.path).ok()?;
        (hex::encode(Sha256::digest(&bytes)) == self.digest).then_some(KeptCode(bytes))
    }
}

impl KeptCode {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// From what is kept, or compiled on the spot where there is nothing that fits.
pub(super) fn open(
    kept: Option<&KeptCode>,
    wasm: impl FnOnce() -> Result<Vec<u8>, SnapshotError>,
) -> Result<Component, SnapshotError> {
    let engine = engine()?;
    match kept.and_then(|code| restore(&engine, code)) {
        Some(component) => Ok(component),
        None => Ok(Component::new(&engine, wasm()?)?),
    }
}

/// The compiled form, to be kept. For a child that is given nothing of a tenant's.
pub(super) fn precompile(wasm: impl FnOnce() -> Result<Vec<u8>, SnapshotError>) -> Result<Vec<u8>, SnapshotError> {
    Ok(engine()?.precompile_component(&wasm()?)?)
}

/// Named after everything that the code depends on.
pub(super) fn file_name(engine: &Engine, name: &str, original: &[u8]) -> String {
    let mut hasher = FileNameHasher(Sha256::new_with_prefix(original));
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{name}-{}", hex::encode(hasher.0.finalize()))
}

/// A `Hasher` whose result is stable over processes, unlike the standard library's.
struct FileNameHasher(Sha256);

impl Hasher for FileNameHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

#[expect(unsafe_code, reason = "native code of our own, from a file whose MAC and digest were checked")]
fn restore(engine: &Engine, code: &KeptCode) -> Option<Component> {
    // SAFETY: these bytes came from `Engine::precompile_component`, and `KeptFile::read` saw that they are unchanged.
    unsafe { Component::deserialize(engine, code.bytes()) }.ok()
}
