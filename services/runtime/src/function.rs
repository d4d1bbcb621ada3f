//! A loaded function: precompiled code, mapped from its file and linked, ready to be instantiated.

use std::fmt;
use std::path::Path;

use pleat_bindings::FunctionPre;
use pleat_domain::VersionHash;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::machine;
use crate::state::State;

pub struct Function {
    hash: VersionHash,
    memories: u32,
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

    /// Maps `path` and links it. The error says what the component lacks or wants too much of.
    pub(crate) fn load(linker: &Linker<State>, hash: VersionHash, path: &Path) -> wasmtime::Result<Self> {
        let component = map(linker.engine(), path)?;
        let memories = component.resources_required().map_or(machine::MEMORIES, |needed| needed.num_memories);
        let pre = FunctionPre::new(linker.instantiate_pre(&component)?)?;
        Ok(Self { hash, memories: memories.max(1), pre })
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
