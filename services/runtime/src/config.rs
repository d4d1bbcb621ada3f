//! What the runtime is started with. Plain values; the command line and the tests fill them in.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use pleat_domain::limits::MIB;

use crate::artefacts::CodeKey;
use crate::sandbox::SandboxMode;

#[derive(Debug, Clone)]
pub struct RuntimeConfig {
    /// `artefacts/` (sources) and `cache/` (precompiled code) are kept below it.
    pub data_dir: PathBuf,
    /// Program (an absolute path) and arguments of the child that compiles: it must end in
    /// [`crate::compile_child_main`].
    pub compiler: Vec<OsString>,
    pub pool: PoolSize,
    /// Threads that run guests.
    pub workers: usize,
    pub compile: CompileLimits,
    /// What all calls together may hold: instances and what the platform keeps for them.
    pub memory_bytes: usize,
    pub sandbox: SandboxMode,
    /// Compiled code carries a MAC with this key; derived from the installation's master key.
    pub code_key: CodeKey,
    /// Whether tenants share the compiled code of the same source. It lets a tenant learn that another one has deployed
    /// it, so only for tests, which compile the same few functions for many tenants.
    pub share_code: bool,
    /// The most bytes that compiled code may have on disk; beyond it, what was used longest ago is removed.
    pub code_cache_bytes: u64,
    /// Functions kept loaded. One costs 60 to 140 KiB of private memory; the code itself is reclaimable.
    pub loaded: u64,
}

impl RuntimeConfig {
    pub fn new(data_dir: impl Into<PathBuf>, compiler: Vec<OsString>, code_key: CodeKey) -> Self {
        Self {
            data_dir: data_dir.into(),
            compiler,
            pool: PoolSize::default(),
            workers: std::thread::available_parallelism().map_or(2, usize::from),
            compile: CompileLimits::default(),
            memory_bytes: 3_072 * MIB,
            sandbox: SandboxMode::default(),
            code_key,
            share_code: false,
            code_cache_bytes: 2048 * MIB as u64,
            loaded: 2_000,
        }
    }
}

/// How many calls can be inside the sandbox at once, sleeping ones included. Each slot reserves 4 GiB of address
/// space (not of memory), so that a process holds about thirty pools of the default size; tests use small ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSize {
    pub instances: u32,
}

impl Default for PoolSize {
    fn default() -> Self {
        Self { instances: 1_000 }
    }
}

/// What one compilation may use, and how many run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileLimits {
    /// Address space of the child.
    pub memory_bytes: usize,
    /// CPU time over all threads of the child.
    pub cpu: Duration,
    /// Only a machine that has no time for it makes it wait that long: the work itself is limited above.
    pub wall: Duration,
    pub concurrency: usize,
    /// How many may wait for their turn; half of them of one party.
    pub queue: usize,
    /// How long.
    pub wait: Duration,
    /// How far those give way that nobody waits for.
    pub background_nice: i32,
}

/// The largest honest component is CPython with its libraries: 16 s of CPU time and 540 MB on the machine where this was
/// measured, and others are slower.
impl Default for CompileLimits {
    fn default() -> Self {
        Self {
            memory_bytes: 4096 * MIB,
            cpu: Duration::from_secs(60),
            wall: Duration::from_secs(240),
            concurrency: 2,
            queue: 256,
            wait: Duration::from_secs(240),
            background_nice: 15,
        }
    }
}
