//! JSON Schemas that come from tenants: hostile input, compiled and asked within a budget of steps.
//!
//! The semantics are those of the `jsonschema` crate. What is added is that no schema and no value can take more than
//! the [`Effort`] that it is given: in steps, in stack, in time and in memory for the details of faults.

mod counted;
mod graph;
mod patterns;
mod positions;
mod schema;
mod steps;
#[cfg(test)]
mod tests;

pub use patterns::PATTERN_BYTES;
pub use schema::{Fault, Refused, Schema, Spent, Verdict};
pub use steps::Effort;
