//! One request with all that is known of its client, and the ways to answer it.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use pleat_domain::{Scope, Task, Tenant};
use pleat_engine::{Engine, SessionRecord, Skill};
use pleat_mcp::{ClientCapabilities, Level, Meta, Request, RpcError, Version, message, params, result};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::peer::Peer;
use crate::warnings::{WARNINGS, rules, warned};

/// How long a client may keep what it listed: a deploy is told to those who listen, and soon seen by the others.
const LISTS_MS: u64 = 5_000;

#[derive(Clone)]
pub(super) enum Era {
    Session(Arc<SessionRecord>),
    Stateless,
}

#[derive(Clone)]
pub(super) struct Exchange {
    pub(super) peer: Peer,
    pub(super) era: Era,
    pub(super) version: Version,
    pub(super) capabilities: ClientCapabilities,
    /// What is to be logged to the client.
    pub(super) level: Option<Level>,
    pub(super) progress_token: Option<pleat_domain::Raw>,
    pub(super) request: Request,
    /// The client takes a stream for an answer.
    pub(super) streams: bool,
    pub(super) headers: Arc<HeaderMap>,
    /// The function that is called, once it is known.
    pub(super) listed: Option<Arc<Skill>>,
}

/// A good answer.
pub(super) enum Reply {
    Json(String),
    /// About a task whose caller is warned.
    Warned(String, HeaderValue),
    Stream(Response),
}

impl Reply {
    pub(super) fn into_response(self) -> Response {
        match self {
            Self::Json(body) => ([(CONTENT_TYPE, "application/json")], body).into_response(),
            Self::Warned(body, rules) => {
                let json = HeaderValue::from_static("application/json");
                ([(CONTENT_TYPE, json), (WARNINGS, rules)], body).into_response()
            }
            Self::Stream(response) => response,
        }
    }

    /// With what guardrails warn of, in a header.
    pub(super) fn about(self, task: &Task) -> Self {
        match (self, rules(task)) {
            (Self::Json(body), Some(rules)) => Self::Warned(body, rules),
            (Self::Stream(response), Some(_)) => Self::Stream(warned(response, task)),
            (other, _) => other,
        }
    }
}

impl Exchange {
    pub(super) fn new(peer: Peer, era: Era, headers: &Arc<HeaderMap>, request: Request, meta: Meta) -> Self {
        let (version, declared, level) = match &era {
            Era::Session(session) => {
                let version = Version::parse(&session.version).unwrap_or(Version::NEWEST_WITH_SESSIONS);
                let level = session.log_level.and_then(Level::from_code);
                (version, of_session(session), level)
            }
            Era::Stateless => (Version::V2026_07_28, meta.capabilities.unwrap_or_default(), meta.level),
        };
        Self {
            peer,
            era,
            version,
            capabilities: declared,
            level,
            progress_token: meta.progress_token,
            request,
            streams: accepts(headers, "text/event-stream"),
            headers: Arc::clone(headers),
            listed: None,
        }
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.peer.app.engine
    }

    pub(super) fn tenant(&self) -> &Arc<Tenant> {
        &self.peer.tenant
    }

    pub(super) fn is_stateless(&self) -> bool {
        matches!(self.era, Era::Stateless)
    }

    pub(super) fn session(&self) -> Option<&Arc<SessionRecord>> {
        match &self.era {
            Era::Session(session) => Some(session),
            Era::Stateless => None,
        }
    }

    pub(super) fn params<T: DeserializeOwned>(&self) -> Result<T, RpcError> {
        params::read(self.request.params.as_deref())
    }

    /// What the server calls itself, in the versions whose results say so.
    pub(super) fn server(&self) -> Value {
        if self.is_stateless() { self.peer.server() } else { Value::Null }
    }

    pub(super) fn result(&self, result: Map<String, Value>) -> Reply {
        self.answer(&result::complete(result, self.version, &self.server()))
    }

    pub(super) fn cacheable(&self, result: Map<String, Value>) -> Reply {
        self.answer(&result::cacheable(result, LISTS_MS, self.version, &self.server()))
    }

    pub(super) fn answer<T: serde::Serialize>(&self, result: &T) -> Reply {
        Reply::Json(message::response(&self.request.id, result))
    }

    /// Whether this caller may be told what that function logs: the tenant's own may, and whoever the function lets.
    pub(super) fn may_hear(&self, skill: &Skill) -> bool {
        self.level.is_some() && (self.peer.principal.has(Scope::Read) || skill.manifest.shows_logs())
    }
}

/// What the client of a session can do. Tasks as results came after sessions: no version that has these knows them.
pub(super) fn of_session(session: &SessionRecord) -> ClientCapabilities {
    let declared = serde_json::from_str(session.capabilities.get()).unwrap_or_default();
    ClientCapabilities { tasks: false, ..ClientCapabilities::read(&declared) }
}

/// Whether a kind of answer is taken. Nothing said is everything taken.
pub(super) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let mut named = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    if named.peek().is_none() {
        return true;
    }
    let (family, _) = kind.split_once('/').unwrap_or((kind, ""));
    named.flat_map(|value| value.split(',')).any(|part| {
        let essence = part.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        essence == kind || essence == "*/*" || essence == format!("{family}/*")
    })
}
