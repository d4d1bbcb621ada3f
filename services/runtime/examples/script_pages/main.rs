//! How many pages of memory a plain call of a script writes, and which blocks of the prelude they are for.
//!
//! ```sh
//! functions-sdk/js/engine/build.sh
//! cargo run -p pleat-runtime --example script_pages -- functions-sdk/js/engine/engine.wasm
//! ```
//!
//! With `--spread`, and an engine that was built with `PLEAT_SPREAD=1`, in which every block has a page of its own, it prints
//! the numbers of the blocks: they are what `functions-sdk/js/engine/src/allocator/hot.rs` lists. A script may be named, too.

#[path = "../../src/snapshot/access.rs"]
#[expect(dead_code, reason = "a measurement need not know why memory was refused")]
mod access;
#[path = "../../src/snapshot/imports.rs"]
mod imports;
mod memory;

use std::io::Write;
use std::time::{Duration, Instant};

use access::{Access, Usage};
use futures::executor::block_on;
use pleat_bindings::{FunctionPre, types};
use wasmtime::component::{Component, Linker};
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Result, Store, format_err,
};
use wasmtime_wizer::Wizer;

const SCRIPT: &str = "export default async (input) => input;\n";
const INPUT: &str = r#"{"text":"hello","numbers":[1,2,3]}"#;
/// Far more than any engine needs; a spread one takes a page for each block.
const MEMORY: usize = 512 << 20;
const STACK: usize = 4 << 20;
const CALLS: usize = 20_000;

fn main() -> Result<()> {
    let (flags, files): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|word| word == "--spread");
    let path = files.first().ok_or_else(|| format_err!("name the engine's file"))?;
    let source = files.get(1).map_or_else(|| Ok(SCRIPT.to_owned()), std::fs::read_to_string)?;
    let component = snapshot(&std::fs::read(path)?, &source)?;
    let engine = pooled()?;
    let component = Component::new(&engine, component)?;
    let mut linker = Linker::new(&engine);
    linker.define_unknown_imports_as_traps(&component)?;
    let function = FunctionPre::new(linker.instantiate_pre(&component)?)?;
    let mut out = std::io::stdout().lock();
    let mut written = Ok(Vec::new());
    call(&engine, &function, || written = memory::written())?;
    let written = written?;
    writeln!(out, "{} pages in {} regions: {written:?}", written.len(), memory::regions(&written))?;
    if !flags.is_empty() {
        writeln!(out, "{:?}", memory::spread_blocks(&written)?)?;
        return Ok(());
    }
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        times.push(call(&engine, &function, || {})?);
    }
    times.sort();
    let at = |share: usize| times.get(CALLS * share / 100).copied().unwrap_or_default();
    writeln!(out, "a call with its instance: p50 {:?}, p99 {:?}", at(50), at(99))?;
    Ok(())
}

/// A fresh instance, a call, and `look` before the instance goes.
fn call(engine: &Engine, function: &FunctionPre<()>, look: impl FnOnce()) -> Result<Duration> {
    let text = str::to_owned;
    let context = types::Context {
        task_id: text("task_01890a5d00007000800000000000000a"),
        context_id: text("ctx_01890a5d00007000800000000000000a"),
        skill: text("echo"),
        version: text("1"),
        caller: text("key:bench"),
        door: text("http"),
        attempt: 1,
        turn: 1,
    };
    let began = Instant::now();
    let mut store = Store::new(engine, ());
    store.set_epoch_deadline(1 << 40);
    let called = async {
        let instance = function.instantiate_async(&mut store).await?;
        instance.pleat_function_handler().call_handle(&mut store, &INPUT.to_owned(), &context).await
    };
    let outcome = block_on(called)?;
    if !matches!(&outcome, Ok(types::Outcome::Value(_))) {
        return Err(format_err!("the script did not give a value: {outcome:?}"));
    }
    look();
    drop(store);
    Ok(began.elapsed())
}

fn snapshot(engine_wasm: &[u8], source: &str) -> Result<Vec<u8>> {
    let mut wizer = Wizer::new();
    wizer.keep_init_func(true);
    let (context, instrumented) = wizer.instrument_component(engine_wasm)?;
    let mut config = Config::new();
    config.concurrency_support(false).memory_reservation(MEMORY as u64).max_wasm_stack(STACK);
    let engine = Engine::new(config.async_stack_size(2 * STACK))?;
    let component = Component::new(&engine, instrumented)?;
    let mut store = Store::new(&engine, Usage::new(MEMORY));
    store.limiter(|usage| usage);
    let instance = imports::frozen(&component)?.instantiate(&mut store, &component)?;
    let export = |store: &mut Store<Usage>, inside: Option<_>, name: &str| {
        let missing = || format_err!("the engine exports no `{name}`");
        instance.get_export(store, inside.as_ref(), name).map(|(_, index)| index).ok_or_else(missing)
    };
    let loader = export(&mut store, None, "loader")?;
    let load = export(&mut store, Some(loader), "load")?;
    let load =
        instance.get_typed_func::<(Vec<(String, String)>,), (std::result::Result<(), String>,)>(&mut store, load)?;
    let files = vec![("echo.js".to_owned(), source.to_owned())];
    load.call(&mut store, (files,))?.0.map_err(|text| format_err!("{text}"))?;
    let mut access = Access::new(&mut store, instance);
    let component = block_on(wizer.snapshot_component(&context, &mut access))?;
    access.into_failure().map_or(Ok(component), Err)
}

/// One slot, reset as the platform resets its own.
fn pooled() -> Result<Engine> {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(1)
        .total_memories(1)
        .total_stacks(1)
        .max_memory_size(MEMORY)
        .max_component_instance_size(4 << 20)
        .max_core_instance_size(4 << 20)
        .linear_memory_keep_resident(2 << 20)
        .table_keep_resident(64 << 10)
        .async_stack_keep_resident(64 << 10)
        .pagemap_scan(Enabled::Auto);
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .concurrency_support(false)
        .max_wasm_stack(STACK)
        .async_stack_size(STACK + (512 << 10))
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config)
}
