//! The end-to-end suites: the real router, a real Postgres database for each test, real guests, the real binary.
//!
//! One test binary for all of them, because each one links wasmtime.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "in a test, what is not there fails the test"
)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "figures and output for whoever looks at a failing run")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` values are made for the call they go into")]

mod a2a;
mod a2a_rest;
mod a2a_v03;
mod a2a_v1;
mod a2a_versions;
mod architecture;
mod authoring;
mod capabilities;
mod card;
mod cli;
mod clients;
mod control;
mod docs;
mod guardrails;
mod harness;
mod hooks;
mod http_door;
mod isolation;
mod javascript;
mod jwt;
mod mcp;
mod nodes;
mod operation;
mod pipelines;
mod process;
mod push;
mod quotas;
mod runtime;
mod smoke;
mod store_faults;
mod streams;
mod watch;
