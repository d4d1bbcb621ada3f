//! The script engine's functions, compiled: every script has the same ones, and only its memory is its own.
//!
//! Compiling them anew would be most of a deploy. They are compiled once, from a script of the platform's own, by a child
//! that is given nothing of a tenant's, and from then on only read: what a script's own deploy compiles is not kept.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::CacheStore;

use super::{ENGINE_WASM, Instrumented, KeptCode, SnapshotError, SnapshotLimits, kept, snapshot};
use crate::machine;

/// The length of a length.
const WORD: usize = 4;

/// Functions by what they were compiled from.
#[derive(Debug)]
pub(crate) struct Functions {
    bytes: Vec<u8>,
    places: HashMap<Vec<u8>, Range<usize>>,
}

impl Functions {
    /// From what [`Functions::make`] made; none where nothing is kept.
    pub(crate) fn open(kept: Option<&KeptCode>) -> Option<Self> {
        let bytes = kept?.bytes().to_vec();
        let mut places = HashMap::new();
        let mut at = 0;
        while at < bytes.len() {
            let key = next(&bytes, at)?;
            let value = next(&bytes, key.end)?;
            at = value.end;
            places.insert(bytes.get(key)?.to_vec(), value);
        }
        Some(Self { bytes, places })
    }

    /// The functions as they are kept.
    pub(crate) fn make(script_engine: Option<&KeptCode>, limits: SnapshotLimits) -> Result<Vec<u8>, SnapshotError> {
        let instrumented = Instrumented::open(script_engine)?;
        let script = [("own.js".to_owned(), "export default () => null;".to_owned())];
        let recorder = Arc::new(Recorder::default());
        let engine = machine::compiling(Some(recorder.clone()))?;
        engine.precompile_component(&snapshot(&instrumented, &script, limits)?)?;
        Ok(recorder.written())
    }

    /// What the file is called that keeps them.
    pub(crate) fn file_name() -> Result<String, SnapshotError> {
        Ok(kept::file_name(&machine::compiling(None)?, "script-functions", ENGINE_WASM))
    }
}

/// The text that begins with its length.
fn next(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let begins = at.checked_add(WORD)?;
    let length = u32::from_le_bytes(bytes.get(at..begins)?.try_into().ok()?) as usize;
    let ends = begins.checked_add(length)?;
    (ends <= bytes.len()).then_some(begins..ends)
}

impl CacheStore for Functions {
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        Some(Cow::Borrowed(self.bytes.get(self.places.get(key)?.clone())?))
    }

    fn insert(&self, _: &[u8], _: Vec<u8>) -> bool {
        false
    }
}

#[derive(Debug, Default)]
struct Recorder(Mutex<BTreeMap<Vec<u8>, Vec<u8>>>);

impl Recorder {
    fn written(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (key, value) in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            for text in [key, value] {
                bytes.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
                bytes.extend_from_slice(text);
            }
        }
        bytes
    }
}

impl CacheStore for Recorder {
    fn get(&self, _: &[u8]) -> Option<Cow<'_, [u8]>> {
        None
    }

    fn insert(&self, key: &[u8], value: Vec<u8>) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_vec(), value);
        true
    }
}
