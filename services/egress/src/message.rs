//! Requests and responses as functions see them. No `Debug`: they carry credentials.

use std::time::Duration;

use bytes::Bytes;

#[derive(Clone, Default)]
pub struct OutboundRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Option<Bytes>,
    /// Less than the operator's limit, if any.
    pub timeout: Option<Duration>,
    pub follow_redirects: bool,
    /// Only the head of the answer counts: a body is neither waited for nor handed back.
    pub head_only: bool,
}

impl OutboundRequest {
    pub fn get(url: impl Into<String>) -> Self {
        Self { method: "GET".to_owned(), url: url.into(), follow_redirects: true, ..Self::default() }
    }
}

#[derive(Clone)]
pub struct OutboundResponse {
    pub status: u16,
    /// After redirects.
    pub url: String,
    pub headers: Vec<(String, Vec<u8>)>,
    /// Decompressed.
    pub body: Bytes,
}
