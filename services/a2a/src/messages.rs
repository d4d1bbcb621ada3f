//! The families of messages: 0.3 (`message/send` and its company) and 1.0 (`SendMessage` and its company).
//!
//! They are one codec with two [`Dialect`]s: the same objects, told apart by a word in them (0.3) or by the member they
//! are in (1.0), with other names for states and roles and another form of parts. Trace blocks, a failure's private
//! detail and what a function keeps for itself never get here into an answer.

mod dialect;
mod event;
mod fault;
mod list;
mod message;
mod params;
mod push;
mod task;
mod view;

pub use dialect::Dialect;
pub use event::{EventView, Events};
pub use fault::details;
pub use list::{ListParams, PageView};
pub use params::{Call, SendParams, TaskParams};
pub use push::{PushParams, PushView, PushesView};
pub use task::{SentView, Show, TaskView};

#[cfg(test)]
mod tests;
