//! The Model Context Protocol over HTTP, in both of its eras at one address: a tenant's door, and the operators'.
//!
//! The layer is our own: sessions, streams, subscriptions and sealed states are bound to tenant and caller, and any node
//! serves any of them. What the protocol's data looks like is in `pleat_mcp`; what is done, in the engine.

mod asking;
mod call;
mod door;
mod events;
mod exchange;
mod hearing;
mod listen;
mod lists;
mod metadata;
mod offers;
mod origin;
mod peer;
mod resume;
mod route;
mod session;
mod settle;
mod state;
mod tasks;
mod wire;

pub(crate) use door::{delete, get, post};
pub(crate) use metadata::{control as control_metadata, tenant as tenant_metadata, tenant_of_path};
pub(crate) use peer::Peer;
