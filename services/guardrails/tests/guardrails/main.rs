//! What policies promise, tried from outside.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail by panicking")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` values are made for the call they go into")]

mod checks;
mod corpus;
mod evasion;
mod injection;
mod numbers;
mod pages;
mod policy;
mod streams;
mod values;
mod work;
