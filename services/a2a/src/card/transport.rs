//! The invocation packet: everything that a client needs to make its first call, ready to be copied from the card.
//!
//! A crawler that has read only the card must not have to guess how an MCP session begins; and one that guessed wrong is
//! led back here by the error's `recipeUrl`.

use serde_json::{Map, Value, json};

use super::{CardSkill, CardSource, Shape, security};

/// Of MCP with sessions, the latest first.
pub const SESSION_VERSIONS: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
/// Of MCP without.
pub const STATELESS_VERSION: &str = "2026-07-28";

const SESSION_HEADER: &str = "Mcp-Session-Id";
const SESSION_VALUE: &str = "<value-from-initialize-response>";

/// Where in the card the handshake is, for whoever came to the MCP door without it.
pub fn recipe_url(base_url: &str, shape: Shape) -> String {
    let pointer = match shape {
        Shape::Hybrid => "/transport/protocols/0/handshake",
        Shape::Pure => "/capabilities/extensions/0/params/protocols/0/handshake",
    };
    format!("{base_url}/.well-known/agent-card.json#{pointer}")
}

/// What a request gets that comes before `initialize`, where sessions are spoken.
pub fn missing_initialize(recipe_url: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": {
            "code": -32600,
            "message": "Invalid Request: server must receive a JSON-RPC 'initialize' before any other method.",
            "data": {
                "expectedMethod": "initialize",
                "transport": "streamable-http",
                "recipeUrl": recipe_url,
            },
        },
    })
}

pub(super) fn block(source: &CardSource<'_>, shape: Shape) -> Value {
    let mut protocols = Vec::new();
    if source.served.mcp {
        protocols.push(with_sessions(source, shape));
        protocols.push(without_sessions(source));
    }
    protocols.push(a2a(source));
    protocols.push(plain_http(source));
    let primary = protocols.first().and_then(|protocol| protocol.get("id")).cloned();
    json!({
        "primary": primary,
        "protocols": protocols,
        "discoveryNote": "This block is the whole of what a client needs to begin; other files are advisory",
    })
}

fn with_sessions(source: &CardSource<'_>, shape: Shape) -> Value {
    let [latest, ..] = SESSION_VERSIONS;
    let first = headers(source, &[("MCP-Protocol-Version", latest)]);
    let later = headers(source, &[("MCP-Protocol-Version", latest), (SESSION_HEADER, SESSION_VALUE)]);
    let mut handshake = json!({
        "method": "POST",
        "headers": first,
        "body": rpc(Some(1), "initialize", Some(json!({
            "protocolVersion": latest,
            "capabilities": {},
            "clientInfo": client(),
        }))),
        "responseSessionHeader": { "name": SESSION_HEADER },
        "postInitializeNotification": {
            "method": "POST",
            "headers": later,
            "body": rpc(None, "notifications/initialized", None),
        },
        "exampleNextCall": { "method": "POST", "headers": later, "body": rpc(Some(2), "tools/list", None) },
        "endOfSession": { "method": "DELETE", "headers": later },
    });
    if let (Some(call), Some(handshake)) = (tool_call(source), handshake.as_object_mut()) {
        let call = json!({ "method": "POST", "headers": later, "body": rpc(Some(3), "tools/call", Some(call)) });
        handshake.insert("exampleToolCall".to_owned(), call);
    }
    json!({
        "id": "mcp-streamable-http",
        "url": mcp_url(source),
        "protocolVersions": SESSION_VERSIONS,
        "handshake": handshake,
        "errorShape": { "missingInitialize": missing_initialize(&recipe_url(source.base_url, shape)) },
    })
}

/// Every request stands for itself: the first call is a call.
fn without_sessions(source: &CardSource<'_>) -> Value {
    let request = |id: u32, method: &str, params: Map<String, Value>| {
        let name = params.get("name").and_then(Value::as_str).map(str::to_owned);
        let mut own = vec![("MCP-Protocol-Version", STATELESS_VERSION), ("Mcp-Method", method)];
        own.extend(name.as_deref().map(|name| ("Mcp-Name", name)));
        let mut params = params;
        params.insert("_meta".to_owned(), meta());
        let body = rpc(Some(id), method, Some(Value::Object(params)));
        json!({ "method": "POST", "headers": headers(source, &own), "body": body })
    };
    let mut handshake = request(1, "server/discover", Map::new());
    if let Some(handshake) = handshake.as_object_mut() {
        handshake.insert("exampleNextCall".to_owned(), request(2, "tools/list", Map::new()));
        if let Some(Value::Object(call)) = tool_call(source) {
            handshake.insert("exampleToolCall".to_owned(), request(3, "tools/call", call));
        }
    }
    let unsupported = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "error": {
            "code": -32022,
            "message": "Unsupported protocol version",
            "data": { "supported": [STATELESS_VERSION], "requested": "<the version that was sent>" },
        },
    });
    json!({
        "id": "mcp-streamable-http-stateless",
        "url": mcp_url(source),
        "protocolVersions": [STATELESS_VERSION],
        "handshake": handshake,
        "errorShape": { "unsupportedVersion": unsupported },
    })
}

fn a2a(source: &CardSource<'_>) -> Value {
    let message = json!({ "messageId": "<unique-id>", "role": "ROLE_USER", "parts": [{ "text": "<your-message>" }] });
    // One that needs no key, if there is such a one.
    let named = source.skills.iter().find(|skill| skill.public).or(source.skills.first());
    let skill = named.map(|skill| json!({ "skill": skill.name }));
    let mut params = json!({ "message": message });
    if let (Some(skill), Some(params)) = (skill, params.as_object_mut()) {
        params.insert("metadata".to_owned(), skill);
    }
    json!({
        "id": "a2a-jsonrpc",
        "url": source.rpc_url(),
        "protocolVersions": ["1.0", "0.3", "0.1"],
        "handshake": {
            "method": "POST",
            "headers": headers(source, &[("A2A-Version", "1.0")]),
            "body": rpc(Some(1), "SendMessage", Some(params)),
        },
    })
}

fn plain_http(source: &CardSource<'_>) -> Value {
    json!({
        "id": "http-json",
        "url": source.base_url,
        "endpoints": [
            { "path": "/{skill}", "method": "GET" },
            { "path": "/{skill}", "method": "POST" },
        ],
    })
}

/// A skill with an example that can be sent as it is, and that needs no key if there is such a one.
fn tool_call(source: &CardSource<'_>) -> Option<Value> {
    let object = |value: &&Value| value.is_object();
    let with_example = |skill: &CardSkill<'_>| {
        let arguments = skill.examples.iter().find(object)?.clone();
        Some((skill.public, json!({ "name": skill.name, "arguments": arguments })))
    };
    let candidates: Vec<(bool, Value)> = source.skills.iter().filter_map(with_example).collect();
    let open = candidates.iter().find(|(public, _)| *public).or(candidates.first());
    open.map(|(_, call)| call.clone())
}

fn headers(source: &CardSource<'_>, own: &[(&str, &str)]) -> Value {
    let mut headers = vec![("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    headers.extend(own);
    if security::needed_by_all(source) {
        headers.push(("Authorization", "Bearer <your-key>"));
    }
    Value::Object(headers.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect())
}

fn rpc(id: Option<u32>, method: &str, params: Option<Value>) -> Value {
    let mut request = Map::from_iter([("jsonrpc".to_owned(), json!("2.0"))]);
    request.extend(id.map(|id| ("id".to_owned(), json!(id))));
    request.insert("method".to_owned(), json!(method));
    request.extend(params.map(|params| ("params".to_owned(), params)));
    Value::Object(request)
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS_VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": client(),
    })
}

fn client() -> Value {
    json!({ "name": "<your-agent-name>", "version": "0.1.0" })
}

fn mcp_url(source: &CardSource<'_>) -> String {
    format!("{}/mcp", source.base_url)
}
