//! The one map from what went wrong to what a client is told: HTTP status, JSON-RPC code, public text, log level.

mod admission;
mod mcp;

use axum::Json;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use pleat_a2a::method::UnknownVersion;
use pleat_a2a::{InvalidParams, error as rpc, jsonrpc, messages};
use pleat_domain::{Failure, Reason, Scope, Task};
use pleat_engine::{EngineError, Faults, Reached, Violation};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// What a probe gets from a node that should get no work.
pub(crate) const NOT_READY: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

/// An answer that is not the one hoped for.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    rpc: i32,
    code: &'static str,
    message: String,
    hint: Option<String>,
    data: Option<Box<Value>>,
    retry_after: Option<u32>,
    /// How somebody without a key, or with one that is not enough, gets further.
    challenge: Option<Box<HeaderValue>>,
    /// What a key would have to have.
    scope: Option<Scope>,
    /// The status is part of the protocol, also in an answer to a JSON-RPC request.
    exact: bool,
}

impl Problem {
    pub(crate) fn plain(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let rpc = if status.is_server_error() { rpc::INTERNAL_ERROR } else { rpc::INVALID_REQUEST };
        let message = message.into();
        let (hint, data, retry_after, challenge, scope) = (None, None, None, None, None);
        Self { status, rpc, code, message, hint, data, retry_after, challenge, scope, exact: false }
    }

    fn with_rpc(mut self, rpc: i32) -> Self {
        self.rpc = rpc;
        self
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A fault of the input in words that quote nothing of it.
    pub(crate) fn without_quotes(self, message: &str) -> Self {
        if self.code == "invalid" { Self::invalid(message) } else { self }
    }

    fn retry(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    pub(crate) fn not_found() -> Self {
        Self::plain(StatusCode::NOT_FOUND, "not_found", "there is nothing at this address")
    }

    pub(crate) fn unknown_host() -> Self {
        Self::plain(StatusCode::MISDIRECTED_REQUEST, "unknown_host", "this host name is not served here")
            .with_hint("use the base domain, a tenant's subdomain of it, or add the name with `--host`")
    }

    pub(crate) fn bad_host() -> Self {
        Self::plain(StatusCode::BAD_REQUEST, "bad_host", "a request needs exactly one host")
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::plain(StatusCode::BAD_REQUEST, "invalid", message).with_rpc(rpc::INVALID_PARAMS)
    }

    pub(crate) fn method_not_found(method: &str) -> Self {
        let shown: String = method.chars().take(80).collect();
        Self::plain(StatusCode::NOT_FOUND, "method_not_found", format!("method `{shown}` not found"))
            .with_rpc(rpc::METHOD_NOT_FOUND)
    }

    /// The task is over: there is nothing to follow.
    pub(crate) fn nothing_to_follow(state: &str) -> Self {
        let text = format!("the task is {state}; to see its events again, send `Last-Event-ID`");
        Self::plain(StatusCode::CONFLICT, "final", text).with_rpc(rpc::UNSUPPORTED_OPERATION)
    }

    pub(crate) fn other_tenant() -> Self {
        let text = "there is no such tenant at this address; leave `tenant` out, or send what the card says";
        Self::plain(StatusCode::NOT_FOUND, "not_found", text).with_rpc(rpc::TASK_NOT_FOUND)
    }

    pub(crate) fn wrong_method() -> Self {
        let text = "this path does not take that method";
        Self::plain(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", text)
    }

    pub(crate) fn unknown_media_type(kind: &str) -> Self {
        let shown: String = kind.chars().take(80).collect();
        let text = format!(
            "incompatible content types: `{shown}` of a part is not supported; leave it out if it does not matter"
        );
        Self::plain(StatusCode::BAD_REQUEST, "unsupported_media_type", text).with_rpc(rpc::CONTENT_TYPE_NOT_SUPPORTED)
    }

    /// For a protocol that has an error of its own for it.
    pub(crate) fn into_content_type(self) -> Self {
        match self.status {
            StatusCode::UNSUPPORTED_MEDIA_TYPE => self.with_rpc(rpc::CONTENT_TYPE_NOT_SUPPORTED),
            _ => self,
        }
    }

    /// With which an answer to a JSON-RPC request travels: 200, but for what proxies and clients act upon.
    pub(crate) fn rpc_status(&self) -> StatusCode {
        let carried = matches!(self.rpc, rpc::LIMIT_EXCEEDED | rpc::UNAUTHENTICATED | rpc::FORBIDDEN)
            || matches!(self.status, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNSUPPORTED_MEDIA_TYPE);
        if carried { self.status } else { StatusCode::OK }
    }

    /// As the answer to a JSON-RPC request.
    pub(crate) fn into_rpc(self, id: &RawValue, words: Words) -> Response {
        let status = self.rpc_status();
        let body = jsonrpc::error(id, self.rpc, &self.message, self.data_in(words));
        let mut response = (status, [(CONTENT_TYPE, "application/json")], Bytes::from(body)).into_response();
        self.mark(&mut response);
        response
    }

    /// The body alone, for a stream that has begun.
    pub(crate) fn into_rpc_text(self, id: &RawValue, words: Words) -> String {
        String::from_utf8(jsonrpc::error(id, self.rpc, &self.message, self.data_in(words))).unwrap_or_default()
    }

    fn data_in(&self, words: Words) -> Option<Value> {
        match words {
            Words::Plain => self.data.as_deref().cloned(),
            Words::Details => Some(self.details()),
        }
    }

    fn details(&self) -> Value {
        messages::details(self.rpc, self.code, &self.message, self.data.as_deref())
    }

    /// As the answer of the HTTP+JSON binding: a `google.rpc.Status`.
    pub(crate) fn into_status(self) -> Response {
        let (status, _) = self.rest();
        let mut response = (status, Json(self.status_body())).into_response();
        self.mark(&mut response);
        response
    }

    /// The body alone, for a stream that has begun.
    pub(crate) fn into_status_text(self) -> String {
        self.status_body().to_string()
    }

    fn status_body(&self) -> Value {
        let (status, word) = self.rest();
        json!({ "error": {
            "code": status.as_u16(), "status": word, "message": self.message, "details": self.details(),
        } })
    }

    /// The specification's table, and for what it does not have, the status and the word that fit best.
    fn rest(&self) -> (StatusCode, &'static str) {
        match self.rpc {
            rpc::TASK_NOT_FOUND => (StatusCode::NOT_FOUND, "NOT_FOUND"),
            rpc::TASK_NOT_CANCELABLE
            | rpc::PUSH_NOTIFICATION_NOT_SUPPORTED
            | rpc::UNSUPPORTED_OPERATION
            | rpc::EXTENDED_CARD_NOT_CONFIGURED
            | rpc::EXTENSION_SUPPORT_REQUIRED
            | rpc::VERSION_NOT_SUPPORTED => (StatusCode::BAD_REQUEST, "FAILED_PRECONDITION"),
            rpc::CONTENT_TYPE_NOT_SUPPORTED | rpc::PARSE_ERROR | rpc::INVALID_PARAMS => {
                (StatusCode::BAD_REQUEST, "INVALID_ARGUMENT")
            }
            rpc::INVALID_AGENT_RESPONSE | rpc::INTERNAL_ERROR => (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL"),
            _ => (self.status, word_of(self.status)),
        }
    }

    pub(crate) fn into_text(self) -> String {
        json!({ "error": { "code": self.code, "message": self.message } }).to_string()
    }

    fn mark(&self, response: &mut Response) {
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(challenge) = &self.challenge {
            response.headers_mut().insert(WWW_AUTHENTICATE, (**challenge).clone());
        } else if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
    }
}

fn word_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "UNAUTHENTICATED",
        StatusCode::FORBIDDEN => "PERMISSION_DENIED",
        StatusCode::NOT_FOUND => "NOT_FOUND",
        StatusCode::METHOD_NOT_ALLOWED => "UNIMPLEMENTED",
        StatusCode::TOO_MANY_REQUESTS => "RESOURCE_EXHAUSTED",
        StatusCode::SERVICE_UNAVAILABLE => "UNAVAILABLE",
        StatusCode::REQUEST_TIMEOUT => "DEADLINE_EXCEEDED",
        status if status.is_server_error() => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}

/// In which form an error says more than its code and its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Words {
    /// An object.
    Plain,
    /// 1.0: an array of `google.rpc` details.
    Details,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Some(hint), Some(error)) = (&self.hint, error.as_object_mut()) {
            error.insert("hint".to_owned(), Value::from(hint.as_str()));
        }
        if let (Some(data), Some(error)) = (&self.data, error.as_object_mut()) {
            error.insert("details".to_owned(), (**data).clone());
        }
        let mut response = (self.status, Json(json!({ "error": error }))).into_response();
        self.mark(&mut response);
        if self.scope.is_some() {
            response.extensions_mut().insert(LacksScope);
        }
        response
    }
}

/// Marks an answer to somebody whose key lacks the scope, for the audit log.
#[derive(Clone, Copy)]
pub(crate) struct LacksScope;

impl From<UnknownVersion> for Problem {
    fn from(unknown: UnknownVersion) -> Self {
        let problem = Self::plain(StatusCode::BAD_REQUEST, "version_not_supported", unknown.to_string());
        let data = json!({ "requested": unknown.requested, "supported": unknown.supported });
        Self { data: Some(Box::new(data)), ..problem.with_rpc(rpc::VERSION_NOT_SUPPORTED) }
    }
}

impl From<InvalidParams> for Problem {
    fn from(fault: InvalidParams) -> Self {
        Self { data: Some(Box::new(fault.data())), ..Self::invalid(fault.message) }
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        log(&error);
        let text = error.to_string();
        match error {
            EngineError::Unauthenticated => {
                Self::plain(StatusCode::UNAUTHORIZED, "unauthenticated", text).with_rpc(rpc::UNAUTHENTICATED)
            }
            EngineError::Forbidden(scope) => Self::forbidden(text, scope),
            EngineError::UnknownTenant => Self::plain(StatusCode::NOT_FOUND, "unknown_tenant", text),
            EngineError::UnknownSkill(_) => {
                Self::plain(StatusCode::NOT_FOUND, "unknown_skill", text).with_rpc(rpc::INVALID_PARAMS)
            }
            EngineError::TaskNotFound => {
                Self::plain(StatusCode::NOT_FOUND, "task_not_found", text).with_rpc(rpc::TASK_NOT_FOUND)
            }
            EngineError::PushNotFound => {
                Self::plain(StatusCode::NOT_FOUND, "push_not_found", text).with_rpc(rpc::TASK_NOT_FOUND)
            }
            EngineError::SessionNotFound => Self::session_not_found(text),
            EngineError::NotOffered(failure) => Self::not_offered(text, &failure),
            EngineError::NotCancelable(_) => {
                Self::plain(StatusCode::CONFLICT, "not_cancelable", text).with_rpc(rpc::TASK_NOT_CANCELABLE)
            }
            EngineError::NotContinuable(_) => {
                Self::plain(StatusCode::CONFLICT, "not_continuable", text).with_rpc(rpc::UNSUPPORTED_OPERATION)
            }
            EngineError::SkillNeeded(_) => Self::invalid(text),
            EngineError::InvalidInput(violations) => Self::invalid_input(text, &violations),
            EngineError::Invalid(_) => Self::invalid(text),
            EngineError::Exists { .. } => Self::conflict("exists", text).with_rpc(rpc::INVALID_PARAMS),
            EngineError::LastKey(_) => Self::conflict("last_key", text),
            EngineError::NotFound { .. } => Self::plain(StatusCode::NOT_FOUND, "not_found", text),
            EngineError::Blocked(_) => Self::blocked(text, None, None),
            EngineError::Guarded(check) => Self::blocked(text, Some(check), None),
            EngineError::BadPolicy(faults) => {
                let problem = Self::plain(StatusCode::UNPROCESSABLE_ENTITY, "invalid_policy", text);
                Self { data: Some(Box::new(json!({ "faults": faults }))), ..problem }
            }
            EngineError::NotDeployable(_) => Self::plain(StatusCode::UNPROCESSABLE_ENTITY, "not_deployable", text),
            EngineError::BadPipeline(faults) => Self::invalid_pipeline(text, &faults),
            EngineError::PipelineInUse { .. } => Self::plain(StatusCode::CONFLICT, "in_use", text),
            EngineError::Archived(_) => Self::plain(StatusCode::CONFLICT, "archived", text),
            EngineError::CannotReplay(_) => Self::plain(StatusCode::CONFLICT, "cannot_replay", text),
            EngineError::Describe(failure) => Self::describe(text, &failure),
            EngineError::KeyReused => {
                Self::plain(StatusCode::CONFLICT, "idempotency_key_reused", text).with_rpc(rpc::INVALID_PARAMS)
            }
            EngineError::LimitReached(reached) => Self::limit(text, reached),
            EngineError::Busy(what) => {
                let data = json!({ "limit": what, "retryAfterMs": 1_000 });
                Self { data: Some(Box::new(data)), ..Self::overload(text) }
            }
            EngineError::ShuttingDown
            | EngineError::OutOfTouch
            | EngineError::Repeated
            | EngineError::Unavailable(_) => Self::overload(text),
            EngineError::Internal(_) | EngineError::WrongMasterKey => {
                Self::plain(StatusCode::INTERNAL_SERVER_ERROR, "internal", text)
            }
        }
    }
}

impl Problem {
    fn conflict(code: &'static str, text: String) -> Self {
        Self::plain(StatusCode::CONFLICT, code, text)
    }

    fn forbidden(text: String, scope: Scope) -> Self {
        let problem = Self::plain(StatusCode::FORBIDDEN, "forbidden", text).with_rpc(rpc::FORBIDDEN);
        Self { scope: Some(scope), ..problem }
    }

    /// A guardrail, or another hook, does not let something pass.
    fn blocked(text: String, check: Option<&str>, task: Option<&Task>) -> Self {
        let problem = Self::plain(StatusCode::FORBIDDEN, "blocked", text).with_rpc(rpc::GUARDRAIL_BLOCKED);
        let mut data = serde_json::Map::new();
        data.extend(check.map(|check| ("check".to_owned(), Value::from(check))));
        data.extend(task.map(|task| ("taskId".to_owned(), Value::from(task.id.to_string()))));
        Self { data: (!data.is_empty()).then(|| Box::new(Value::Object(data))), ..problem }
    }

    /// Where the output of a call was blocked, that is the answer to it. The task says so too.
    pub(crate) fn if_blocked(task: &Task) -> Result<(), Self> {
        match &task.failure {
            Some(failure) if failure.reason == Reason::Blocked => {
                Err(Self::blocked(failure.message.clone(), failure.code.as_deref(), Some(task)))
            }
            _ => Ok(()),
        }
    }

    fn overload(text: String) -> Self {
        Self::plain(StatusCode::SERVICE_UNAVAILABLE, "unavailable", text).with_rpc(rpc::LIMIT_EXCEEDED).retry(1)
    }

    fn invalid_input(text: String, violations: &[Violation]) -> Self {
        let all: Vec<Value> = violations
            .iter()
            .map(|violation| json!({ "pointer": violation.pointer, "message": violation.message }))
            .collect();
        let problem = Self::plain(StatusCode::UNPROCESSABLE_ENTITY, "invalid_input", text);
        Self { data: Some(Box::new(json!({ "violations": all }))), ..problem.with_rpc(rpc::INVALID_PARAMS) }
    }

    fn invalid_pipeline(text: String, faults: &Faults) -> Self {
        let problem = Self::plain(StatusCode::UNPROCESSABLE_ENTITY, "invalid_pipeline", text);
        Self { data: serde_json::to_value(faults).ok().map(Box::new), ..problem }
    }

    /// Where waiting helps it is 429, otherwise 403.
    fn limit(text: String, reached: Reached) -> Self {
        let mut data = json!({ "limit": reached.limit.as_str(), "most": reached.most });
        let Some(wait) = reached.retry_after else {
            let problem = Self::plain(StatusCode::FORBIDDEN, "limit_reached", text).with_rpc(rpc::LIMIT_EXCEEDED);
            return Self { data: Some(Box::new(data)), ..problem };
        };
        if let Some(data) = data.as_object_mut() {
            data.insert("retryAfterMs".to_owned(), Value::from(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)));
        }
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let problem = Self::plain(StatusCode::TOO_MANY_REQUESTS, "limit_reached", text).with_rpc(rpc::LIMIT_EXCEEDED);
        Self { data: Some(Box::new(data)), ..problem }.retry(u32::try_from(seconds.max(1)).unwrap_or(u32::MAX))
    }

    fn describe(text: String, failure: &Failure) -> Self {
        let problem = Self::plain(StatusCode::UNPROCESSABLE_ENTITY, "not_deployable", text);
        let data = json!({ "reason": failure.reason.as_str(), "detail": failure.detail });
        Self { data: Some(Box::new(data)), ..problem }
    }
}

/// A failed task as the answer of the plain HTTP door.
pub(crate) fn status_of(failure: &Failure) -> StatusCode {
    match failure.reason {
        Reason::FunctionError => StatusCode::UNPROCESSABLE_ENTITY,
        Reason::CpuLimit | Reason::WallLimit => StatusCode::GATEWAY_TIMEOUT,
        Reason::MemoryLimit => StatusCode::INSUFFICIENT_STORAGE,
        Reason::Busy | Reason::NodeLost => StatusCode::SERVICE_UNAVAILABLE,
        Reason::Blocked => StatusCode::FORBIDDEN,
        Reason::StackLimit
        | Reason::OutputLimit
        | Reason::HostCallLimit
        | Reason::Trap
        | Reason::Exit
        | Reason::BadOutput => StatusCode::BAD_GATEWAY,
        Reason::Expired | Reason::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Once, here: what is ours to mend is an error, what is the database's a warning, what is the caller's is said to it.
fn log(error: &EngineError) {
    match error {
        EngineError::Internal(source) => {
            tracing::error!(error = source.as_ref() as &dyn std::error::Error, "a request failed")
        }
        EngineError::Unavailable(source) => {
            tracing::warn!(error = source as &dyn std::error::Error, "the database is away")
        }
        EngineError::Busy(what) => tracing::warn!(limit = what, "a request was turned away"),
        _ => {}
    }
}
