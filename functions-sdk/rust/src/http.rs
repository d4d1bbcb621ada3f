//! HTTP to hosts that were granted.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::pleat::function::http::{self, HttpError};
use crate::bindings::wasi::io::poll::Pollable;
use crate::{Context, Error, Pending};

/// A request under construction.
#[derive(Debug, Clone)]
pub struct Request(http::Request);

impl Request {
    pub fn new(method: &str, url: &str) -> Self {
        Self(http::Request {
            method: method.to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: None,
            timeout_ms: None,
            follow_redirects: true,
        })
    }

    pub fn get(url: &str) -> Self {
        Self::new("GET", url)
    }

    pub fn post(url: &str) -> Self {
        Self::new("POST", url)
    }

    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.0.headers.push(http::Header { name: name.to_owned(), value: value.as_ref().to_vec() });
        self
    }

    pub fn bearer(self, token: &str) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.0.body = Some(body.into());
        self
    }

    pub fn json(self, body: &(impl Serialize + ?Sized)) -> Result<Self, Error> {
        Ok(self.header("content-type", "application/json").body(serde_json::to_vec(body)?))
    }

    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.0.timeout_ms = Some(u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX));
        self
    }

    /// They are followed unless told otherwise.
    pub fn follow_redirects(mut self, follow: bool) -> Self {
        self.0.follow_redirects = follow;
        self
    }
}

#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    /// After redirects.
    pub url: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_slice())
    }

    pub fn text(&self) -> Result<&str, Error> {
        Ok(std::str::from_utf8(&self.body)?)
    }

    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        Ok(serde_json::from_slice(&self.body)?)
    }
}

/// A request that was sent.
pub struct PendingResponse(http::PendingResponse);

impl Context {
    /// Sends a request and waits for the response, whatever its status. Needs `hosts` in the manifest, and the grant.
    pub fn fetch(&self, request: &Request) -> Result<Response, Error> {
        self.start_fetch(request)?.wait()
    }

    /// Sends a request; several can be under way at once.
    pub fn start_fetch(&self, request: &Request) -> Result<PendingResponse, Error> {
        Ok(PendingResponse(http::send(&request.0).map_err(refusal)?))
    }
}

impl Pending for PendingResponse {
    type Output = Result<Response, Error>;

    fn pollable(&self) -> Pollable {
        self.0.subscribe()
    }

    fn take(&self) -> Option<Self::Output> {
        let result = self.0.take()?;
        Some(result.map_err(refusal).map(|response| Response {
            status: response.status,
            url: response.url,
            headers: response.headers.into_iter().map(|header| (header.name, header.value)).collect(),
            body: response.body,
        }))
    }
}

fn refusal(error: HttpError) -> Error {
    match error {
        HttpError::NotGranted(host) => {
            Error::new("not_granted", format!("HTTP to `{host}` was not granted; deploy with --grant host:{host}"))
        }
        HttpError::InvalidRequest(what) => Error::new("invalid_request", what),
        HttpError::DeniedAddress => Error::new("denied_address", "the host's address may not be reached from here"),
        HttpError::Timeout => Error::new("timeout", "the host did not answer in time").retryable(),
        HttpError::TooLarge => Error::new("too_large", "the response is too large"),
        HttpError::Failed(what) => Error::new("http_failed", what).retryable(),
    }
}
