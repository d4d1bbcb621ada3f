//! A loaded function: precompiled code, mapped from its file and linked, ready to be instantiated.

use std::fmt;
use std::fs::File;
use std::os::fd::AsRawFd;

use pleat_bindings::FunctionPre;
use pleat_domain::VersionHash;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::machine;
use crate::state::State;

const WASM_PAGE: usize = 64 << 10;

pub struct Function {
    hash: VersionHash,
    compiled_bytes: u64,
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

    /// The size of its compiled code on disk.
    pub const fn compiled_bytes(&self) -> u64 {
        self.compiled_bytes
    }

    /// Maps `code`, whose MAC was checked, and links it. The error says what the component lacks or wants too much of.
    pub(crate) fn load(linker: &Linker<State>, hash: VersionHash, code: &File) -> wasmtime::Result<Self> {
        let component = map(linker.engine(), code)?;
        let needed = component.resources_required();
        let memories = needed.as_ref().map_or(machine::MEMORIES, |needed| needed.num_memories);
        let pages = needed.and_then(|needed| needed.max_initial_memory_size).unwrap_or(0);
        let initial_bytes = usize::try_from(pages).unwrap_or(0).saturating_mul(WASM_PAGE);
        let pre = FunctionPre::new(linker.instantiate_pre(&component)?)?;
        let compiled_bytes = code.metadata()?.len();
        Ok(Self { hash, compiled_bytes, memories: memories.max(1), initial_bytes, pre })
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Function").field(&self.hash).finish()
    }
}

fn map(engine: &Engine, code: &File) -> wasmtime::Result<Component> {
    // The open file itself: by name it could be another one by now.
    let path = format!("/dev/fd/{}", code.as_raw_fd());
    #[expect(
        unsafe_code,
        reason = "the file is native code that our own compile child made; it lies in a directory that only this user \
                  can write, its MAC was checked just now, and it is replaced by rename, never written in place"
    )]
    unsafe {
        Component::deserialize_file(engine, path)
    }
}
