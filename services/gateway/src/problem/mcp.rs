//! What goes wrong at the doors of the Model Context Protocol, whose versions make some statuses part of the protocol.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use pleat_a2a::error as rpc;
use pleat_domain::{Failure, Reason, Scope};
use pleat_mcp::{Fault, RpcError, error as codes, message};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Problem;

impl From<RpcError> for Problem {
    fn from(error: RpcError) -> Self {
        let problem = Self::plain(StatusCode::BAD_REQUEST, "invalid", error.message).with_rpc(error.code);
        Self { data: error.data.map(Box::new), ..problem }
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        Self::plain(StatusCode::BAD_REQUEST, "invalid", fault.to_string()).with_rpc(fault.code()).exactly()
    }
}

impl Problem {
    /// With its status, whatever the answer's body is.
    pub(crate) fn exactly(self) -> Self {
        Self { exact: true, ..self }
    }

    pub(crate) const fn rpc_code(&self) -> i32 {
        self.rpc
    }

    pub(crate) fn with_data(self, data: Value) -> Self {
        Self { data: Some(Box::new(data)), ..self }
    }

    /// In versions without a handshake, an unknown method is an unknown address.
    pub(crate) fn no_such_method(method: &str, stateless: bool) -> Self {
        let problem = Self::method_not_found(method);
        if stateless { problem.exactly() } else { problem }
    }

    /// A batch where the version has none.
    pub(crate) fn no_batches() -> Self {
        Self::plain(StatusCode::BAD_REQUEST, "invalid", "this version takes one message at a time").exactly()
    }

    pub(crate) fn forbidden_origin() -> Self {
        let text = "pages of this origin may not use this address";
        Self::plain(StatusCode::FORBIDDEN, "forbidden_origin", text)
            .with_hint("an operator allows origins with `cors.tenants` and `cors.control`")
            .exactly()
    }

    pub(crate) fn not_acceptable() -> Self {
        let text = "`Accept` must list application/json and text/event-stream";
        Self::plain(StatusCode::NOT_ACCEPTABLE, "not_acceptable", text).exactly()
    }

    /// What is not served by this method of HTTP.
    pub(crate) fn post_only() -> Self {
        let text = "this version of the protocol takes POST only";
        Self::plain(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", text).exactly()
    }

    /// A client that begins in the middle: it is told what to send first, and where all of it is written down.
    pub(crate) fn lost_client(recipe: &str) -> Self {
        let text = "Invalid Request: server must receive a JSON-RPC 'initialize' before any other method.";
        let data = json!({ "expectedMethod": "initialize", "transport": "streamable-http", "recipeUrl": recipe });
        Self::plain(StatusCode::BAD_REQUEST, "not_initialized", text).with_data(data).exactly()
    }

    pub(super) fn session_not_found(text: String) -> Self {
        Self::plain(StatusCode::NOT_FOUND, "session_not_found", text).with_rpc(codes::SESSION_NOT_FOUND).exactly()
    }

    /// A resource or a prompt that a function did not give.
    pub(super) fn not_offered(text: String, failure: &Failure) -> Self {
        if failure.reason == Reason::Blocked {
            return Self::blocked(failure.message.clone(), failure.code.as_deref(), None);
        }
        let missing = failure.code.as_deref() == Some("not_found");
        let code = if missing { codes::INVALID_PARAMS } else { codes::INTERNAL_ERROR };
        let data = json!({ "reason": failure.reason, "code": failure.code });
        Self::plain(StatusCode::BAD_GATEWAY, "not_offered", text).with_rpc(code).with_data(data)
    }

    /// Says where a client learns how to get a token, and which scope it needs: this one to come in at all. `shown`: it
    /// has shown one.
    pub(crate) fn challenged(self, metadata: &str, shown: bool, least: Scope) -> Self {
        let (scope, error) = match (self.status, self.scope) {
            (StatusCode::UNAUTHORIZED, _) if shown => (least, ", error=\"invalid_token\""),
            (StatusCode::UNAUTHORIZED, _) => (least, ""),
            (StatusCode::FORBIDDEN, Some(scope)) => (scope, ", error=\"insufficient_scope\""),
            _ => return self,
        };
        let scope = scope.as_str();
        let text = format!("Bearer resource_metadata=\"{metadata}\", scope=\"{scope}\"{error}");
        Self { challenge: HeaderValue::from_str(&text).ok().map(Box::new), ..self }
    }

    /// As the answer to a request. What is about the request itself has its status, what is about its meaning has 200.
    pub(crate) fn into_mcp(self, id: &RawValue) -> Response {
        let about_request =
            matches!(self.rpc, rpc::LIMIT_EXCEEDED | rpc::UNAUTHENTICATED | rpc::FORBIDDEN | rpc::INVALID_REQUEST);
        let status = if self.exact || about_request { self.status } else { StatusCode::OK };
        let body = Bytes::from(self.mcp_text(id));
        let mut response = (status, [(CONTENT_TYPE, "application/json")], body).into_response();
        self.mark(&mut response);
        response
    }

    /// The body alone, for a stream that has begun.
    pub(crate) fn mcp_text(&self, id: &RawValue) -> String {
        let mut error = RpcError::new(self.rpc, self.message.clone());
        error.data = self.data.as_deref().cloned();
        if let (Some(hint), None) = (&self.hint, &error.data) {
            error.data = Some(json!({ "hint": hint }));
        }
        message::failure(id, &error)
    }
}
