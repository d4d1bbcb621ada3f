//! The card of A2A 1.0: its fields and no others. What has no place in it travels as parameters of extensions.
//!
//! Fields that have their default are left out, as ProtoJSON does: a reader that parses and writes the card again gets
//! the same one, and with it the same signature.

use serde_json::{Map, Value, json};

use super::{CardSkill, CardSource, Shape, security, transport};
use crate::extension;
use crate::value::accepts_text;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// How to make the first call through each door.
pub const TRANSPORT_EXTENSION: &str = "urn:pleat:a2a:transport:v1";
/// What skills take and give, as JSON Schema.
pub const SCHEMAS_EXTENSION: &str = "urn:pleat:a2a:schemas:v1";

pub(super) fn card(source: &CardSource<'_>) -> Map<String, Value> {
    let mut card = common(source);
    let mut extensions = vec![transport_extension(source)];
    extensions.extend(schemas_extension(source));
    extensions.extend(extension::declared());
    if let Some(Value::Object(capabilities)) = card.get_mut("capabilities") {
        capabilities.insert("extensions".to_owned(), Value::Array(extensions));
    }
    card
}

/// What both shapes say in the words of 1.0.
pub(super) fn common(source: &CardSource<'_>) -> Map<String, Value> {
    let mut card = Map::new();
    let mut put = |name: &str, value: Value| card.insert(name.to_owned(), value);
    put("name", json!(format!("pleat-{}", source.tenant)));
    put("description", json!(format!("AI agent powered by Pleat with {} tool(s)", source.skills.len())));
    put("supportedInterfaces", interfaces(source));
    put("version", json!(source.version));
    put("capabilities", capabilities(source));
    put("securitySchemes", security::schemes(source));
    if let Some(requirements) = security::requirements_of_all(source) {
        put("securityRequirements", requirements);
    }
    put("defaultInputModes", json!([JSON, TEXT]));
    put("defaultOutputModes", json!([JSON, TEXT]));
    put("skills", source.skills.iter().map(|one| skill(one, source)).collect());
    card
}

/// In the order of preference. Clients compare versions as text.
fn interfaces(source: &CardSource<'_>) -> Value {
    let interface = |url: String, binding: &str, version: &str| json!({ "url": url, "protocolBinding": binding, "protocolVersion": version });
    json!([
        interface(source.rpc_url(), "JSONRPC", "1.0"),
        interface(source.rest_url(), "HTTP+JSON", "1.0"),
        interface(source.rpc_url(), "JSONRPC", "0.3"),
    ])
}

fn capabilities(source: &CardSource<'_>) -> Value {
    json!({
        "streaming": true,
        "pushNotifications": source.served.push_notifications,
        "extendedAgentCard": true,
    })
}

fn skill(skill: &CardSkill<'_>, source: &CardSource<'_>) -> Value {
    let mut view = Map::new();
    let mut put = |name: &str, value: Value| view.insert(name.to_owned(), value);
    put("id", json!(skill.name));
    // What kind of skill it is, the tags tell.
    put("name", json!(skill.name.strip_prefix("pipeline:").unwrap_or(skill.name)));
    put("description", json!(skill.described()));
    // A required list may not be empty.
    put("tags", if skill.tags.is_empty() { json!(["function"]) } else { json!(skill.tags) });
    if !skill.examples.is_empty() {
        put("examples", json!(skill.shown_examples()));
    }
    put("inputModes", if accepts_text(skill.input) { json!([JSON, TEXT]) } else { json!([JSON]) });
    put("outputModes", json!(output_modes(skill.output)));
    if !skill.public {
        put("securityRequirements", security::requirements(source));
    }
    Value::Object(view)
}

/// A string is shown as text, everything else as data; without a schema, it may be either.
fn output_modes(schema: Option<&Value>) -> &'static [&'static str] {
    let kinds: Vec<&str> = match schema.and_then(|schema| schema.get("type")) {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let strings = kinds.iter().filter(|kind| **kind == "string").count();
    match (strings, kinds.len() - strings) {
        (1.., 0) => &[TEXT],
        (0, 1..) => &[JSON],
        _ => &[JSON, TEXT],
    }
}

fn transport_extension(source: &CardSource<'_>) -> Value {
    json!({
        "uri": TRANSPORT_EXTENSION,
        "description": "How to make the first call through each door, ready to be sent",
        "params": transport::block(source, Shape::Pure),
    })
}

fn schemas_extension(source: &CardSource<'_>) -> Option<Value> {
    let schemas: Map<String, Value> = source
        .skills
        .iter()
        .filter(|skill| skill.input.is_some() || skill.output.is_some())
        .map(|skill| (skill.name.to_owned(), Value::Object(schemas_of(skill))))
        .collect();
    (!schemas.is_empty()).then(|| {
        json!({
            "uri": SCHEMAS_EXTENSION,
            "description": "JSON Schema of what skills take and give, by the skill's id",
            "params": { "skills": schemas },
        })
    })
}

pub(super) fn schemas_of(skill: &CardSkill<'_>) -> Map<String, Value> {
    let schemas = [("inputSchema", skill.input), ("outputSchema", skill.output)];
    schemas.into_iter().filter_map(|(name, schema)| Some((name.to_owned(), schema?.clone()))).collect()
}
