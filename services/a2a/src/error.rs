//! Error codes of the wire, and the two ways in which a request can be unreadable.
//!
//! What went wrong inside the platform is not said here: the door maps it to one of these codes.

use pleat_domain::json::{JsonFault, Raw};
use serde_json::{Value, json};

use crate::jsonrpc;

pub const PARSE_ERROR: i32 = -32700;
pub const INVALID_REQUEST: i32 = -32600;
pub const METHOD_NOT_FOUND: i32 = -32601;
pub const INVALID_PARAMS: i32 = -32602;
pub const INTERNAL_ERROR: i32 = -32603;

pub const TASK_NOT_FOUND: i32 = -32001;
pub const TASK_NOT_CANCELABLE: i32 = -32002;
pub const PUSH_NOTIFICATION_NOT_SUPPORTED: i32 = -32003;
pub const UNSUPPORTED_OPERATION: i32 = -32004;
pub const CONTENT_TYPE_NOT_SUPPORTED: i32 = -32005;
pub const INVALID_AGENT_RESPONSE: i32 = -32006;
pub const EXTENDED_CARD_NOT_CONFIGURED: i32 = -32007;
pub const EXTENSION_SUPPORT_REQUIRED: i32 = -32008;
pub const VERSION_NOT_SUPPORTED: i32 = -32009;

/// A guardrail stopped the call.
pub const GUARDRAIL_BLOCKED: i32 = -32050;
/// A quota is used up, or the platform is overloaded: the answer says when to retry.
pub const LIMIT_EXCEEDED: i32 = -32051;
pub const UNAUTHENTICATED: i32 = -32052;
pub const FORBIDDEN: i32 = -32053;

/// Why bytes are no JSON-RPC request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    #[error(transparent)]
    Json(#[from] JsonFault),
    #[error("batch requests are not supported; send one request at a time")]
    Batch,
    #[error("a request must be a JSON object with `jsonrpc`, `id`, `method` and `params`")]
    NotAnObject,
    #[error("`jsonrpc` must be \"2.0\"")]
    Version,
    #[error("`id` must be a string, a number or null, of at most {most} bytes", most = jsonrpc::ID_MOST_BYTES)]
    Id,
    #[error("`method` must be a string")]
    Method,
    #[error("`params` must be an object or an array")]
    Params,
}

impl BadRequest {
    /// JSON that breaks our rules (equal keys, too deep) is refused by the parser, like text that is no JSON. Parameters
    /// of the wrong type are parameters that do not fit: so the conformance suites want it.
    pub const fn code(&self) -> i32 {
        match self {
            Self::Json(_) => PARSE_ERROR,
            Self::Params => INVALID_PARAMS,
            _ => INVALID_REQUEST,
        }
    }
}

/// An unreadable request with the id to answer it under: its own where that could be read, else `null`.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct Fault {
    pub id: Raw,
    #[source]
    pub cause: BadRequest,
}

impl Fault {
    pub const fn code(&self) -> i32 {
        self.cause.code()
    }

    /// The response.
    pub fn body(&self) -> Vec<u8> {
        jsonrpc::error(&self.id, self.code(), &self.cause.to_string(), None)
    }
}

/// Parameters that do not fit their method. `pointer` is a JSON pointer into `params`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InvalidParams {
    pub message: String,
    pub pointer: String,
}

impl InvalidParams {
    pub fn new(message: impl Into<String>, pointer: impl Into<String>) -> Self {
        Self { message: message.into(), pointer: pointer.into() }
    }

    /// What goes into `error.data`.
    pub fn data(&self) -> Value {
        json!({ "pointer": self.pointer })
    }
}
