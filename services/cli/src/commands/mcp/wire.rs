//! Headers that repeat what a message says, for the versions that want them. Over stdin there are none, so that the
//! bridge makes them.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

const VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

/// Which arguments of which tool go into which headers. A tool that is there without any wants none.
pub type Wanted = HashMap<String, Vec<(String, String)>>;

/// The tool that a request calls which stands for itself.
pub fn tool(message: &Value) -> Option<&str> {
    message.pointer(VERSION).filter(|_| message.get("method").is_some_and(|method| method == "tools/call"))?;
    message.pointer("/params/name")?.as_str()
}

pub fn headers(message: &Value, wanted: &Wanted) -> Vec<(HeaderName, HeaderValue)> {
    let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let Some(version) = text(VERSION) else { return Vec::new() };
    let mut all = vec![("mcp-protocol-version".to_owned(), version)];
    all.extend(text("/method").map(|method| ("mcp-method".to_owned(), method)));
    let name = ["/params/name", "/params/uri", "/params/taskId"].into_iter().find_map(text);
    let arguments = message.pointer("/params/arguments");
    for (property, header) in tool(message).and_then(|tool| wanted.get(tool)).into_iter().flatten() {
        let given = arguments.and_then(|all| all.get(property));
        if let Some(value) = given.filter(|value| !value.is_null()) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            all.push((format!("mcp-param-{header}"), value));
        }
    }
    all.extend(name.map(|name| ("mcp-name".to_owned(), name)));
    let valid = |(name, value): (String, String)| {
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_str(&encoded(&value)).ok()?))
    };
    all.into_iter().filter_map(valid).collect()
}

/// What a header cannot carry as it is.
fn encoded(value: &str) -> String {
    let plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && value.trim() == value;
    if plain && !value.starts_with("=?base64?") {
        value.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(value))
    }
}

/// From the answer to `tools/list`.
pub fn header_arguments(answer: &Value) -> Wanted {
    let tools = answer.pointer("/result/tools").and_then(Value::as_array).into_iter().flatten();
    let of_tool = |tool: &Value| {
        let properties = tool.pointer("/inputSchema/properties").and_then(Value::as_object).into_iter().flatten();
        let named = properties.filter_map(|(name, property)| {
            Some((name.clone(), property.get("x-mcp-header")?.as_str()?.to_ascii_lowercase()))
        });
        Some((tool.get("name")?.as_str()?.to_owned(), named.collect::<Vec<_>>()))
    };
    tools.filter_map(of_tool).collect()
}

/// The headers of a request were not what its body says.
pub fn is_mismatch(answer: &str) -> bool {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    answer.pointer("/error/code").is_some_and(|code| *code == -32020)
}
