//! The world that a file sees while it is loaded: a clock that stands still, random bytes that are constant.
//!
//! The result must depend on nothing but the source: two nodes that snapshot one file get the same bytes.

use wasmtime::component::{Component, Linker, LinkerInstance, Val};

use super::access::Usage;

/// 2024-01-01: a date that authors recognise as not today, when they keep one from the top level.
const SECONDS: u64 = 1_704_067_200;

pub(super) fn frozen(component: &Component) -> wasmtime::Result<Linker<Usage>> {
    let engine = component.engine();
    let mut linker = Linker::new(engine);
    for (name, _) in component.component_type().imports(engine) {
        // Whatever the minor version of WASI is that the engine was built with.
        let interface = name.split_once('@').map_or(name, |(interface, _)| interface);
        match interface {
            "wasi:clocks/wall-clock" => {
                constant(&mut linker.instance(name)?, "now", datetime)?;
            }
            "wasi:clocks/monotonic-clock" => {
                constant(&mut linker.instance(name)?, "now", || Val::U64(0))?;
            }
            "wasi:random/random" | "wasi:random/insecure" => {
                let mut random = linker.instance(name)?;
                let (number, bytes) = match interface {
                    "wasi:random/random" => ("get-random-u64", "get-random-bytes"),
                    _ => ("get-insecure-random-u64", "get-insecure-random-bytes"),
                };
                constant(&mut random, number, || Val::U64(1))?;
                random.func_new(bytes, |_, _, parameters, results| {
                    let length = match parameters.first() {
                        Some(Val::U64(length)) => usize::try_from(*length)?.min(4096),
                        _ => 0,
                    };
                    set(results, Val::List(vec![Val::U8(1); length]));
                    Ok(())
                })?;
            }
            "wasi:random/insecure-seed" => {
                let seed = || Val::Tuple(vec![Val::U64(1), Val::U64(1)]);
                constant(&mut linker.instance(name)?, "insecure-seed", seed)?;
            }
            "wasi:cli/environment" => {
                constant(&mut linker.instance(name)?, "get-environment", || Val::List(Vec::new()))?;
            }
            _ => {}
        }
    }
    linker.define_unknown_imports_as_traps(component)?;
    Ok(linker)
}

fn constant(
    instance: &mut LinkerInstance<'_, Usage>,
    name: &str,
    value: impl Fn() -> Val + Send + Sync + 'static,
) -> wasmtime::Result<()> {
    instance.func_new(name, move |_, _, _, results| {
        set(results, value());
        Ok(())
    })
}

fn set(results: &mut [Val], value: Val) {
    if let Some(result) = results.first_mut() {
        *result = value;
    }
}

fn datetime() -> Val {
    Val::Record(vec![("seconds".to_owned(), Val::U64(SECONDS)), ("nanoseconds".to_owned(), Val::U32(0))])
}
