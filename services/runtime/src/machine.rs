//! The two wasmtime engines: the pooled one that runs guests, and the plain one that only compiles.
//!
//! Both must agree in everything that shapes code, or what the one compiles the other would refuse; that is why they
//! are set up in one function. The settings of the pool are measured: pooling, keep-resident, pagemap scan and no
//! component-model concurrency together make a fresh instance cost about 10 µs, and leaving out any one of them costs
//! a multiple.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pleat_domain::CallLimits;
use pleat_domain::limits::{KIB, MIB, TABLE_ELEMENTS};
use sha2::{Digest, Sha256};
use wasmtime::component::Linker;
use wasmtime::{
    CacheStore, Config, Enabled, Engine, EngineWeak, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
    WasmBacktraceDetails,
};

use crate::config::PoolSize;
use crate::host;
use crate::state::State;
use crate::swap;

/// Of one component.
pub(crate) const CORE_INSTANCES: u32 = 64;
pub(crate) const MEMORIES: u32 = 4;
pub(crate) const TABLES: u32 = 16;

/// As much as the script engine counts on: its own check then gives recursion an error with the line it is at.
const WASM_STACK: usize = crate::snapshot::SCRIPT_STACK;
/// Host calls run on the same stack, above the guest.
const ASYNC_STACK: usize = WASM_STACK + 512 * KIB;
const TICK: Duration = Duration::from_millis(1);
/// While a call keeps a processor: whoever else wants it waits for no more than this, also where the
/// system does not interrupt programs for other threads.
const BUSY_TICK: Duration = Duration::from_micros(250);
const TIME_BETWEEN_SWAP_CHECKS: Duration = Duration::from_secs(30);

/// The engine that runs guests.
pub(crate) fn pooled(size: PoolSize) -> wasmtime::Result<Engine> {
    let scan = if swap::is_possible() { Enabled::No } else { Enabled::Auto };
    tracing::info!(
        pool.instances = size.instances,
        pool.pagemap_scan = matches!(scan, Enabled::Auto),
        "wasm instance pool: {}",
        if matches!(scan, Enabled::Auto) {
            "fast reset, swap is impossible"
        } else {
            "slow reset, memory can be swapped"
        },
    );
    let mut config = shared();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(size, scan)));
    Engine::new(&config)
}

/// The engine of the compile child: no pool, which could not exist under a limit on address space. `known` are functions
/// that need not be compiled again.
pub(crate) fn compiling(known: Option<Arc<dyn CacheStore>>) -> wasmtime::Result<Engine> {
    let mut config = shared();
    if let Some(known) = known {
        config.enable_incremental_compilation(known)?;
    }
    Engine::new(&config)
}

fn shared() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .memory_init_cow(true)
        .concurrency_support(false)
        .shared_memory(false)
        .wasm_memory64(false)
        .wasm_backtrace_details(WasmBacktraceDetails::Disable)
        .max_wasm_stack(WASM_STACK)
        .async_stack_size(ASYNC_STACK)
        .cranelift_opt_level(OptLevel::Speed);
    config
}

fn pool(size: PoolSize, scan: Enabled) -> PoolingAllocationConfig {
    let many = |each: u32| size.instances.saturating_mul(each);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(size.instances)
        // Counted, not reserved: what a component may have at most, so that memories alone decide what fits.
        .total_core_instances(many(CORE_INSTANCES))
        .total_memories(size.instances.max(MEMORIES))
        .total_tables(many(TABLES))
        .total_stacks(size.instances)
        .max_memory_size(CallLimits::MOST.memory_bytes)
        .table_elements(TABLE_ELEMENTS)
        .max_component_instance_size(4 * MIB)
        .max_core_instance_size(4 * MIB)
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(MEMORIES)
        .max_tables_per_component(TABLES)
        .max_memories_per_module(MEMORIES)
        .max_tables_per_module(TABLES)
        .linear_memory_keep_resident(2 * MIB)
        .table_keep_resident(64 * KIB)
        .async_stack_keep_resident(64 * KIB)
        .max_unused_warm_slots(size.instances.min(200))
        .pagemap_scan(scan);
    pool
}

/// Everything a component of the world may import.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    host::add_to_linker(&mut linker)?;
    Ok(linker)
}

/// Names the code that this engine can load; precompiled artefacts are kept under it.
pub(crate) fn compatibility(engine: &Engine) -> String {
    let mut hasher = ShaHasher(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    let mut name = hex::encode(hasher.0.finalize());
    name.truncate(32);
    name
}

/// The standard library's hashers may change between releases; file names must not.
struct ShaHasher(Sha256);

impl Hasher for ShaHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

/// Advances the epoch for as long as the engine lives: that is when guests yield and are metered. `busy` is set whenever a
/// call has been interrupted that wants to go on.
pub(crate) fn start_ticker(engine: &Engine, busy: Arc<AtomicBool>) -> std::io::Result<()> {
    let engine = engine.weak();
    std::thread::Builder::new().name("pleat-epoch".to_owned()).spawn(move || tick(&engine, &busy)).map(drop)
}

fn tick(engine: &EngineWeak, busy: &AtomicBool) {
    let swap_at_start = swap::is_possible();
    let mut checked = Instant::now();
    loop {
        std::thread::sleep(if busy.swap(false, Ordering::Relaxed) { BUSY_TICK } else { TICK });
        let Some(engine) = engine.upgrade() else { return };
        engine.increment_epoch();
        if checked.elapsed() > TIME_BETWEEN_SWAP_CHECKS {
            checked = Instant::now();
            if !swap_at_start && swap::is_possible() {
                tracing::error!(
                    "swap was turned on while running: turn it off or restart, else memory of one call may be seen by another"
                );
            }
        }
    }
}
