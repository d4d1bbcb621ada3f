//! What was sent, before it is known which skill it is for.

use pleat_domain::json::Raw;
use pleat_domain::message::Message;
use serde_json::Value;

use crate::value::{NoInput, input_from_message};

/// A 0.1 message is one that has `role` and a `parts` array; anything else under `{skill, message}` is the input
/// itself. Later families have messages only.
#[derive(Debug)]
pub enum Input {
    Value(Raw),
    Message {
        message: Message,
        /// Set when the only data part named the skill: `{"skill", "input"}` gives `input`, any other object that
        /// names a skill gives the rest of itself.
        named: Option<Raw>,
    },
}

impl Input {
    /// The input of a new task, and the message it came in (none when the input says it all).
    pub fn into_call(self, schema: Option<&Value>) -> Result<(Raw, Option<Message>), NoInput> {
        match self {
            Self::Message { message, named: Some(value), .. } => Ok((value, Some(message))),
            other => other.into_answer(schema),
        }
    }

    /// The same for a message that continues a task: its skill is known, so that a data part names none.
    pub fn into_answer(self, schema: Option<&Value>) -> Result<(Raw, Option<Message>), NoInput> {
        match self {
            Self::Value(value) => Ok((value, None)),
            Self::Message { message, .. } => Ok((input_from_message(&message, schema)?, Some(message))),
        }
    }
}
