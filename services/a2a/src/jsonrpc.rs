//! The JSON-RPC 2.0 envelope, for every family of methods.
//!
//! It looks at the envelope only: `params` and results pass through as the text they are, and the id is echoed byte
//! for byte. A request without an id is answered under `null`, as the reference servers do.

use std::borrow::Cow;

use pleat_domain::json::{self, Raw};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{BadRequest, Fault, INTERNAL_ERROR};

/// Every event of a stream repeats the id, so that a long one would be multiplied.
pub const ID_MOST_BYTES: usize = 1024;

#[derive(Debug)]
pub struct Request {
    pub id: Raw,
    pub method: String,
    /// Absent also when the request says `null`.
    pub params: Option<Raw>,
}

impl Request {
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let nobody = |cause| Fault { id: RawValue::NULL.to_owned(), cause };
        json::check(bytes).map_err(|fault| nobody(fault.into()))?;
        match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{') => {}
            Some(b'[') => return Err(nobody(BadRequest::Batch)),
            _ => return Err(nobody(BadRequest::NotAnObject)),
        }
        let envelope: Envelope<'_> =
            serde_json::from_slice(bytes).map_err(|error| nobody(json::JsonFault::Syntax(error.to_string()).into()))?;
        let id = envelope.id().ok_or_else(|| nobody(BadRequest::Id))?.to_owned();
        match envelope.read() {
            Ok((method, params)) => Ok(Self { id, method, params }),
            Err(cause) => Err(Fault { id, cause }),
        }
    }
}

/// A successful response. Results of ours always serialise; were one not to, the caller is told so.
pub fn response<T: Serialize + ?Sized>(id: &RawValue, result: &T) -> Vec<u8> {
    let body = Response { jsonrpc: "2.0", id, result };
    serde_json::to_vec(&body).unwrap_or_else(|_| error(id, INTERNAL_ERROR, "the result cannot be written", None))
}

pub fn error(id: &RawValue, code: i32, message: &str, data: Option<Value>) -> Vec<u8> {
    let body = ErrorResponse { jsonrpc: "2.0", id, error: ErrorBody { code, message, data } };
    // Strings, a number and a JSON value: this cannot fail.
    serde_json::to_vec(&body).unwrap_or_default()
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    fn id(&self) -> Option<&'a RawValue> {
        let Some(id) = self.id else { return Some(RawValue::NULL) };
        let fits =
            id.get().len() <= ID_MOST_BYTES && id.get().starts_with(|first| matches!(first, '"' | '-' | '0'..='9'));
        fits.then_some(id)
    }

    fn read(&self) -> Result<(String, Option<Raw>), BadRequest> {
        if self.jsonrpc.and_then(string).as_deref() != Some("2.0") {
            return Err(BadRequest::Version);
        }
        let method = self.method.and_then(string).ok_or(BadRequest::Method)?.into_owned();
        if self.params.is_some_and(|params| !params.get().starts_with(['{', '['])) {
            return Err(BadRequest::Params);
        }
        Ok((method, self.params.map(ToOwned::to_owned)))
    }
}

fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str(raw.get()).ok()
}

#[derive(Serialize)]
struct Response<'a, T: ?Sized> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: &'a T,
}

#[derive(Serialize)]
struct ErrorResponse<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    error: ErrorBody<'a>,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    code: i32,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

#[cfg(test)]
mod tests;
