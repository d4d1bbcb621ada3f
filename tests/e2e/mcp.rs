//! The Model Context Protocol: both eras at one address, for tenants and for operators.

mod asking;
mod authorization;
mod bad_input;
mod bridge;
mod cancelling;
pub mod client;
mod clients;
mod conformance;
mod handshake;
mod listening;
mod many;
mod neighbours;
mod offering;
mod one_stream;
mod operators;
mod prompts;
mod refusing;
mod repeating;
mod resources;
mod sessions;
mod stateless;
mod streams;
mod tasks;
mod tools;

pub use client::{Client, Modern};

use client::initialize_params;
