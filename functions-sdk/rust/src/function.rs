//! The trait a function implements.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Context, Error, Manifest, Outcome};

/// A function. Each call runs in a fresh instance: statics start anew, nothing is shared between calls.
pub trait Function {
    /// What the JSON input is read into. `serde_json::Value` takes anything; `Box<RawValue>` leaves it unread.
    type Input: DeserializeOwned;

    /// What the function says of itself. Called once, at deploy.
    fn manifest() -> Manifest;

    fn handle(input: Self::Input, context: &Context) -> Result<Outcome, Error>;

    /// The contents of an offered resource, in the shape of MCP's `resources/read` result.
    fn read_resource(uri: &str, _context: &Context) -> Result<Value, Error> {
        Err(Error::new("not_found", format!("there is no resource `{uri}`")))
    }

    /// The messages of an offered prompt, in the shape of MCP's `prompts/get` result.
    fn get_prompt(name: &str, _arguments: Value, _context: &Context) -> Result<Value, Error> {
        Err(Error::new("not_found", format!("there is no prompt `{name}`")))
    }
}
