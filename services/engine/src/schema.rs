//! JSON Schemas of functions: compiled once at load, asked on every call.
//!
//! Schemas come from tenants: references to elsewhere are not followed (the crate is built without that) and
//! patterns run on a linear engine.

use jsonschema::{PatternOptions, Validator};
use pleat_domain::Raw;
use serde_json::Value;

use crate::error::Violation;

/// How many faults are reported at once.
const MOST_VIOLATIONS: usize = 8;

/// A compiled schema; `None` inside means that everything is valid.
#[derive(Debug)]
pub(crate) struct Schema {
    validator: Option<Validator>,
}

impl Schema {
    pub(crate) fn compile(schema: Option<&Value>) -> Result<Self, String> {
        let Some(schema) = schema.filter(|schema| **schema != Value::Bool(true)) else {
            return Ok(Self { validator: None });
        };
        let validator = jsonschema::options()
            .with_pattern_options(PatternOptions::regex())
            .build(schema)
            .map_err(|error| format!("{error} (at `{}`)", error.instance_path()))?;
        Ok(Self { validator: Some(validator) })
    }

    /// The faults of a payload; empty when it is valid.
    pub(crate) fn violations(&self, payload: &Raw) -> Vec<Violation> {
        let Some(validator) = &self.validator else { return Vec::new() };
        let value: Value = match serde_json::from_str(payload.get()) {
            Ok(value) => value,
            Err(error) => return vec![Violation { pointer: String::new(), message: error.to_string() }],
        };
        if validator.is_valid(&value) {
            return Vec::new();
        }
        validator
            .iter_errors(&value)
            .take(MOST_VIOLATIONS)
            .map(|error| Violation { pointer: error.instance_path().to_string(), message: shorten(&error.to_string()) })
            .collect()
    }
}

/// A violation quotes the offending value, which may be long.
fn shorten(message: &str) -> String {
    const MOST: usize = 240;
    match message.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", message.get(..end).unwrap_or_default()),
        None => message.to_owned(),
    }
}
