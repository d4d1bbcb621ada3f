//! What 1.0 says of an error beside its code and its text: an array of `google.rpc` details.

use serde_json::{Map, Value, json};

use crate::error;

/// Whose words the reasons are that the specification has.
const PROTOCOL: &str = "a2a-protocol.org";
/// And those that it does not have.
const OURS: &str = "pleat";

/// The details of an error: why, and where in the request. `word` is its code in our own words, `data` what earlier
/// families are told: a `pointer` into the parameters, `violations` of the input, or plain facts.
pub fn details(code: i32, word: &str, message: &str, data: Option<&Value>) -> Value {
    let (reason, domain) = match reason(code) {
        Some(reason) => (reason.to_owned(), PROTOCOL),
        None => (word.to_uppercase(), OURS),
    };
    let mut info = json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": domain,
    });
    let violations = violations(message, data);
    if !violations.is_empty() {
        let places = json!({ "@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations });
        return Value::Array(vec![places, info]);
    }
    let facts = facts(data);
    if let (false, Some(info)) = (facts.is_empty(), info.as_object_mut()) {
        info.insert("metadata".to_owned(), Value::Object(facts));
    }
    Value::Array(vec![info])
}

const fn reason(code: i32) -> Option<&'static str> {
    Some(match code {
        error::TASK_NOT_FOUND => "TASK_NOT_FOUND",
        error::TASK_NOT_CANCELABLE => "TASK_NOT_CANCELABLE",
        error::PUSH_NOTIFICATION_NOT_SUPPORTED => "PUSH_NOTIFICATION_NOT_SUPPORTED",
        error::UNSUPPORTED_OPERATION => "UNSUPPORTED_OPERATION",
        error::CONTENT_TYPE_NOT_SUPPORTED => "CONTENT_TYPE_NOT_SUPPORTED",
        error::INVALID_AGENT_RESPONSE => "INVALID_AGENT_RESPONSE",
        error::EXTENDED_CARD_NOT_CONFIGURED => "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
        error::EXTENSION_SUPPORT_REQUIRED => "EXTENSION_SUPPORT_REQUIRED",
        error::VERSION_NOT_SUPPORTED => "VERSION_NOT_SUPPORTED",
        _ => return None,
    })
}

fn violations(message: &str, data: Option<&Value>) -> Vec<Value> {
    let one = |field: String, text: &str| json!({ "field": field, "description": text });
    let Some(data) = data else { return Vec::new() };
    if let Some(pointer) = data.get("pointer").and_then(Value::as_str) {
        let root = if pointer.is_empty() { "params" } else { "" };
        return vec![one(path(root, pointer), message)];
    }
    let all = data.get("violations").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text =
        |violation: &'_ Value, name: &str| violation.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    all.iter().map(|violation| one(path("input", &text(violation, "pointer")), &text(violation, "message"))).collect()
}

/// A JSON pointer as the path of a field: `/message/parts/0` is `message.parts[0]`.
fn path(root: &str, pointer: &str) -> String {
    pointer.split('/').skip(1).fold(root.to_owned(), |path, step| match step.parse::<usize>() {
        Ok(index) => format!("{path}[{index}]"),
        Err(_) if path.is_empty() => step.to_owned(),
        Err(_) => format!("{path}.{step}"),
    })
}

/// Facts are texts there.
fn facts(data: Option<&Value>) -> Map<String, Value> {
    let facts = data.and_then(Value::as_object).into_iter().flatten().map(|(name, value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        (name.clone(), Value::String(text))
    });
    facts.collect()
}
