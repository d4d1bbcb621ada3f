//! Pipelines: what they are, whether they hold together, and how a run goes on from what is known of it.
//!
//! Pure: no I/O, no async, no clock. Whoever uses it brings what exists (a [`Catalog`]), makes the calls, tells the time
//! and stores what it is told to.
//!
//! - A text becomes a [`Definition`]: [`read`] checks it against a catalog and reports all faults with their places,
//!   [`parse`] does without (the canonical form from the store, or a file to draw).
//! - [`Definition::canonical`] is what is stored, [`Definition::hash`] what a run is pinned to, [`Definition::calls`]
//!   whose versions it pins.
//! - A [`Plan`] is a definition laid out for running; a [`Run`] is the state machine that is driven along it, from the
//!   start, from a journal ([`Run::resume`]) or from a chosen step of an earlier run ([`Run::replay`]).
//! - [`graph`] and [`explain`](fn@explain) show a definition to people.

mod catalog;
mod check;
mod condition;
mod datum;
mod definition;
mod document;
mod duration;
mod explain;
mod fault;
pub mod graph;
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
pub use explain::explain;
pub use fault::{Fault, Faults, Position};
pub use mapping::Mapping;
pub use plan::Plan;
pub use read::{Checked, parse, read};
pub use reference::{BadStepId, Reference, Segment, Source, StepId};
pub use run::{
    Attempt, BadAttempt, BadJournal, CannotReplay, End, Entry, Event, NotRunning, Run, RunFailure, StepStart,
};
