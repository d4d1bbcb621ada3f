//! What a step is given, put together from references and literals. Evaluating one never fails, except by size.
//!
//! A reference to something that is not there gives nothing: in an object its key is left out, elsewhere it is `null`.

use pleat_domain::{Raw, json};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::datum::{Found, Scope, find};
use crate::limits;
use crate::reference::Reference;

#[derive(Debug, Clone, PartialEq)]
pub enum Mapping {
    Reference(Reference),
    /// Text, a number, true, false or null.
    Literal(Value),
    Object(Vec<(String, Self)>),
    Array(Vec<Self>),
}

/// A mapping would put together more than a step may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl Mapping {
    /// The meaning of a string in a mapping; the error says what to write instead.
    pub(crate) fn of_text(text: &str) -> Result<Self, (String, String)> {
        if let Some(literal) = text.strip_prefix("literal:") {
            return Ok(Self::Literal(literal.into()));
        }
        let shown = crate::fault::quoted(text);
        if text.contains("{{") {
            let hint = "use `$input.…` or `$steps.<id>.…`; templates come with steps that call agents";
            return Err((format!("{shown} is a template, which this step does not take"), hint.into()));
        }
        if text.starts_with('$') {
            return Reference::parse(text).map(Self::Reference).map_err(|error| {
                let hint = format!("write `$input.a.b` or `$steps.<id>.a[0]`, or `literal:{text}` for the text itself");
                (format!("{shown} cannot be read: {error}"), hint)
            });
        }
        let hint = format!("write `literal:{text}` for the text itself, or a reference such as `$input.{text}`");
        Err((format!("{shown} is neither a reference nor a literal"), hint))
    }

    /// The way a document says it.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Reference(reference) => reference.to_string().into(),
            Self::Literal(Value::String(text)) => format!("literal:{text}").into(),
            Self::Literal(value) => value.clone(),
            Self::Object(entries) => entries.iter().map(|(key, value)| (key.clone(), value.to_value())).collect(),
            Self::Array(items) => items.iter().map(Self::to_value).collect(),
        }
    }

    /// All references in it, each with its place below the mapping as a JSON pointer.
    pub fn references(&self) -> Vec<(String, &Reference)> {
        let mut found = Vec::new();
        self.collect("", &mut found);
        found
    }

    fn collect<'a>(&'a self, pointer: &str, found: &mut Vec<(String, &'a Reference)>) {
        match self {
            Self::Reference(reference) => found.push((pointer.to_owned(), reference)),
            Self::Literal(_) => {}
            Self::Object(entries) => {
                entries.iter().for_each(|(key, value)| value.collect(&crate::fault::below(pointer, key), found));
            }
            Self::Array(items) => {
                let numbered = items.iter().enumerate();
                numbered.for_each(|(index, item)| item.collect(&crate::fault::below(pointer, index), found));
            }
        }
    }

    pub(crate) fn evaluate(&self, scope: &Scope<'_>) -> Result<Raw, TooLarge> {
        let mut text = String::new();
        if !self.write(scope, &mut text)? {
            text.push_str("null");
        }
        // Put together from valid pieces by valid rules.
        Ok(RawValue::from_string(text).unwrap_or_else(|_| json::raw(&())))
    }

    /// Whether there is anything; what is whole is copied as the text it is.
    fn write(&self, scope: &Scope<'_>, out: &mut String) -> Result<bool, TooLarge> {
        match self {
            Self::Reference(reference) => match find(reference, scope) {
                Found::Nothing => return Ok(false),
                Found::Whole(datum) => push(out, datum.raw.get())?,
                Found::Part(value) => push(out, &value.to_string())?,
                Found::Index(index) => push(out, &index.to_string())?,
            },
            Self::Literal(value) => push(out, &value.to_string())?,
            Self::Object(entries) => {
                push(out, "{")?;
                let mut first = true;
                for (key, value) in entries {
                    let before = out.len();
                    push(out, if first { "" } else { "," })?;
                    push(out, &Value::from(key.as_str()).to_string())?;
                    push(out, ":")?;
                    if value.write(scope, out)? { first = false } else { out.truncate(before) }
                }
                push(out, "}")?;
            }
            Self::Array(items) => {
                push(out, "[")?;
                for (index, item) in items.iter().enumerate() {
                    push(out, if index == 0 { "" } else { "," })?;
                    if !item.write(scope, out)? {
                        push(out, "null")?;
                    }
                }
                push(out, "]")?;
            }
        }
        Ok(true)
    }
}

fn push(out: &mut String, text: &str) -> Result<(), TooLarge> {
    if out.len() + text.len() > limits::MAPPED {
        return Err(TooLarge);
    }
    out.push_str(text);
    Ok(())
}

#[cfg(test)]
mod tests;
