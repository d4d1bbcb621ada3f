//! Headers that repeat what the body says, so that a proxy can route without reading it. From 2026-07-28 on they must
//! be there and agree.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::RpcError;

/// The value of a header; an empty text for one that is no text or there twice, which agrees with nothing.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// `Mcp-Method` and `Mcp-Name`.
pub fn check(method: &str, params: Option<&RawValue>, header: Lookup<'_>) -> Result<(), RpcError> {
    let said = header("mcp-method").ok_or_else(|| RpcError::header_mismatch("`Mcp-Method` is missing"))?;
    if said.trim() != method {
        return Err(RpcError::header_mismatch("`Mcp-Method` is not the method of the body"));
    }
    let (field, needed) = match method {
        "tools/call" | "prompts/get" => ("name", true),
        "resources/read" => ("uri", true),
        "tasks/get" | "tasks/update" | "tasks/cancel" => ("taskId", false),
        _ => return Ok(()),
    };
    let body: Map<String, Value> = params.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let Some(named) = body.get(field).and_then(Value::as_str) else { return Ok(()) };
    match header("mcp-name") {
        None if needed => Err(RpcError::header_mismatch("`Mcp-Name` is missing")),
        None => Ok(()),
        Some(value) if decoded(&value).as_deref() == Some(named) => Ok(()),
        Some(_) => Err(RpcError::header_mismatch(&format!("`Mcp-Name` is not `{field}` of the body"))),
    }
}

/// `Mcp-Param-…`: arguments that the tool's schema wants repeated as headers.
pub fn check_arguments(
    schema: Option<&Value>,
    arguments: Option<&RawValue>,
    header: Lookup<'_>,
) -> Result<(), RpcError> {
    let Some(properties) = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object) else {
        return Ok(());
    };
    let mut wanted = properties
        .iter()
        .filter_map(|(name, property)| Some((name, property.get("x-mcp-header")?.as_str()?)))
        .peekable();
    if wanted.peek().is_none() {
        return Ok(());
    }
    let given: Map<String, Value> = arguments.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let required = |name: &str| {
        let all = schema.and_then(|schema| schema.get("required")).and_then(Value::as_array);
        all.is_some_and(|all| all.iter().any(|one| one == name))
    };
    for (name, suffix) in wanted {
        let said = header(&format!("mcp-param-{}", suffix.to_ascii_lowercase()));
        match (given.get(name).filter(|value| !value.is_null()), said) {
            (None, None) if required(name) => {
                return Err(RpcError::invalid_params(format!("the argument `{name}` is missing")));
            }
            (None, None) => {}
            (Some(value), Some(said)) if decoded(&said) == text_of(value) => {}
            (Some(_), None) => {
                return Err(RpcError::header_mismatch(&format!("`Mcp-Param-{suffix}` is missing")));
            }
            _ => {
                let text = format!("`Mcp-Param-{suffix}` is not the argument `{name}` of the body");
                return Err(RpcError::header_mismatch(&text));
            }
        }
    }
    Ok(())
}

/// The text that a header stands for: `=?base64?…?=` carries what a header cannot. `None`: it claims to and does not.
fn decoded(value: &str) -> Option<String> {
    let value = value.trim();
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_domain::json::raw;
    use serde_json::json;

    fn headers(all: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
        move |name| all.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn the_method_must_be_repeated_exactly() {
        let ok = |all| check("tools/list", None, &headers(all));
        assert!(ok(&[("mcp-method", " tools/list ")]).is_ok());
        assert_eq!(ok(&[("mcp-method", "TOOLS/LIST")]).unwrap_err().code, -32020);
        assert_eq!(ok(&[]).unwrap_err().code, -32020);
    }

    #[test]
    fn the_name_must_be_repeated_where_there_is_one() {
        let call = |all| check("tools/call", Some(&raw(&json!({"name": "größe"}))), &headers(all));
        assert!(call(&[("mcp-method", "tools/call"), ("mcp-name", "=?base64?Z3LDtsOfZQ==?=")]).is_ok());
        assert!(call(&[("mcp-method", "tools/call")]).is_err());
        assert!(call(&[("mcp-method", "tools/call"), ("mcp-name", "other")]).is_err());
        let task = Some(raw(&json!({"taskId": "t"})));
        assert!(check("tasks/get", task.as_deref(), &headers(&[("mcp-method", "tasks/get")])).is_ok());
    }

    #[test]
    fn arguments_that_a_schema_names_are_repeated_and_nothing_else() {
        let schema = json!({"properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "n": {}}});
        let given = |arguments: Value, all| check_arguments(Some(&schema), Some(&raw(&arguments)), &headers(all));
        assert!(given(json!({"region": "Hello"}), &[("mcp-param-region", "=?base64?SGVsbG8=?=")]).is_ok());
        assert!(given(json!({"region": "Hello"}), &[("mcp-param-region", "=?base64?SGVsbG8?=")]).is_err());
        assert!(given(json!({"region": "=?base64?SGVsbG8="}), &[("mcp-param-region", "=?base64?SGVsbG8=")]).is_ok());
        assert!(given(json!({"region": "Hello"}), &[]).is_err());
        assert!(given(json!({"n": 3}), &[]).is_ok());
        assert!(given(json!({"n": 3}), &[("mcp-param-region", "x")]).is_err());
    }
}
