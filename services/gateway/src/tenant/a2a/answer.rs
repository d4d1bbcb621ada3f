//! How a request is answered: as a JSON-RPC response, or as the resource itself.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use pleat_a2a::jsonrpc;
use pleat_a2a::messages::{Dialect, Events, SentView, Show};
use pleat_domain::{Event, Raw, Task};
use pleat_engine::EventStream;
use serde::Serialize;

use crate::problem::{Problem, Words};
use crate::sse::{self, First};

const JSON: &str = "application/json";
const A2A_JSON: &str = "application/a2a+json";

#[derive(Clone)]
pub(super) enum Wire {
    Rpc {
        id: Raw,
        dialect: Dialect,
    },
    /// The HTTP+JSON binding of 1.0.
    Rest {
        content_type: &'static str,
    },
}

impl Wire {
    pub(super) const fn rpc(id: Raw, dialect: Dialect) -> Self {
        Self::Rpc { id, dialect }
    }

    /// The protocol's own media type goes to who asks for it, or sends it: everybody can read the common one.
    pub(super) fn rest(headers: &HeaderMap) -> Self {
        let sent = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let sends = sent.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(A2A_JSON);
        let wanted = sends || sse::quality(headers, A2A_JSON) > 0.0;
        Self::Rest { content_type: if wanted { A2A_JSON } else { JSON } }
    }

    pub(super) const fn dialect(&self) -> Dialect {
        match self {
            Self::Rpc { dialect, .. } => *dialect,
            Self::Rest { .. } => Dialect::V1,
        }
    }

    pub(super) fn result<T: Serialize + ?Sized>(&self, result: &T) -> Response {
        match self {
            Self::Rpc { id, .. } => super::json(jsonrpc::response(id, result)),
            Self::Rest { content_type } => {
                let body = Bytes::from(serde_json::to_vec(result).unwrap_or_default());
                ([(CONTENT_TYPE, *content_type)], body).into_response()
            }
        }
    }

    /// A stream of a task's events; `first` is the task as it was before them.
    pub(super) fn stream(self, task: &Task, first: Option<(&Task, Show)>, events: EventStream) -> Response {
        let first = first.and_then(|(task, show)| {
            let text = self.text(&SentView::new(self.dialect(), task, show))?;
            Some(First { seq: task.last_seq, text })
        });
        let (codec, failing) = (Events::new(self.dialect(), task), self.clone());
        let write = move |event: &Event| self.text(&codec.event(event)?);
        sse::response(first, events, write, move |problem| failing.problem_text(problem))
    }

    /// What refuses a stream, to who takes nothing else: the clients of 0.3 read errors out of streams only, and call
    /// any other answer to such a request unreadable. What proxies act upon keeps its status.
    pub(super) fn refused(self, headers: &HeaderMap, problem: Problem) -> Result<Response, Problem> {
        match sse::wants_stream(headers) && self.dialect() == Dialect::V03 && problem.rpc_status() == StatusCode::OK {
            true => Ok(sse::one(self.problem_text(problem))),
            false => Err(problem),
        }
    }

    fn text<T: Serialize>(&self, result: &T) -> Option<String> {
        match self {
            Self::Rpc { id, .. } => String::from_utf8(jsonrpc::response(id, result)).ok(),
            Self::Rest { .. } => serde_json::to_string(result).ok(),
        }
    }

    fn problem_text(&self, problem: Problem) -> String {
        match self {
            Self::Rpc { id, dialect: Dialect::V03 } => problem.into_rpc_text(id, Words::Plain),
            Self::Rpc { id, dialect: Dialect::V1 } => problem.into_rpc_text(id, Words::Details),
            Self::Rest { .. } => problem.into_status_text(),
        }
    }
}
