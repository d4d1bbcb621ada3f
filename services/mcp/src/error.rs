//! Error codes of the protocol, and errors on their way out.

use pleat_domain::json::JsonFault;
use serde_json::{Value, json};

use crate::version::Version;

pub const PARSE_ERROR: i32 = -32700;
pub const INVALID_REQUEST: i32 = -32600;
pub const METHOD_NOT_FOUND: i32 = -32601;
pub const INVALID_PARAMS: i32 = -32602;
pub const INTERNAL_ERROR: i32 = -32603;
/// A session that is over, or never was.
pub const SESSION_NOT_FOUND: i32 = -32001;
/// Up to 2025-11-25; later ones say that the parameters are invalid.
pub const RESOURCE_NOT_FOUND: i32 = -32002;
pub const HEADER_MISMATCH: i32 = -32020;
pub const MISSING_CAPABILITY: i32 = -32021;
pub const UNSUPPORTED_VERSION: i32 = -32022;

/// What a client is told in place of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    pub code: i32,
    pub message: String,
    pub data: Option<Value>,
}

impl RpcError {
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub fn with(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    /// What was sent in a header is not what the body says.
    pub fn header_mismatch(message: &str) -> Self {
        Self::new(HEADER_MISMATCH, format!("Header mismatch: {message}"))
    }

    pub fn unsupported_version(requested: &str) -> Self {
        let supported: Vec<&str> = Version::ALL.iter().map(|version| version.as_str()).collect();
        let requested: String = requested.chars().take(80).collect();
        Self::new(UNSUPPORTED_VERSION, "Unsupported protocol version")
            .with(json!({ "supported": supported, "requested": requested }))
    }

    /// The client did not say that it can do what this needs. `required` has the shape of its capabilities.
    pub fn missing_capability(required: &Value) -> Self {
        Self::new(MISSING_CAPABILITY, "this needs a capability that the client has not declared")
            .with(json!({ "requiredCapabilities": required }))
    }
}

/// Why bytes are no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error(transparent)]
    Json(#[from] JsonFault),
    #[error("a message must be a JSON object with `jsonrpc`, `method` and `params`, and an `id` where it is a request")]
    NotAMessage,
    #[error("`jsonrpc` must be \"2.0\"")]
    Version,
    #[error("`id` must be a string or a number, of at most 1024 bytes")]
    Id,
    #[error("`params` must be an object")]
    Params,
    #[error("a batch must hold 1 to {0} messages")]
    Batch(usize),
}

impl Fault {
    pub const fn code(&self) -> i32 {
        match self {
            Self::Json(_) => PARSE_ERROR,
            _ => INVALID_REQUEST,
        }
    }
}
