//! A loaded function: precompiled code, mapped from its file and linked, ready to be instantiated.

use std::fmt;
use std::path::Path;

use pleat_bindings::FunctionPre;
use pleat_domain::VersionHash;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::machine;
use crate::state::State;

const WASM_PAGE: usize = 64 << 10;

pub struct Function {
    hash: VersionHash,
    memories: u32,
    initial_bytes: usize,
    pub(crate) pre: FunctionPre<State>,
}

impl Function {
    pub const fn hash(&self) -> VersionHash {
        self.hash
    }

    /// How many places in the instance pool a call takes: one for each memory.
    pub const fn places(&self) -> u32 {
        self.memories
    }

    /// The memory that an instance begins with: of its largest memory alone, if it has several.
    pub const fn initial_bytes(&self) -> usize {
        self.initial_bytes
    }

    /// Maps `path` and links it. The error says what the component lacks or wants too much of.
    pub(crate) fn load(linker: &Linker<State>, hash: VersionHash, path: &Path) -> wasmtime::Result<Self> {
        let component = map(linker.engine(), path)?;
        let needed = component.resources_required();
        let memories = needed.as_ref().map_or(machine::MEMORIES, |needed| needed.num_memories);
        let pages = needed.and_then(|needed| needed.max_initial_memory_size).unwrap_or(0);
        let initial_bytes = usize::try_from(pages).unwrap_or(0).saturating_mul(WASM_PAGE);
        let pre = FunctionPre::new(linker.instantiate_pre(&component)?)?;
        Ok(Self { hash, memories: memories.max(1), initial_bytes, pre })
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Function").field(&self.hash).finish()
    }
}

fn map(engine: &Engine, path: &Path) -> wasmtime::Result<Component> {
    #[expect(
        unsafe_code,
        reason = "the file is native code that our own compile child made; it lies in a directory that only this user \
                  can write, its digest was checked just now, and it is replaced by rename, never written in place"
    )]
    unsafe {
        Component::deserialize_file(engine, path)
    }
}
