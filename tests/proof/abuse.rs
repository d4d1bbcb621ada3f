//! Abuse by strangers and tenants: nothing that they send takes a node down or reaches what it must not.
//!
//! Each file tries one finding of a security review on real processes, from outside.

use crate::options::Scale;
use crate::row::Row;

#[expect(clippy::unused_async, reason = "the parts that follow are async")]
pub async fn prove(_scale: Scale) -> Vec<Row> {
    Vec::new()
}
