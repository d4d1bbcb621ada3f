//! The script engine in the form that can be snapshotted, compiled and ready to load one file after the other.

use wasmtime::Engine;
use wasmtime::component::Component;

use super::{ENGINE_WASM, KeptCode, SnapshotError, kept, wizer};

pub(crate) struct Instrumented {
    component: Component,
}

impl Instrumented {
    pub(crate) fn open(kept: Option<&KeptCode>) -> Result<Self, SnapshotError> {
        Ok(Self { component: kept::open(kept, instrument)? })
    }

    /// The compiled form, to be kept.
    pub(crate) fn make() -> Result<Vec<u8>, SnapshotError> {
        kept::precompile(instrument)
    }

    /// The name of the file that keeps it.
    pub(crate) fn file_name() -> Result<String, SnapshotError> {
        Ok(kept::file_name(&kept::engine()?, "script-engine", ENGINE_WASM))
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
