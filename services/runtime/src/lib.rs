//! All of wasmtime: functions are compiled, stored, loaded and called here, under limits.
//!
//! What a function does inside its sandbox is its own affair; what comes back out passes [`HostCalls`], which the
//! engine implements. Nothing here knows of tenants, tasks, databases or wires.

mod artefacts;
mod call;
mod classify;
mod clock;
mod compile;
mod config;
mod error;
mod function;
mod gate;
mod guests;
mod host;
mod host_calls;
mod logbook;
mod machine;
mod memory;
mod meter;
mod outcome;
mod pace;
mod runtime;
mod sandbox;
mod snapshot;
mod source;
mod state;
mod stdio;
mod swap;
mod text;
mod traffic;

pub use artefacts::CodeKey;
pub use call::{Call, CallReport, Entry, GuestContext, Stop};
pub use compile::child::compile_child_main;
pub use config::{CompileLimits, PoolSize, RuntimeConfig};
pub use error::{PrepareError, RuntimeError};
pub use function::Function;
pub use gate::Party;
pub use host_calls::{
    CallError, Chunk, ChunkBody, GuestError, Header, HostCalls, HttpError, HttpRequest, HttpResponse, KeyPage, KvError,
    SecretError, Silent, Unavailable, Work,
};
pub use memory::{CallMemory, MemoryBudget, MemoryCharge, MemoryScope, MemoryUse, TenantMemory};
pub use outcome::Outcome;
pub use runtime::{Occupancy, Prepared, Runtime};
pub use sandbox::{Attempt, SandboxMode, SandboxReport, forbid_dumps};
pub use source::{Language, Source, VersionRef};
pub use swap::is_possible as swap_is_possible;
