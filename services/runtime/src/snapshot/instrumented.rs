//! The script engine in the form that can be snapshotted, compiled and ready to load one file after the other.

use std::path::{Path, PathBuf};

use wasmtime::Engine;
use wasmtime::component::Component;

use super::{ENGINE_WASM, SnapshotError, kept, wizer};

pub(crate) struct Instrumented {
    component: Component,
}

impl Instrumented {
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, SnapshotError> {
        Ok(Self { component: kept::open(path, instrument)? })
    }

    pub(crate) fn keep(directory: &Path) -> Result<PathBuf, SnapshotError> {
        kept::keep(directory, "script-engine", ENGINE_WASM, instrument)
    }

    pub(super) fn component(&self) -> &Component {
        &self.component
    }

    pub(super) fn engine(&self) -> &Engine {
        self.component.engine()
    }
}

fn instrument() -> Result<Vec<u8>, SnapshotError> {
    let (_, instrumented) = wizer().instrument_component(ENGINE_WASM)?;
    Ok(instrumented)
}
