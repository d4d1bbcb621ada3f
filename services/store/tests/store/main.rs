//! The store against a real Postgres: one cluster for this process, a database for every test.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod functions;
mod isolation;
mod key_values;
mod listing;
mod lost_nodes;
mod opening;
mod pipelines;
mod platform;
mod pushes;
mod retention;
mod secrets;
mod sessions;
mod steps;
mod support;
mod writing;
mod writing_under_stress;
