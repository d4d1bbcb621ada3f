//! Functions as tools.

use pleat_domain::{Manifest, json, json::Raw};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::version::Version;

/// What a client may know of how a tool behaves.
const HINTS: [&str; 5] = ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
/// Under which an input that is no object is given.
const WRAPPED: &str = "input";

/// One entry of `tools/list`.
pub fn view(name: &str, manifest: &Manifest, version: Version) -> Value {
    let mut tool = Map::new();
    tool.insert("name".to_owned(), Value::from(name));
    if let Some(title) = &manifest.title {
        tool.insert("title".to_owned(), Value::from(title.as_str()));
    }
    tool.insert("description".to_owned(), Value::from(description(name, manifest)));
    tool.insert("inputSchema".to_owned(), input_schema(manifest.input.as_ref()));
    if let Some(output) = output_schema(manifest, version) {
        tool.insert("outputSchema".to_owned(), output.clone());
    }
    let hints: Map<String, Value> = manifest
        .annotations
        .iter()
        .filter(|(name, _)| HINTS.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if !hints.is_empty() {
        tool.insert("annotations".to_owned(), Value::Object(hints));
    }
    Value::Object(tool)
}

/// A tool without a description cannot be chosen by a model.
pub fn description(name: &str, manifest: &Manifest) -> String {
    match (manifest.description.as_str(), &manifest.title) {
        ("", Some(title)) => title.clone(),
        ("", None) => format!("Runs the function {name}"),
        (description, _) => description.to_owned(),
    }
}

/// The schema of the result, where this version can carry a result of that schema.
pub fn output_schema(manifest: &Manifest, version: Version) -> Option<&Value> {
    let schema = manifest.output.as_ref()?;
    let fits = version.has_any_structured() || (version.has_structured() && is_object(schema));
    (fits && schema.is_object()).then_some(schema)
}

/// Arguments are always an object: an input that is something else is one of its properties.
pub fn input_schema(schema: Option<&Value>) -> Value {
    match schema {
        None | Some(Value::Bool(_)) => json!({ "type": "object" }),
        Some(schema) if schema.get("type").is_some_and(|kind| kind == "object") => schema.clone(),
        Some(schema) if is_object(schema) => {
            let mut typed = Map::from_iter([("type".to_owned(), Value::from("object"))]);
            typed.extend(schema.as_object().cloned().unwrap_or_default());
            Value::Object(typed)
        }
        Some(schema) => {
            let mut whole = Map::from_iter([("type".to_owned(), Value::from("object"))]);
            let mut inner = schema.as_object().cloned().unwrap_or_default();
            // References go from the root.
            for place in ["$schema", "$defs", "definitions"] {
                if let Some(kept) = inner.remove(place) {
                    whole.insert(place.to_owned(), kept);
                }
            }
            whole.insert("properties".to_owned(), json!({ WRAPPED: inner }));
            whole.insert("required".to_owned(), json!([WRAPPED]));
            Value::Object(whole)
        }
    }
}

/// What the function gets of a call's arguments.
pub fn input(schema: Option<&Value>, arguments: Option<Raw>) -> Raw {
    let arguments = arguments.filter(|raw| raw.get() != "null").unwrap_or_else(|| json::raw(&Map::new()));
    let wrapped = schema.is_some_and(|schema| !schema.is_boolean() && !is_object(schema));
    if !wrapped {
        return arguments;
    }
    let mut given: std::collections::BTreeMap<String, Raw> = serde_json::from_str(arguments.get()).unwrap_or_default();
    given.remove(WRAPPED).unwrap_or_else(|| RawValue::NULL.to_owned())
}

fn is_object(schema: &Value) -> bool {
    match schema.get("type") {
        Some(kind) => kind == "object",
        None => schema.get("properties").is_some_and(Value::is_object),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_of_an_object_is_shown_as_it_is() {
        let schema = json!({"$schema": "x", "type": "object", "$defs": {"a": {}}, "allOf": [], "$anchor": "here"});
        assert_eq!(input_schema(Some(&schema)), schema);
        assert_eq!(input_schema(None), json!({"type": "object"}));
        assert_eq!(input_schema(Some(&json!({"properties": {}}))), json!({"type": "object", "properties": {}}));
    }

    #[test]
    fn an_input_that_is_no_object_is_a_property() {
        let schema = json!({"type": "string", "$defs": {"a": 1}});
        let shown = input_schema(Some(&schema));
        let wrapped = json!({"type": "object", "$defs": {"a": 1}, "properties": {"input": {"type": "string"}}, "required": ["input"]});
        assert_eq!(shown, wrapped);
        assert_eq!(input(Some(&schema), Some(json::raw(&json!({"input": "x"})))).get(), "\"x\"");
        assert_eq!(input(Some(&schema), None).get(), "null");
        assert_eq!(input(None, None).get(), "{}");
    }

    #[test]
    fn an_output_is_promised_only_where_it_can_be_kept() {
        let manifest = Manifest { output: Some(json!({"type": "array"})), ..Manifest::default() };
        assert!(output_schema(&manifest, Version::V2025_11_25).is_none());
        assert!(output_schema(&manifest, Version::V2026_07_28).is_some());
        let manifest = Manifest { output: Some(json!({"type": "object"})), ..Manifest::default() };
        assert!(output_schema(&manifest, Version::V2025_03_26).is_none());
        assert!(output_schema(&manifest, Version::V2025_06_18).is_some());
    }
}
