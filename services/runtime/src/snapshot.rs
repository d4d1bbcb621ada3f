//! JavaScript becomes a component here: the author's file is loaded into the script engine once, and the loaded
//! state is written out as a component of its own, so that a call starts from there.
//!
//! Loading runs the author's top level. It happens in the compile child, under limits, with no host behind it: the
//! clock stands still, random bytes are constant and every other import traps. Nothing here outlives one file.

mod access;
mod functions;
mod imports;
mod instrumented;
mod kept;
mod typescript;

use std::time::Duration;

use futures::executor::block_on;
use wasmtime::component::{Instance, Linker};
use wasmtime::{Engine, Store, Trap};
use wasmtime_wizer::Wizer;

use access::{Access, Usage};
pub(crate) use functions::Functions;
pub(crate) use instrumented::Instrumented;
pub(crate) use kept::{KeptCode, KeptFile};
pub(crate) use typescript::Stripper;

/// The script engine: built from `functions-sdk/js/engine`, committed with its hash.
const ENGINE_WASM: &[u8] = include_bytes!("../../../functions-sdk/js/engine/engine.wasm");

/// The native stack that the script engine's own stack check counts on. Where the host gives less, endless recursion
/// ends in a trap instead of a `RangeError` that names the author's line.
pub(crate) const SCRIPT_STACK: usize = 4 << 20;

/// What loading may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SnapshotLimits {
    /// Time in the guest; nothing but the guest runs in the meantime.
    pub(crate) cpu: Duration,
    pub(crate) memory: usize,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SnapshotError {
    /// The author's: where, what and the line, fit to be shown as it is.
    #[error("{0}")]
    Script(String),
    #[error("{0}")]
    Limit(String),
    /// Ours.
    #[error("the script engine failed: {0}")]
    Internal(String),
}

impl From<wasmtime::Error> for SnapshotError {
    fn from(error: wasmtime::Error) -> Self {
        Self::Internal(format!("{error:#}"))
    }
}

/// The component of a script: path and text of its files, the entry first. Frames in stack traces will be called by
/// the paths.
pub(crate) fn snapshot(
    instrumented: &Instrumented,
    files: &[(String, String)],
    limits: SnapshotLimits,
) -> Result<Vec<u8>, SnapshotError> {
    let wizer = wizer();
    // Cheap beside compiling: the context borrows from the bytes and cannot be kept.
    let (context, _) = wizer.instrument_component(ENGINE_WASM)?;
    let engine = instrumented.engine();
    let mut store = Store::new(engine, Usage::new(limits.memory));
    store.limiter(|usage| usage);
    store.set_epoch_deadline(Ticker::ticks(limits.cpu));
    let instance = {
        let _ticker = Ticker::start(engine);
        let linker = imports::frozen(instrumented.component())?;
        load(&mut store, &linker, instrumented, files).map_err(|failed| failed.classify(&store, limits))?
    };
    // Reading the memory out grows it by a page, on our account.
    store.data_mut().lift();
    store.set_epoch_deadline(u64::MAX / 2);
    let mut access = Access::new(&mut store, instance);
    let component = block_on(wizer.snapshot_component(&context, &mut access))?;
    match access.into_failure() {
        Some(failure) => Err(failure.into()),
        None => Ok(component),
    }
}

fn wizer() -> Wizer {
    let mut wizer = Wizer::new();
    // There is no function to remove, and removing one would renumber the others.
    wizer.keep_init_func(true);
    wizer
}

/// Why the file did not load.
enum Failed {
    Said(String),
    Stopped(wasmtime::Error),
}

impl From<wasmtime::Error> for Failed {
    fn from(error: wasmtime::Error) -> Self {
        Self::Stopped(error)
    }
}

fn load(
    store: &mut Store<Usage>,
    linker: &Linker<Usage>,
    instrumented: &Instrumented,
    files: &[(String, String)],
) -> Result<Instance, Failed> {
    let instance = linker.instantiate(&mut *store, instrumented.component())?;
    let missing = || wasmtime::format_err!("the script engine exports no `loader`");
    let (_, loader) = instance.get_export(&mut *store, None, "loader").ok_or_else(missing)?;
    let (_, load) = instance.get_export(&mut *store, Some(&loader), "load").ok_or_else(missing)?;
    let load = instance.get_typed_func::<(&[(String, String)],), (Result<(), String>,)>(&mut *store, load)?;
    let (loaded,) = load.call(&mut *store, (files,))?;
    loaded.map_err(Failed::Said)?;
    Ok(instance)
}

impl Failed {
    fn classify(self, store: &Store<Usage>, limits: SnapshotLimits) -> SnapshotError {
        let trap = match &self {
            Self::Stopped(error) => error.downcast_ref::<Trap>().copied(),
            Self::Said(_) => None,
        };
        match self {
            _ if trap == Some(Trap::Interrupt) => SnapshotError::Limit(format!(
                "the top level of the file ran longer than {} ms; move the work into the function",
                limits.cpu.as_millis()
            )),
            // Out of memory has no trap of its own, and an author may have caught the exception.
            _ if store.data().was_refused() => SnapshotError::Limit(format!(
                "the top level of the file used more than {} MiB of memory; keep less of it at the top level",
                limits.memory >> 20
            )),
            _ if trap == Some(Trap::StackOverflow) => {
                SnapshotError::Limit("the top level of the file recursed too deeply".to_owned())
            }
            Self::Said(text) => SnapshotError::Script(text),
            Self::Stopped(error) => error.into(),
        }
    }
}

/// Moves the engine's epoch on while a file loads, so that an endless top level ends.
struct Ticker {
    /// Dropped, it ends the thread.
    _stop: std::sync::mpsc::Sender<()>,
}

impl Ticker {
    const TICK: Duration = Duration::from_millis(10);

    fn ticks(limit: Duration) -> u64 {
        u64::try_from(limit.as_millis() / Self::TICK.as_millis()).unwrap_or(u64::MAX / 2).max(1)
    }

    fn start(engine: &Engine) -> Self {
        let (stop, stopped) = std::sync::mpsc::channel();
        let engine = engine.weak();
        std::thread::spawn(move || {
            while stopped.recv_timeout(Self::TICK) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                match engine.upgrade() {
                    Some(engine) => engine.increment_epoch(),
                    None => return,
                }
            }
        });
        Self { _stop: stop }
    }
}
