//! TypeScript without its types. A component of its own does it: the text is a stranger's, and no parser of it runs
//! outside of a sandbox.

use wasmtime::component::Component;
use wasmtime::{Store, Trap};

use super::access::Usage;
use super::{KeptCode, SnapshotError, SnapshotLimits, Ticker, imports, kept};

/// Built from `functions-sdk/js/types`, committed with its hash.
const TYPES_WASM: &[u8] = include_bytes!("../../../../functions-sdk/js/types/types.wasm");

pub(crate) struct Stripper {
    component: Component,
}

impl Stripper {
    pub(crate) fn open(kept: Option<&KeptCode>) -> Result<Self, SnapshotError> {
        Ok(Self { component: kept::open(kept, own)? })
    }

    /// The compiled form, to be kept.
    pub(crate) fn make() -> Result<Vec<u8>, SnapshotError> {
        kept::precompile(own)
    }

    /// What the file is called that keeps it.
    pub(crate) fn file_name() -> Result<String, SnapshotError> {
        Ok(kept::file_name(&kept::engine()?, "script-types", TYPES_WASM))
    }

    /// The JavaScript of one file, everything in its place.
    pub(crate) fn strip(&self, file_name: &str, source: &str, limits: SnapshotLimits) -> Result<String, SnapshotError> {
        let engine = self.component.engine();
        let mut store = Store::new(engine, Usage::new(limits.memory));
        store.limiter(|usage| usage);
        store.set_epoch_deadline(Ticker::ticks(limits.cpu));
        let _ticker = Ticker::start(engine);
        let instance = imports::frozen(&self.component)?.instantiate(&mut store, &self.component)?;
        let strip = instance.get_typed_func::<(&str, &str), (Result<String, String>,)>(&mut store, "strip")?;
        match strip.call(&mut store, (file_name, source)) {
            Ok((stripped,)) => stripped.map_err(SnapshotError::Script),
            Err(error) => Err(match error.downcast_ref::<Trap>() {
                Some(Trap::Interrupt) => SnapshotError::Limit(format!("{file_name}: reading its types took too long")),
                Some(Trap::StackOverflow | Trap::MemoryOutOfBounds) => {
                    SnapshotError::Limit(format!("{file_name}: it is nested too deep to read its types"))
                }
                _ if store.data().was_refused() => {
                    SnapshotError::Limit(format!("{file_name}: reading its types needed too much memory"))
                }
                _ => error.into(),
            }),
        }
    }
}

fn own() -> Result<Vec<u8>, SnapshotError> {
    Ok(TYPES_WASM.to_owned())
}
