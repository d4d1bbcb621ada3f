//! Abuse by strangers and tenants: nothing that they send takes a node down or reaches what it must not.
//!
//! Each file tries one finding of a security review on real processes, from outside.

mod machine;

use crate::options::Scale;
use crate::row::Row;

pub async fn prove(_scale: Scale) -> Vec<Row> {
    machine::prove().await
}
