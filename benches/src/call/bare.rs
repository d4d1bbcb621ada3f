//! Bare wasmtime: an instance of the same component, from the same kind of pool, made and dropped. No call, no limits, no
//! meter, no thread to go to. It tells what part of a call's cost is the machine's.

use std::time::Instant;

use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store};

use crate::stats::micros;

/// Microseconds of each.
pub fn instances(component: &[u8], count: usize) -> anyhow::Result<Vec<f64>> {
    let engine = Engine::new(&config())?;
    let component = Component::new(&engine, component)?;
    let mut linker: Linker<()> = Linker::new(&engine);
    linker.define_unknown_imports_as_traps(&component)?;
    let ready = linker.instantiate_pre(&component)?;
    let mut took = Vec::with_capacity(count);
    for index in 0..count + count / 10 {
        let began = Instant::now();
        let mut store = Store::new(&engine, ());
        store.set_epoch_deadline(u64::MAX / 2);
        ready.instantiate(&mut store)?;
        drop(store);
        if index >= count / 10 {
            took.push(micros(began.elapsed()));
        }
    }
    Ok(took)
}

fn config() -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(100)
        .total_memories(100)
        .linear_memory_keep_resident(2 << 20)
        .table_keep_resident(64 << 10)
        .pagemap_scan(Enabled::Auto);
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .concurrency_support(false)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}
