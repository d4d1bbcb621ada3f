//! The result of a tool: its value as at the other doors, and in a line each what a terminal does not show.

use anyhow::Result;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::Call;
use super::parse;
use crate::output::size;
use crate::progress::StateUpdate;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(default)]
    content: Vec<Value>,
    /// As the function wrote it, number for number.
    #[serde(borrow, default, deserialize_with = "present")]
    structured_content: Option<&'a RawValue>,
    #[serde(default)]
    is_error: bool,
    #[serde(default, rename = "_meta")]
    meta: Value,
}

/// A value that is there, even where it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

pub async fn finish(call: &Call<'_>, raw: &RawValue) -> Result<()> {
    if call.output.json() {
        call.output.document(&parse(call, raw.get())?)?;
    }
    let result: CallResult<'_> = parse(call, raw.get())?;
    let texts: Vec<&str> = result.content.iter().filter_map(as_text).collect();
    if result.is_error {
        let task = result.meta.get("pleat/taskId").and_then(Value::as_str).map(str::to_owned);
        let end = StateUpdate { state: "failed".to_owned(), message: texts.join("\n"), ..StateUpdate::default() };
        return Err(call.ended(end.into_end(call.skill, task)).await);
    }
    if call.output.json() {
        return Ok(());
    }
    match result.structured_content {
        Some(value) => call.print(value.get())?,
        None if texts.is_empty() => {}
        None => call.print_text(&texts.join("\n"))?,
    }
    let shown = |block: &Value| match (as_text(block), result.structured_content) {
        (Some(text), Some(value)) => says(text, value),
        (text, _) => text.is_some(),
    };
    for block in result.content.iter().filter(|block| !shown(block)) {
        call.output.note(&format!("not shown: {}", described(block)));
    }
    Ok(())
}

/// Whether a text is a structured value once more.
fn says(text: &str, value: &RawValue) -> bool {
    let value: Value = serde_json::from_str(value.get()).unwrap_or_default();
    value == text || serde_json::from_str::<Value>(text).is_ok_and(|said| said == value)
}

fn as_text(block: &Value) -> Option<&str> {
    text(block, "text").filter(|_| text(block, "type") == Some("text"))
}

/// Its kind, its media type, its size, its address: those that it has.
fn described(block: &Value) -> String {
    let kind = match text(block, "type") {
        Some("resource_link") => "link",
        other => other.unwrap_or("something unknown"),
    };
    let inner = block.get("resource").unwrap_or(block);
    let encoded = || text(inner, "data").or_else(|| text(inner, "blob")).map(decoded_length);
    let bytes = text(inner, "text").map(str::len).or_else(encoded).map(size);
    let facts = [Some(kind), text(inner, "mimeType"), bytes.as_deref(), text(inner, "uri")];
    facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn text<'a>(block: &'a Value, field: &str) -> Option<&'a str> {
    block.get(field).and_then(Value::as_str)
}

fn decoded_length(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}
