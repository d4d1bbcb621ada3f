//! What the platform has compiled of its own. Compiling costs more than everything else in a deploy, so the platform
//! keeps the results in files.
//!
//! Such a file holds native code. It is written by the platform from its own bytes only, never by a process that has
//! seen a tenant's, and lies where only the platform can write.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use wasmtime::component::Component;
use wasmtime::{Config, Engine, OptLevel};

use super::{SCRIPT_STACK, SnapshotError};

/// The length of the digest that a file begins with.
const DIGEST: usize = 32;

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

/// From the file that [`keep`] wrote, or compiled on the spot where there is none that fits.
pub(super) fn open(
    kept: Option<&Path>,
    wasm: impl FnOnce() -> Result<Vec<u8>, SnapshotError>,
) -> Result<Component, SnapshotError> {
    let engine = engine()?;
    let bytes = kept.and_then(|path| std::fs::read(path).ok());
    match bytes.as_deref().and_then(|bytes| restore(&engine, bytes)) {
        Some(component) => Ok(component),
        None => Ok(Component::new(&engine, wasm()?)?),
    }
}

/// Makes sure that `directory` holds the compiled form, and answers where. For the platform's own process (or a
/// child that is given nothing of a tenant's); a second call finds the file.
pub(super) fn keep(
    directory: &Path,
    name: &str,
    original: &[u8],
    wasm: impl FnOnce() -> Result<Vec<u8>, SnapshotError>,
) -> Result<PathBuf, SnapshotError> {
    let engine = engine()?;
    keep_as(directory, name, &engine, original, || Ok(engine.precompile_component(&wasm()?)?))
}

/// The same for anything that follows from `original` and the settings of an engine.
pub(super) fn keep_as(
    directory: &Path,
    name: &str,
    engine: &Engine,
    original: &[u8],
    make: impl FnOnce() -> Result<Vec<u8>, SnapshotError>,
) -> Result<PathBuf, SnapshotError> {
    let path = directory.join(file_name(engine, name, original));
    if std::fs::read(&path).is_ok_and(|bytes| checked(&bytes).is_some()) {
        return Ok(path);
    }
    let made = make()?;
    let mut bytes = Sha256::digest(&made).to_vec();
    bytes.extend_from_slice(&made);
    write(directory, &path, &bytes).map_err(|error| {
        SnapshotError::Internal(format!("cannot keep the compiled {name} in `{}`: {error}", path.display()))
    })?;
    Ok(path)
}

/// Named after everything that the code depends on.
fn file_name(engine: &Engine, name: &str, original: &[u8]) -> String {
    let mut hasher = FileNameHasher(Sha256::new_with_prefix(original));
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{name}-{}.cwasm", hex::encode(hasher.0.finalize()))
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

/// What is in the file, if it is what was written.
pub(super) fn checked(bytes: &[u8]) -> Option<&[u8]> {
    let (digest, code) = bytes.split_at_checked(DIGEST)?;
    (Sha256::digest(code).as_slice() == digest).then_some(code)
}

#[expect(unsafe_code, reason = "native code of our own, from a file that only the platform writes, digest checked")]
fn restore(engine: &Engine, bytes: &[u8]) -> Option<Component> {
    let code = checked(bytes)?;
    // SAFETY: `keep` wrote these bytes from `Engine::precompile_component`, and they are unchanged.
    unsafe { Component::deserialize(engine, code) }.ok()
}

/// Readers see the whole file or none.
fn write(directory: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let file = tempfile::NamedTempFile::new_in(directory)?;
    std::fs::write(file.path(), bytes)?;
    file.persist(path)?;
    Ok(())
}
