//! A failure that the function reports itself.

use std::fmt::Display;

use serde_json::Value;

use crate::bindings::pleat::function::types;

/// `code` is for machines, `message` for people. Any standard error turns into one with `?` (code `error`), which is
/// why this type is none itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    code: String,
    message: String,
    retryable: bool,
    details: Option<Value>,
}

impl Error {
    pub fn new(code: impl Into<String>, message: impl Display) -> Self {
        Self { code: code.into(), message: message.to_string(), retryable: false, details: None }
    }

    /// The same call may succeed later.
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// What another skill reported.
    pub(crate) fn reported(error: types::Error) -> Self {
        Self {
            code: error.code,
            message: error.message,
            retryable: error.retryable,
            details: error.details.and_then(|details| serde_json::from_str(&details).ok()),
        }
    }

    /// For machines.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// For people.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}

impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        Self::new("error", error)
    }
}

impl From<Error> for types::Error {
    fn from(error: Error) -> Self {
        Self {
            code: error.code,
            message: error.message,
            retryable: error.retryable,
            details: error.details.map(|details| details.to_string()),
        }
    }
}
