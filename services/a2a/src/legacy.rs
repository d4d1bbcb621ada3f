//! The family of `tasks/send`: the documented `{skill, message}` shape and A2A 0.1's messages with parts.
//!
//! Tasks made by it are answered in the union of the 0.1 and the 0.3 shape (`type` and `kind`, `index` and
//! `artifactId`, `sessionId` and `contextId`), because `tasks/get`, `tasks/cancel` and `tasks/resubscribe` have the
//! same names in both. Trace blocks and a failure's private detail never get here into an answer.

mod event;
mod message;
mod params;
mod push;
mod task;
mod view;

pub use event::{EventStream, EventView, TaskHeader};
pub use params::{SendParams, TaskParams};
pub use push::{PushParams, PushView, push_json};
pub use task::{TaskView, task_json};
