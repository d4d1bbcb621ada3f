//! What a function returned, checked against the contract: JSON is JSON, blocks are blocks, sizes are allowed.

mod client;

use pleat_bindings::types;
use pleat_domain::task::Ask;
use pleat_domain::{Block, CallLimits, ClientAsk, Raw, json};

/// A result that can be used without further checks.
#[derive(Debug, Clone)]
pub enum Outcome {
    Value(Raw),
    Content {
        blocks: Vec<Block>,
        structured: Option<Raw>,
    },
    NeedInput(Ask),
    NeedAuth(Ask),
    /// Requests to the caller's client: at least one.
    NeedClient {
        ask: ClientAsk,
        state: Option<Raw>,
    },
    Reject(String),
    /// The answer of `read-resource` and `get-prompt`.
    Text(Raw),
}

/// How an outcome breaks the contract.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Breach {
    TooLarge { size: usize },
    Invalid(String),
}

pub(crate) fn checked(outcome: types::Outcome, limits: &CallLimits) -> Result<Outcome, Breach> {
    within(size(&outcome), limits)?;
    Ok(match outcome {
        types::Outcome::Value(value) => Outcome::Value(parsed("the result", value)?),
        types::Outcome::Content(content) => Outcome::Content {
            blocks: blocks(&content.blocks).map_err(Breach::Invalid)?,
            structured: content.structured.map(|text| parsed("`structured`", text)).transpose()?,
        },
        types::Outcome::NeedInput(ask) => Outcome::NeedInput(self::ask(ask)?),
        types::Outcome::NeedAuth(ask) => Outcome::NeedAuth(self::ask(ask)?),
        types::Outcome::NeedClient(request) => client::checked(request)?,
        types::Outcome::Reject(reason) => Outcome::Reject(reason),
    })
}

/// The answer of `describe`, `read-resource` and `get-prompt`.
pub(crate) fn text(json: String, limits: &CallLimits) -> Result<Outcome, Breach> {
    within(json.len(), limits)?;
    Ok(Outcome::Text(parsed("the result", json)?))
}

/// Content blocks out of their JSON text; the message says what is wrong with them.
pub(crate) fn blocks(text: &str) -> Result<Vec<Block>, String> {
    json::check(text.as_bytes()).map_err(|fault| format!("the content blocks are {fault}"))?;
    serde_json::from_str(text).map_err(|error| format!("the content blocks are not of a known shape: {error}"))
}

fn within(size: usize, limits: &CallLimits) -> Result<(), Breach> {
    if size > limits.output_bytes { Err(Breach::TooLarge { size }) } else { Ok(()) }
}

pub(crate) fn size(outcome: &types::Outcome) -> usize {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    match outcome {
        types::Outcome::Value(value) => value.len(),
        types::Outcome::Content(content) => content.blocks.len() + length(&content.structured),
        types::Outcome::NeedInput(ask) | types::Outcome::NeedAuth(ask) => {
            ask.prompt.len() + length(&ask.schema) + length(&ask.state)
        }
        types::Outcome::NeedClient(request) => request.kind.len() + request.params.len() + length(&request.state),
        types::Outcome::Reject(reason) => reason.len(),
    }
}

fn parsed(what: &str, text: String) -> Result<Raw, Breach> {
    json::checked(text).map_err(|fault| Breach::Invalid(format!("{what} is {fault}")))
}

fn ask(ask: types::Ask) -> Result<Ask, Breach> {
    let schema = ask.schema.map(|text| parsed("`schema`", text)).transpose()?;
    if schema.as_ref().is_some_and(|schema| !matches!(schema.get().as_bytes().first(), Some(b'{' | b't' | b'f'))) {
        return Err(Breach::Invalid("`schema` is not a JSON Schema: an object, or true or false".to_owned()));
    }
    let state = ask.state.map(|text| parsed("`state`", text)).transpose()?;
    Ok(Ask { schema, state, ..Ask::new(ask.prompt) })
}
