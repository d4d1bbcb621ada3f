//! The imports of the WIT world, as guests see them. Each applies its limits and hands on to [`crate::HostCalls`].
//!
//! A guest's mistake is an answer in the contract's own error types, never a trap, except where it would not stop.

mod calls;
mod conversation;
mod http;
mod key_value;
mod log;
mod output;
mod pending;
mod settings;

pub(crate) use output::Excess;

use pleat_bindings::{
    call, config, conversation as talk, http as web, key_value as store, log as logging, output as out, secrets, types,
};
use wasmtime::component::{HasSelf, Linker};

use crate::state::State;

/// Adds every import of the world to the linker. `wasi:io/poll` comes with WASI.
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    types::add_to_linker::<_, HasSelf<State>>(linker, state)?;
    logging::add_to_linker::<_, HasSelf<State>>(linker, state)?;
    out::add_to_linker::<_, HasSelf<State>>(linker, state)?;
    talk::add_to_linker::<_, HasSelf<State>>(linker, state)?;
    config::add_to_linker::<_, HasSelf<State>>(linker, state)?;
    secrets::add_to_linker::<_, HasSelf<State>>(linker, state)?;
    store::add_to_linker::<_, HasSelf<State>>(linker, state)?;
    call::add_to_linker::<_, HasSelf<State>>(linker, state)?;
    web::add_to_linker::<_, HasSelf<State>>(linker, state)
}

impl types::Host for State {}

fn state(state: &mut State) -> &mut State {
    state
}
