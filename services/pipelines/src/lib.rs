//! Pipelines: what they are, whether they hold together, and how a run goes on from what is known of it.

mod condition;
mod datum;
mod document;
mod fault;
pub mod limits;
mod mapping;
mod reference;

pub use condition::{BadCondition, Comparison, Condition, Operand};
pub use fault::{Fault, Faults, Position};
pub use mapping::Mapping;
pub use reference::{BadStepId, Reference, Segment, Source, StepId};
