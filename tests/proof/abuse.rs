//! Abuse by strangers and tenants: nothing that they send takes a node down or reaches what it must not.
//!
//! Each file tries one finding of a security review on real processes, from outside.

mod bodies;
mod code;
mod disguise;
mod disk;
mod hosts;
mod machine;
mod memory;
mod revocation;
mod schemas;
mod sockets;

use crate::options::Scale;
use crate::row::Row;

pub async fn prove(scale: Scale) -> Vec<Row> {
    let mut rows = machine::prove().await;
    rows.extend(code::prove().await);
    rows.extend(disk::prove(scale).await);
    rows.extend(memory::prove(scale).await);
    rows.extend(sockets::prove(scale).await);
    rows.extend(revocation::prove(scale).await);
    rows.extend(bodies::prove(scale).await);
    rows.extend(hosts::prove(scale).await);
    rows.extend(schemas::prove(scale).await);
    rows.extend(disguise::prove().await);
    rows
}
