//! Push notifications: where a caller wants to be told of its task, and in which words.
//!
//! The engine keeps and delivers them; a door only translates. What a door calls, with a task id as its wire has it
//! (ours or an alias):
//!
//! ```text
//! Engine::set_push(&self, &Tenant, &Principal, task: &str, NewPush) -> Result<PushConfig, EngineError>
//! Engine::push(&self, &Tenant, &Principal, task: &str, id: Option<&str>) -> Result<PushConfig, EngineError>
//! Engine::pushes(&self, &Tenant, &Principal, task: &str) -> Result<Vec<PushConfig>, EngineError>
//! Engine::delete_push(&self, &Tenant, &Principal, task: &str, id: &str) -> Result<(), EngineError>
//! Invocation { push: Option<NewPush>, .. }, Turn { push: Option<NewPush>, .. }
//! ```
//!
//! `push` without an id answers the one that was set first; `pushes` are in the order in which they were set; deleting
//! what is not there is no fault. A task that the caller may not see is `EngineError::TaskNotFound`, a configuration
//! that is not there `EngineError::PushNotFound` (both -32001), a caller without a key `EngineError::Unauthenticated`,
//! and a URL, token or id that cannot be used `EngineError::Invalid` (-32602). Token and credentials come back only to
//! the caller who gave them.
//! What a receiver is sent is written by the edge, in one function with an arm for each [`Dialect`].

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::event::{Event, EventBody};
use crate::ids::TaskId;
use crate::limits;

/// The words in which a receiver is told: those in which it was registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    A2a01,
    A2a03,
    A2a10,
}

impl Dialect {
    const ALL: [Self; 3] = [Self::A2a01, Self::A2a03, Self::A2a10];

    /// How the database keeps it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::A2a01 => "a2a/0.1",
            Self::A2a03 => "a2a/0.3",
            Self::A2a10 => "a2a/1.0",
        }
    }

    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.as_str() == text)
    }

    /// Whether a receiver is told of this. Up to 0.3 it is told the task, whenever its state changes; later the event
    /// itself. How far a task has got is for streams.
    pub const fn tells(self, event: &Event) -> bool {
        match event.body {
            EventBody::Status(_) => true,
            EventBody::Artifact(_) => matches!(self, Self::A2a10),
            EventBody::Progress(_) | EventBody::Step(_) => false,
        }
    }
}

/// What the receiver wants to see in `Authorization`. Without credentials there is nothing to send.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushAuth {
    pub scheme: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub credentials: Option<String>,
}

/// Where and how a receiver is reached: what is kept sealed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receiver {
    pub url: String,
    /// Sent along as it is, for the receiver to know whom it hears.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub auth: Option<PushAuth>,
}

/// A wish to be told. Under the id of an earlier one, it takes that one's place.
#[derive(Clone, PartialEq, Eq)]
pub struct NewPush {
    /// The caller's own, or none for one of ours.
    pub id: Option<String>,
    pub url: String,
    pub token: Option<String>,
    pub auth: Option<PushAuth>,
    pub dialect: Dialect,
}

/// A wish that is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct PushConfig {
    pub id: String,
    pub task: TaskId,
    pub url: String,
    pub token: Option<String>,
    pub auth: Option<PushAuth>,
}

/// Why a configuration is refused before anybody is asked about its URL. Quotes nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadPush {
    #[error("the id of a push configuration must have 1 to {most} bytes and no control characters", most = limits::PUSH_ID)]
    Id,
    #[error("the token of a push configuration must have 1 to {most} printable ASCII characters", most = limits::PUSH_TOKEN)]
    Token,
    #[error("the scheme of a push configuration must be a word such as `Bearer`, of at most {most} letters", most = limits::PUSH_SCHEME)]
    Scheme,
    #[error(
        "the credentials of a push configuration must have 1 to {most} printable ASCII characters",
        most = limits::PUSH_CREDENTIALS
    )]
    Credentials,
}

impl NewPush {
    /// Everything that ends in a header must fit into one, and into no second.
    pub fn check(&self) -> Result<(), BadPush> {
        let is_id = |id: &String| (1..=limits::PUSH_ID).contains(&id.len()) && !id.chars().any(char::is_control);
        if self.id.as_ref().is_some_and(|id| !is_id(id)) {
            return Err(BadPush::Id);
        }
        if self.token.as_ref().is_some_and(|token| !fits(token, limits::PUSH_TOKEN)) {
            return Err(BadPush::Token);
        }
        let Some(auth) = &self.auth else { return Ok(()) };
        if !(1..=limits::PUSH_SCHEME).contains(&auth.scheme.len()) || !auth.scheme.bytes().all(is_token) {
            return Err(BadPush::Scheme);
        }
        match &auth.credentials {
            Some(credentials) if !fits(credentials, limits::PUSH_CREDENTIALS) => Err(BadPush::Credentials),
            _ => Ok(()),
        }
    }

    pub fn receiver(&self) -> Receiver {
        Receiver { url: self.url.clone(), token: self.token.clone(), auth: self.auth.clone() }
    }
}

/// Printable ASCII, with spaces inside only: the ends of a header's value are not kept.
fn fits(text: &str, most: usize) -> bool {
    let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    (1..=most).contains(&text.len()) && printable && text.trim_matches(' ').len() == text.len()
}

/// RFC 9110, 5.6.2.
const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        )
}

impl fmt::Debug for PushAuth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PushAuth").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

impl fmt::Debug for NewPush {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NewPush").field("id", &self.id).field("dialect", &self.dialect).finish_non_exhaustive()
    }
}

impl fmt::Debug for PushConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PushConfig").field("id", &self.id).field("task", &self.task).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push() -> NewPush {
        NewPush { id: None, url: "https://hooks.example.com".into(), token: None, auth: None, dialect: Dialect::A2a10 }
    }

    fn with_auth(scheme: &str, credentials: &str) -> NewPush {
        let auth = PushAuth { scheme: scheme.into(), credentials: Some(credentials.into()) };
        NewPush { auth: Some(auth), ..push() }
    }

    #[test]
    fn what_would_begin_another_header_is_refused() {
        let hostile =
            ["a\r\nX-Admin: 1", "a\nb", "a\rb", "\0", "\u{7f}", "a\tb", " a", "a ", "", "ü", "a\u{2028}b", "\u{10d}"];
        for text in hostile {
            let text = text.to_owned();
            assert_eq!(NewPush { token: Some(text.clone()), ..push() }.check(), Err(BadPush::Token), "{text:?}");
            assert_eq!(with_auth("Bearer", &text).check(), Err(BadPush::Credentials), "{text:?}");
            assert_eq!(with_auth(&text, "secret").check(), Err(BadPush::Scheme), "{text:?}");
        }
        assert_eq!(with_auth("Bearer x", "secret").check(), Err(BadPush::Scheme));
        assert_eq!(with_auth("Basic", "dXNlcjpwYXNz").check(), Ok(()));
        assert_eq!(NewPush { token: Some("one two; three=\"4\"".into()), ..push() }.check(), Ok(()));
    }

    #[test]
    fn everything_ends_at_its_limit() {
        let long = |most: usize| "x".repeat(most);
        let token = |most| NewPush { token: Some(long(most)), ..push() }.check();
        assert_eq!((token(limits::PUSH_TOKEN), token(limits::PUSH_TOKEN + 1)), (Ok(()), Err(BadPush::Token)));
        let id = |most| NewPush { id: Some(long(most)), ..push() }.check();
        assert_eq!((id(limits::PUSH_ID), id(limits::PUSH_ID + 1), id(0)), (Ok(()), Err(BadPush::Id), Err(BadPush::Id)));
        let auth = |scheme, credentials| with_auth(&long(scheme), &long(credentials)).check();
        assert_eq!(auth(limits::PUSH_SCHEME, limits::PUSH_CREDENTIALS), Ok(()));
        assert_eq!(auth(limits::PUSH_SCHEME + 1, 1), Err(BadPush::Scheme));
        assert_eq!(auth(1, limits::PUSH_CREDENTIALS + 1), Err(BadPush::Credentials));
    }

    #[test]
    fn what_is_secret_is_not_shown_to_a_debugger() {
        let shown = format!("{:?}", NewPush { token: Some("s3cret".into()), ..with_auth("Bearer", "s3cret") });
        assert!(!shown.contains("s3cret") && !shown.contains("hooks"), "{shown}");
    }

    #[test]
    fn dialects_are_kept_by_name() {
        for dialect in Dialect::ALL {
            assert_eq!(Dialect::from_stored(dialect.as_str()), Some(dialect));
        }
        assert_eq!(Dialect::from_stored("http"), None);
    }
}
