//! JSON-RPC messages as this protocol has them: requests, notifications, and answers of a client.

use pleat_domain::json::{self, Raw};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{Fault, RpcError};

/// Messages in one body, where a version has that.
const MOST_IN_BATCH: usize = 50;
const MOST_ID_BYTES: usize = 1024;

#[derive(Debug)]
pub enum Incoming {
    One(Message),
    Several(Vec<Message>),
}

#[derive(Debug)]
pub enum Message {
    Request(Request),
    Notification {
        method: String,
        params: Option<Raw>,
    },
    /// To a request of ours: its result, or its error.
    Response {
        id: Raw,
        body: Result<Raw, Raw>,
    },
}

#[derive(Debug, Clone)]
pub struct Request {
    /// As it came: 1 and "1" are two ids.
    pub id: Raw,
    pub method: String,
    pub params: Option<Raw>,
}

impl Incoming {
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        json::check(bytes)?;
        if !bytes.trim_ascii_start().starts_with(b"[") {
            return Ok(Self::One(Message::parse(bytes)?));
        }
        let all: Vec<&RawValue> = serde_json::from_slice(bytes).map_err(|_| Fault::NotAMessage)?;
        if all.is_empty() || all.len() > MOST_IN_BATCH {
            return Err(Fault::Batch(MOST_IN_BATCH));
        }
        let messages: Result<Vec<_>, _> = all.into_iter().map(|one| Message::parse(one.get().as_bytes())).collect();
        Ok(Self::Several(messages?))
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    method: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// A field that is there, even where it says `null`.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl Message {
    /// The text has been checked.
    fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        if !bytes.trim_ascii_start().starts_with(b"{") {
            return Err(Fault::NotAMessage);
        }
        let envelope: Envelope<'_> = serde_json::from_slice(bytes).map_err(|_| Fault::NotAMessage)?;
        if envelope.jsonrpc != Some("2.0") {
            return Err(Fault::Version);
        }
        let id = envelope.id.map(id).transpose()?;
        let params = match envelope.params {
            Some(raw) if raw.get().starts_with('{') => Some(raw.to_owned()),
            Some(raw) if raw.get() != "null" => return Err(Fault::Params),
            _ => None,
        };
        match (envelope.method, id, envelope.result, envelope.error) {
            (Some(method), Some(id), None, None) => {
                Ok(Self::Request(Request { id, method: method.into_owned(), params }))
            }
            (Some(method), None, None, None) => Ok(Self::Notification { method: method.into_owned(), params }),
            (None, Some(id), Some(result), None) => Ok(Self::Response { id, body: Ok(result.to_owned()) }),
            (None, Some(id), None, Some(error)) => Ok(Self::Response { id, body: Err(error.to_owned()) }),
            _ => Err(Fault::NotAMessage),
        }
    }
}

fn id(raw: &RawValue) -> Result<Raw, Fault> {
    let scalar = matches!(raw.get().as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'));
    if scalar && raw.get().len() <= MOST_ID_BYTES { Ok(raw.to_owned()) } else { Err(Fault::Id) }
}

#[derive(Serialize)]
struct Response<'a, T> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: &'a T,
}

pub fn response<T: Serialize>(id: &RawValue, result: &T) -> String {
    serde_json::to_string(&Response { jsonrpc: "2.0", id, result }).unwrap_or_default()
}

#[derive(Serialize)]
struct Failure<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    error: Body<'a>,
}

#[derive(Serialize)]
struct Body<'a> {
    code: i32,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a serde_json::Value>,
}

pub fn failure(id: &RawValue, error: &RpcError) -> String {
    let body = Body { code: error.code, message: &error.message, data: error.data.as_ref() };
    serde_json::to_string(&Failure { jsonrpc: "2.0", id, error: body }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Message {
        match Incoming::parse(text.as_bytes()) {
            Ok(Incoming::One(message)) => message,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn the_kinds_of_message_are_told_apart() {
        assert!(matches!(one(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), Message::Request(_)));
        assert!(matches!(one(r#"{"jsonrpc":"2.0","method":"x","params":{}}"#), Message::Notification { .. }));
        assert!(matches!(one(r#"{"jsonrpc":"2.0","id":"a","result":{}}"#), Message::Response { body: Ok(_), .. }));
        assert!(matches!(one(r#"{"jsonrpc":"2.0","id":2,"error":{}}"#), Message::Response { body: Err(_), .. }));
    }

    #[test]
    fn what_is_no_message_is_named() {
        let fault = |text: &str| Incoming::parse(text.as_bytes()).unwrap_err();
        assert_eq!(fault("{").code(), -32700);
        assert_eq!(fault(r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#), Fault::Id);
        assert_eq!(fault(r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#), Fault::Id);
        assert_eq!(fault(r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#), Fault::Version);
        assert_eq!(fault(r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[]}"#), Fault::Params);
        assert_eq!(fault(r#"{"jsonrpc":"2.0","id":1}"#), Fault::NotAMessage);
        assert_eq!(fault(r#"{"jsonrpc":"2.0","id":1,"method":"a","result":1}"#), Fault::NotAMessage);
        assert_eq!(fault("3"), Fault::NotAMessage);
        assert_eq!(fault("[]"), Fault::Batch(50));
        let many = format!("[{}3]", "3,".repeat(50));
        assert_eq!(fault(&many), Fault::Batch(50));
    }

    #[test]
    fn several_messages_come_in_their_order() {
        let text = r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"}]"#;
        let Ok(Incoming::Several(all)) = Incoming::parse(text.as_bytes()) else { panic!() };
        assert_eq!(all.len(), 2);
    }
}
