//! The front of the crate: prepare, load, describe, call.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use moka::future::Cache;
use pleat_domain::{CallLimits, Failure, Reason, VersionHash};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;
use wasmtime::component::Linker;

use crate::artefacts::Artefacts;
use crate::call::{self, Call, CallReport, Entry, GuestContext, Stop};
use crate::compile::{Compiler, Purpose};
use crate::config::RuntimeConfig;
use crate::error::{PrepareError, RuntimeError};
use crate::function::Function;
use crate::gate::Party;
use crate::guests::Guests;
use crate::host_calls::Silent;
use crate::machine;
use crate::memory::MemoryBudget;
use crate::outcome::Outcome;
use crate::pace::{self, Lane, Lanes, Left};
use crate::sandbox::SandboxReport;
use crate::source::{Source, VersionRef};
use crate::state::State;

/// Cheap to clone; all clones are one runtime.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

struct Inner {
    linker: Linker<State>,
    guests: Guests,
    lanes: Lanes,
    artefacts: Arc<Artefacts>,
    compiler: Compiler,
    loaded: Cache<CodeId, Arc<Function>>,
    share_code: bool,
    capacity: usize,
    running: Arc<AtomicUsize>,
    memory: MemoryBudget,
}

/// Whose code of which version: tenants do not share it.
type CodeId = (Party, VersionHash);

/// A source that can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prepared {
    pub hash: VersionHash,
    /// The size of its compiled code on disk.
    pub compiled_bytes: u64,
    /// Whether it had to be compiled.
    pub is_new: bool,
}

/// How full it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// Calls inside the sandbox now.
    pub running: usize,
    /// The most that there can be.
    pub capacity: usize,
    /// Functions that need not be loaded before their next call.
    pub loaded: u64,
    /// What is being compiled, and what waits for it, the background aside.
    pub compiling: usize,
    pub compile_waiting: usize,
}

impl Runtime {
    /// Builds the engine and starts its threads. Must not run on the guests' threads.
    pub fn start(config: RuntimeConfig) -> Result<Self, RuntimeError> {
        let engine = machine::pooled(config.pool).map_err(RuntimeError::Engine)?;
        let linker = machine::linker(&engine).map_err(RuntimeError::Engine)?;
        let lanes = Lanes::new(config.workers.max(1));
        machine::start_ticker(&engine, lanes.busy()).map_err(RuntimeError::Threads)?;
        let artefacts = Arc::new(Artefacts::open(&config, &machine::compatibility(&engine))?);
        let inner = Inner {
            linker,
            guests: Guests::start(config.workers).map_err(RuntimeError::Threads)?,
            lanes,
            compiler: Compiler::new(config.compiler, config.compile, config.sandbox, Arc::clone(artefacts.code())),
            artefacts,
            loaded: Cache::new(config.loaded),
            share_code: config.share_code,
            capacity: config.pool.instances as usize,
            running: Arc::default(),
            memory: MemoryBudget::new(config.memory_bytes),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Makes a source callable: compiled, linked and kept. Doing it again for the same source is no work. On failure
    /// nothing is left behind. `party` takes turns with others, and is who pays.
    pub async fn prepare(&self, source: &Source, party: Party) -> Result<Prepared, PrepareError> {
        let (size, most) = (source.bytes.len(), source.language.most_bytes());
        if size > most {
            return Err(PrepareError::TooLarge { size, most });
        }
        let hash = source.hash();
        let id = self.inner.id(party, hash);
        let (function, is_new) = match self.inner.loaded.get(&id).await {
            Some(function) => (function, false),
            None => {
                let is_new = !self.has_code(&source.version(), party);
                let function = Arc::new(self.inner.prepared(source, hash, party).await?);
                self.inner.loaded.insert(id, Arc::clone(&function)).await;
                (function, is_new)
            }
        };
        // Also where another tenant has the same source: it would be quicker, and tell.
        self.inner.artefacts.replace_source(hash, source.bytes.clone()).await?;
        Ok(Prepared { hash, compiled_bytes: function.compiled_bytes(), is_new })
    }

    /// Removes what [`Runtime::prepare`] has newly made, for a deploy that came to nothing.
    pub async fn discard(&self, hash: VersionHash, party: Party) {
        self.inner.loaded.invalidate(&self.inner.id(party, hash)).await;
        self.inner.artefacts.discard(party, hash).await;
    }

    /// Whether there is room for more compiled code without evicting any.
    pub fn has_room_for_code(&self) -> bool {
        self.inner.artefacts.has_room()
    }

    /// A version that was prepared before. Code that is missing, damaged or of another engine is compiled again from
    /// the kept source, when it is the party's turn.
    pub async fn load(&self, version: &VersionRef, party: Party) -> Result<Arc<Function>, RuntimeError> {
        let id = self.inner.id(party, version.hash);
        if let Some(function) = self.inner.loaded.get(&id).await {
            return Ok(function);
        }
        let loading = async { self.inner.reload(version, party).await.map(Arc::new) };
        Box::pin(self.inner.loaded.try_get_with(id, loading)).await.map_err(RuntimeError::Shared)
    }

    /// Takes a source that another node has prepared, so that `load` finds it.
    pub async fn keep_source(&self, hash: VersionHash, bytes: Bytes) -> Result<(), RuntimeError> {
        self.inner.artefacts.replace_source(hash, bytes).await
    }

    /// The manifest as the function gives it, under the default limits and with host calls that go nowhere.
    pub async fn describe(&self, version: &VersionRef, party: Party) -> Result<String, Failure> {
        let function = self.load(version, party).await.map_err(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, version = ?version.hash, "cannot load a version");
            Failure::new(Reason::Internal, "the platform could not load the function; its log says why")
        })?;
        let call = Call {
            party,
            function,
            entry: Entry::Describe,
            context: nobody(version),
            limits: CallLimits::DEFAULT,
            memory: Arc::new(self.inner.memory.of(party.0).call()),
            host: Box::new(Silent),
            cancel: CancellationToken::new(),
        };
        match self.call(call).await.result {
            Ok(Outcome::Text(manifest)) => Ok(manifest.get().to_owned()),
            Ok(_) => Err(Failure::new(Reason::BadOutput, "`describe` did not return a manifest")),
            Err(Stop::Failed(failure)) => Err(failure),
            Err(Stop::Canceled) => Err(stopping("describe")),
        }
    }

    /// Runs a call on the guests' threads. Dropping the future ends the call.
    pub async fn call(&self, call: Call) -> CallReport {
        let span = tracing::info_span!(target: "pleat_trace", "guest call", skill.id = call.context.skill.as_str());
        self.run(call).instrument(span).await
    }

    async fn run(&self, call: Call) -> CallReport {
        let skill = call.context.skill.clone();
        let running = Running::new(&self.inner.running);
        let pace = self.inner.lanes.pace(call.party);
        let signal = pace.signal();
        let io = tokio::runtime::Handle::current();
        let mut work: pace::Work<CallReport> = Box::pin(async move {
            let _running = running;
            call::run(call, pace, io).await
        });
        // What else has come in by now is looked at first, so that calls are handed over together: one that wakes a
        // thread finds it awake for those behind it, and waking is a large part of what a short call costs.
        tokio::task::yield_now().await;
        let mut lane = Lane::Quick;
        let done = loop {
            let running = self.inner.guests.of(lane).spawn(pace::within(lane, work, signal.clone()));
            match AbortOnDropHandle::new(running).await {
                Ok(Left::Done(report)) => break Ok(report),
                Ok(Left::For(next, rest)) => (lane, work) = (next, rest),
                Err(error) => break Err(error),
            }
        };
        match done {
            Ok(report) => report,
            Err(error) if error.is_cancelled() => CallReport::not_run(Stop::Failed(stopping(&skill))),
            Err(error) => {
                tracing::error!(error = %error, skill.id = skill, "a call panicked in the host");
                let message = format!("the platform failed while running `{skill}`; its log says why");
                CallReport::not_run(Stop::Failed(Failure::new(Reason::Internal, message)))
            }
        }
    }

    /// Compiles the script engine if that has not been done for this version of it, so that the first deploy of a
    /// script need not wait for it.
    pub async fn warm_up(&self) -> Result<(), PrepareError> {
        self.inner.compiler.warm_up().await
    }

    /// The CPU time of what was compiled for deploys since this was last asked, by who made them.
    pub fn take_compile_time(&self) -> HashMap<Party, Duration> {
        self.inner.compiler.take_spent()
    }

    /// A compile child tries to leave its sandbox; what it found.
    pub async fn test_sandbox(&self) -> Result<SandboxReport, PrepareError> {
        self.inner.compiler.self_test().await
    }

    /// Whether a tenant's code for this engine is there; whether it is whole is seen when it is loaded.
    pub fn has_code(&self, version: &VersionRef, party: Party) -> bool {
        let code = self.inner.artefacts.code();
        code.is_there(&code.name_of(party, version.hash))
    }

    /// Compiles a version for this engine if that has not been done, when nothing else is to be compiled, and does not
    /// keep it loaded. `false`: it was there.
    pub async fn renew(&self, version: &VersionRef, party: Party) -> Result<bool, RuntimeError> {
        if self.has_code(version, party) {
            return Ok(false);
        }
        self.inner.compiler.quiet().await;
        if self.has_code(version, party) {
            return Ok(false);
        }
        self.inner.recompiled(version, party, Purpose::Background).await.map(|_| true)
    }

    /// Removes code that other engines compiled and that was not used for `keep`; gives of how many engines.
    pub async fn forget_old_code(&self, keep: Duration) -> Result<usize, RuntimeError> {
        let artefacts = Arc::clone(&self.inner.artefacts);
        let path = artefacts.code().directory().display().to_string();
        let removed = blocking(move || artefacts.mark_used().and_then(|()| artefacts.forget_old(keep))).await?;
        removed.map_err(|source| RuntimeError::DataDir { path, source })
    }

    /// Removes what is kept here of versions that are not among these and older than `age`; gives how many files.
    pub async fn forget_unknown(
        &self,
        known: HashSet<(Party, VersionHash)>,
        age: Duration,
    ) -> Result<usize, RuntimeError> {
        let artefacts = Arc::clone(&self.inner.artefacts);
        let path = artefacts.code().directory().display().to_string();
        let removed = blocking(move || artefacts.forget_unknown(&known, age)).await?;
        removed.map_err(|source| RuntimeError::DataDir { path, source })
    }

    /// The memory budget of calls on this node.
    pub fn memory(&self) -> &MemoryBudget {
        &self.inner.memory
    }

    pub fn occupancy(&self) -> Occupancy {
        let (compiling, compile_waiting) = self.inner.compiler.used();
        Occupancy {
            running: self.inner.running.load(Relaxed),
            capacity: self.inner.capacity,
            loaded: self.inner.loaded.entry_count(),
            compiling,
            compile_waiting,
        }
    }

    /// Ends what still runs. Calls made after this fail as busy.
    pub async fn shutdown(&self) {
        self.inner.guests.stop().await;
        if let Err(error) = self.inner.artefacts.mark_used() {
            tracing::debug!(error = &error as &dyn std::error::Error, "when the code was last used is not noted");
        }
    }
}

impl Inner {
    fn id(&self, party: Party, hash: VersionHash) -> CodeId {
        (if self.share_code { Party::default() } else { party }, hash)
    }

    async fn prepared(&self, source: &Source, hash: VersionHash, party: Party) -> Result<Function, PrepareError> {
        if let Some(Ok(function)) = self.cached(hash, party).await? {
            return Ok(function);
        }
        let code = self.compiler.compile(source, Purpose::Deploy(party)).await?;
        self.keep_and_link(hash, party, code).await?.map_err(|error| {
            let files = self.artefacts.code();
            files.remove(&files.name_of(party, hash));
            PrepareError::Invalid {
                message: format!("the component does not fit the platform: {}", fit_to_read(&error)),
            }
        })
    }

    async fn reload(&self, version: &VersionRef, party: Party) -> Result<Function, RuntimeError> {
        let hash = version.hash;
        if let Some(Ok(function)) = self.cached(hash, party).await? {
            return Ok(function);
        }
        tracing::info!(version = ?hash, "compiling a version again from its source");
        self.recompiled(version, party, Purpose::Load(party)).await
    }

    async fn recompiled(&self, version: &VersionRef, party: Party, purpose: Purpose) -> Result<Function, RuntimeError> {
        let hash = version.hash;
        let bytes = self.artefacts.source(hash).await?;
        let source = Source { language: version.language, file_name: version.file_name.clone(), bytes };
        if source.hash() != hash {
            return Err(RuntimeError::SourceMissing(hash));
        }
        let again = |source| RuntimeError::Recompile { version: hash, source: Box::new(source) };
        let code = self.compiler.compile(&source, purpose).await.map_err(again)?;
        self.keep_and_link(hash, party, code).await?.map_err(RuntimeError::Load)
    }

    /// The outer error is the machine's, the inner one the file's.
    async fn cached(
        &self,
        hash: VersionHash,
        party: Party,
    ) -> Result<Option<wasmtime::Result<Function>>, RuntimeError> {
        let (code, linker) = (Arc::clone(self.artefacts.code()), self.linker.clone());
        blocking(move || {
            let name = code.name_of(party, hash);
            let file = if code.is_there(&name) { code.open(&name)? } else { return None };
            let loaded = Function::load(&linker, hash, &file);
            if let Err(error) = &loaded {
                tracing::warn!(version = ?hash, error = %fit_to_read(error), "precompiled code was refused");
            }
            Some(loaded)
        })
        .await
    }

    async fn keep_and_link(
        &self,
        hash: VersionHash,
        party: Party,
        code: Vec<u8>,
    ) -> Result<wasmtime::Result<Function>, RuntimeError> {
        let (artefacts, linker) = (Arc::clone(&self.artefacts), self.linker.clone());
        blocking(move || {
            let files = artefacts.code();
            let unusable = |source| RuntimeError::DataDir { path: files.directory().display().to_string(), source };
            let name = files.name_of(party, hash);
            files.write(&name, &code).map_err(unusable)?;
            let file = files.open(&name).ok_or_else(|| unusable(std::io::ErrorKind::InvalidData.into()))?;
            let loaded = Function::load(&linker, hash, &file);
            // Not before: this very file may be all that there is to remove.
            artefacts.keep_within_budget(code.len() as u64);
            Ok(loaded)
        })
        .await?
    }
}

/// Files are read and checked off the threads that must not wait.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, RuntimeError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| RuntimeError::Threads(std::io::Error::other(error)))
}

fn fit_to_read(error: &wasmtime::Error) -> String {
    let text = format!("{error:#}");
    crate::text::cut(&text, 1_000).to_owned()
}

/// `describe` has no caller, no task and no name yet.
fn nobody(version: &VersionRef) -> GuestContext {
    GuestContext {
        task_id: String::new(),
        context_id: String::new(),
        skill: String::new(),
        version: version.hash.short(),
        caller: "anonymous".to_owned(),
        door: "control".to_owned(),
        attempt: 1,
        turn: 1,
    }
}

fn stopping(skill: &str) -> Failure {
    Failure::new(Reason::Busy, format!("the platform is stopping and did not run `{skill}`; try again in a moment"))
}

/// Counts a call until it has ended, however it ends.
struct Running(Arc<AtomicUsize>);

impl Running {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
