//! Headers that repeat what a message says, for the versions that want them. Over stdin there are none, so that the
//! bridge makes them.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

const VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

/// `arguments`: which arguments of which tool go into headers.
pub fn headers(message: &Value, arguments: &HashMap<String, Vec<(String, String)>>) -> Vec<(HeaderName, HeaderValue)> {
    let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let Some(version) = text(VERSION) else { return Vec::new() };
    let mut all = vec![("mcp-protocol-version".to_owned(), version)];
    all.extend(text("/method").map(|method| ("mcp-method".to_owned(), method)));
    let name = ["/params/name", "/params/uri", "/params/taskId"].into_iter().find_map(text);
    for (property, header) in name.as_ref().and_then(|name| arguments.get(name)).into_iter().flatten() {
        if let Some(value) = message.pointer(&format!("/params/arguments/{property}")).filter(|value| !value.is_null())
        {
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
pub fn header_arguments(answer: &Value) -> HashMap<String, Vec<(String, String)>> {
    let tools = answer.pointer("/result/tools").and_then(Value::as_array).into_iter().flatten();
    let of_tool = |tool: &Value| {
        let properties = tool.pointer("/inputSchema/properties")?.as_object()?;
        let named = properties.iter().filter_map(|(name, property)| {
            Some((name.clone(), property.get("x-mcp-header")?.as_str()?.to_ascii_lowercase()))
        });
        Some((tool.get("name")?.as_str()?.to_owned(), named.collect::<Vec<_>>()))
    };
    tools.filter_map(of_tool).filter(|(_, named)| !named.is_empty()).collect()
}
