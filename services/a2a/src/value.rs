//! Between messages and the one JSON value that a function takes and gives (the contract of every A2A family).
//!
//! Nothing is validated against the schema here; it only decides how a text is to be read.

use std::borrow::Cow;

use pleat_domain::content::Block;
use pleat_domain::json::{self, JsonFault, Raw};
use pleat_domain::message::Message;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Why a message gives no input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoInput {
    #[error("the message has {0} data parts, and the input is one value; put them into one data part")]
    SeveralDataParts(usize),
    #[error("the text is read as the JSON input, but {0}")]
    Json(#[source] JsonFault),
    #[error("this skill takes an object; send it as a data part, or as a text part that is a JSON object")]
    NotAnObject,
}

/// What `handle` gets. One data part: its value, whatever is around it. Texts alone: the text, lines joined; where the
/// schema wants an object, the text read as one, or else as the only string property of the schema. Files alone:
/// an empty object or `null`, as the schema wants (the function finds them in its message).
pub fn input_from_message(message: &Message, schema: Option<&Value>) -> Result<Raw, NoInput> {
    let mut data = message.content.iter().filter_map(as_data);
    match (data.next(), data.count()) {
        (Some(value), 0) => return Ok(value.clone()),
        (Some(_), others) => return Err(NoInput::SeveralDataParts(others + 1)),
        (None, _) => {}
    }
    let texts: Vec<&str> = message.content.iter().filter_map(as_text).collect();
    let wanted = schema.and_then(wanted_object);
    match (texts.as_slice(), wanted) {
        ([], None) => Ok(RawValue::NULL.to_owned()),
        ([], Some(_)) => Ok(json::raw(&json!({}))),
        (texts, None) => Ok(json::raw(&texts.join("\n"))),
        (texts, Some(object)) => object_from_text(texts.join("\n"), object),
    }
}

/// Whether a plain text can be the input of a skill with this schema.
pub fn accepts_text(schema: Option<&Value>) -> bool {
    schema.and_then(wanted_object).is_none_or(|object| only_string_property(object).is_some())
}

/// A result as the text of a part: the string itself, or else the JSON as the function wrote it.
pub fn text_of(value: &RawValue) -> Cow<'_, str> {
    let json = value.get();
    if !json.starts_with('"') {
        return Cow::Borrowed(json);
    }
    serde_json::from_str::<String>(json).map_or(Cow::Borrowed(json), Cow::Owned)
}

pub(crate) fn as_data(block: &Block) -> Option<&Raw> {
    match block {
        Block::Data { data, .. } => Some(&data.0),
        _ => None,
    }
}

fn as_text(block: &Block) -> Option<&str> {
    match block {
        Block::Text { text, .. } => Some(text),
        _ => None,
    }
}

fn object_from_text(text: String, schema: &Value) -> Result<Raw, NoInput> {
    let property = only_string_property(schema);
    if text.trim_start().starts_with('{') {
        match json::check(text.as_bytes()) {
            Ok(()) => return json::checked(text).map_err(NoInput::Json),
            // A text may begin with a brace and be meant as text.
            Err(JsonFault::Syntax(_)) if property.is_some() => {}
            Err(fault) => return Err(NoInput::Json(fault)),
        }
    }
    match property {
        Some(name) => Ok(json::raw(&json!({ name: text }))),
        None => Err(NoInput::NotAnObject),
    }
}

/// The schema that asks for an object, and for nothing that a text could be. A root that only refers to a definition
/// of its own, as generators write it, is followed.
fn wanted_object(schema: &Value) -> Option<&Value> {
    let mut current = schema;
    for _ in 0..8 {
        let Some(reference) = current.get("$ref").and_then(Value::as_str) else { break };
        current = schema.pointer(reference.strip_prefix('#')?)?;
    }
    let wants = match current.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => {
            kinds.iter().any(|kind| kind == "object") && !kinds.iter().any(|kind| kind == "string")
        }
        _ => current.get("properties").is_some_and(Value::is_object),
    };
    wants.then_some(current)
}

fn only_string_property(schema: &Value) -> Option<&str> {
    let properties = schema.get("properties")?.as_object()?;
    let is_string = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "string");
    let mut strings = properties.iter().filter(|(_, schema)| is_string(schema));
    match (strings.next(), strings.next()) {
        (Some((name, _)), None) => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
