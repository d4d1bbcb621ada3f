//! What is known of the call, and what can be said while it runs.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Error;
pub use crate::bindings::pleat::function::log::Level;
pub use crate::bindings::pleat::function::output::EmitError;
use crate::bindings::pleat::function::{conversation, log, output, types};

#[derive(Debug, Clone)]
pub struct Context {
    /// Stable over retries: fit to be passed on as an idempotency key.
    pub task_id: String,
    /// Groups the tasks of one conversation.
    pub context_id: String,
    /// The name under which the function was called.
    pub skill: String,
    pub version: String,
    /// `anonymous` or `key:<id>`.
    pub caller: String,
    /// `http`, `a2a`, `mcp`, `call`, `pipeline` or `control`.
    pub door: String,
    /// 1, and more when the task is run again after its node was lost.
    pub attempt: u32,
    /// 1, and more when a later message continues the task.
    pub turn: u32,
}

impl Context {
    pub(crate) fn new(context: types::Context) -> Self {
        Self {
            task_id: context.task_id,
            context_id: context.context_id,
            skill: context.skill,
            version: context.version,
            caller: context.caller,
            door: context.door,
            attempt: context.attempt,
            turn: context.turn,
        }
    }

    pub fn log(&self, level: Level, message: &str) {
        log::write(level, message);
    }

    pub fn info(&self, message: &str) {
        self.log(Level::Info, message);
    }

    pub fn error(&self, message: &str) {
        self.log(Level::Error, message);
    }

    /// Streams a piece of text to the caller, ahead of the result.
    pub fn emit_text(&self, text: &str) -> Result<(), EmitError> {
        self.emit(&output::Chunk::Text(text.to_owned()), None, false)
    }

    /// Streams a piece of data to the caller, ahead of the result.
    pub fn emit_data<T: Serialize + ?Sized>(&self, data: &T) -> Result<(), Error> {
        let data = serde_json::to_string(data)?;
        Ok(self.emit(&output::Chunk::Data(data), None, false)?)
    }

    /// Streams into an artifact of that name; `last` closes it.
    pub fn emit(&self, chunk: &output::Chunk, artifact: Option<&str>, last: bool) -> Result<(), EmitError> {
        output::emit(chunk, artifact, last)
    }

    /// `done` out of `total`, if that is known.
    pub fn progress(&self, done: f64, total: Option<f64>, note: Option<&str>) {
        output::progress(done, total, note);
    }

    /// The message with all of its parts.
    pub fn message(&self) -> Value {
        serde_json::from_str(&conversation::message()).unwrap_or_default()
    }

    /// Earlier messages of this task, oldest first.
    pub fn history(&self) -> Vec<Value> {
        conversation::history().iter().map(|text| serde_json::from_str(text).unwrap_or_default()).collect()
    }

    /// What the previous turn kept in [`crate::Ask::state`].
    pub fn state<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(&conversation::state()?).ok()
    }

    /// The client's answer to [`crate::Outcome::need_client`].
    pub fn reply(&self) -> Option<Value> {
        serde_json::from_str(&conversation::reply()?).ok()
    }
}
