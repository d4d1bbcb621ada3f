//! How a call can end well.

use serde::Serialize;
use serde_json::Value;

use crate::Error;
use crate::bindings::pleat::function::types;

/// What `handle` returns. [`Outcome::value`] is the usual one.
pub struct Outcome(types::Outcome);

impl From<types::Outcome> for Outcome {
    fn from(outcome: types::Outcome) -> Self {
        Self(outcome)
    }
}

/// A question to the caller: the task waits, and a later message calls `handle` again with `state`
/// ([`crate::Context::state`]).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ask {
    pub prompt: String,
    /// JSON Schema of the answer.
    pub schema: Option<Value>,
    /// Kept by the platform, never shown to the caller.
    pub state: Option<Value>,
}

impl Outcome {
    /// Anything that can be written as JSON; text, objects, numbers.
    pub fn value<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        Ok(Self(types::Outcome::Value(serde_json::to_string(value)?)))
    }

    /// Content blocks in the shape of the Model Context Protocol, and the structured form of the same result.
    pub fn content(blocks: &[Value], structured: Option<&Value>) -> Self {
        let blocks = Value::from(blocks).to_string();
        Self(types::Outcome::Content(types::Content { blocks, structured: structured.map(Value::to_string) }))
    }

    /// The caller must say more.
    pub fn need_input(ask: Ask) -> Self {
        Self(types::Outcome::NeedInput(ask.into()))
    }

    /// The caller must authorise something elsewhere.
    pub fn need_auth(ask: Ask) -> Self {
        Self(types::Outcome::NeedAuth(ask.into()))
    }

    /// The caller's client must do something: `elicit`, `sample` or `roots`.
    pub fn need_client(kind: &str, params: &Value, state: Option<&Value>) -> Self {
        Self(types::Outcome::NeedClient(types::ClientRequest {
            kind: kind.to_owned(),
            params: params.to_string(),
            state: state.map(Value::to_string),
        }))
    }

    /// The function will not do this, and that is no failure.
    pub fn reject(reason: impl Into<String>) -> Self {
        Self(types::Outcome::Reject(reason.into()))
    }
}

impl From<Ask> for types::Ask {
    fn from(ask: Ask) -> Self {
        let text = |value: Option<Value>| value.map(|value| value.to_string());
        Self { prompt: ask.prompt, schema: text(ask.schema), state: text(ask.state) }
    }
}

impl From<Outcome> for types::Outcome {
    fn from(outcome: Outcome) -> Self {
        outcome.0
    }
}
