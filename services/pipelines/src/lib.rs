//! Pipelines: what they are, whether they hold together, and how a run goes on from what is known of it.

mod catalog;
mod check;
mod condition;
mod datum;
mod definition;
mod document;
mod duration;
mod fault;
pub mod limits;
mod mapping;
mod plan;
mod read;
mod reading;
mod reference;
mod run;
mod schema;

pub use catalog::Catalog;
pub use condition::{BadCondition, Comparison, Condition, Operand};
pub use definition::{Call, Definition, FanOut, OnFailure, Retry, RetryOn, Stage, Step};
pub use fault::{Fault, Faults, Position};
pub use mapping::Mapping;
pub use plan::Plan;
pub use read::{Checked, parse, read};
pub use reference::{BadStepId, Reference, Segment, Source, StepId};
pub use run::{Attempt, BadJournal, CannotReplay, End, Entry, Event, NotRunning, Run, RunFailure, StepStart};
