//! The A2A door: one URL for all versions of the protocol, told apart by method name.
//!
//! The name decides, then the version that was asked for may object. `legacy` is the documented family with 0.1's
//! messages; `messages` performs everything of 0.3 and 1.0, also for the HTTP+JSON binding, which is in `rest`.

mod answer;
mod legacy;
mod messages;
mod push;
pub(crate) mod rest;
mod sending;
mod version;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use pleat_a2a::Request;
use pleat_a2a::messages::{Call, Dialect};
use pleat_a2a::method::{Method, Operation, Version};
use serde_json::value::RawValue;

use self::answer::Wire;
use crate::app::App;
use crate::body;
use crate::extract::Visitor;
use crate::problem::{Problem, Words};

pub(crate) async fn serve(
    State(app): State<App>,
    visitor: Result<Visitor, Problem>,
    sent: axum::extract::Request,
) -> Response {
    let (Parts { uri, headers, .. }, sent) = sent.into_parts();
    let asked = version::asked(&headers, &uri);
    let visitor = match visitor {
        Ok(visitor) => visitor,
        Err(problem) => return refused(problem, &headers, sent, &asked).await,
    };
    let words = words(None, &asked);
    let bytes = match body::read_json(&headers, sent, app.config.request_body).await {
        Ok(bytes) => bytes,
        Err(problem) => return problem.into_content_type().into_rpc(RawValue::NULL, words),
    };
    let request = match Request::parse(&bytes) {
        Ok(request) => request,
        Err(fault) => return json(fault.body()),
    };
    let words = self::words(Method::named(&request.method), &asked);
    let served = route(&app, visitor, &headers, &request, asked).await;
    let mut response = served.unwrap_or_else(|problem| problem.into_rpc(&request.id, words));
    version::mark_extensions(&headers, &mut response);
    response
}

/// Who is turned away is told so before a body is waited for. The answer carries the request's id where the body is small
/// and has arrived, and `null` otherwise.
async fn refused(
    problem: Problem,
    headers: &HeaderMap,
    sent: Body,
    asked: &Result<Option<Version>, Problem>,
) -> Response {
    let request = body::read_small(sent).await.and_then(|bytes| Request::parse(&bytes).ok());
    let words = words(request.as_ref().and_then(|request| Method::named(&request.method)), asked);
    let id = request.as_ref().map_or(RawValue::NULL, |request| &request.id);
    let mut response = problem.into_rpc(id, words);
    version::mark_extensions(headers, &mut response);
    response
}

async fn route(
    app: &App,
    visitor: Visitor,
    headers: &HeaderMap,
    request: &Request,
    asked: Result<Option<Version>, Problem>,
) -> Result<Response, Problem> {
    let asked = asked?;
    let method = Method::named(&request.method).filter(|method| asked.is_none_or(|version| method.is_of(version)));
    match method.ok_or_else(|| Problem::method_not_found(&request.method))? {
        Method::Legacy(operation) => legacy::serve(app, visitor, headers, request, operation).await,
        Method::Shared(operation) => Box::pin(legacy::shared(app, visitor, headers, request, operation)).await,
        Method::V03(operation) => perform(app, visitor, headers, request, Dialect::V03, operation).await,
        Method::V1(operation) => perform(app, visitor, headers, request, Dialect::V1, operation).await,
    }
}

async fn perform(
    app: &App,
    visitor: Visitor,
    headers: &HeaderMap,
    request: &Request,
    dialect: Dialect,
    operation: Operation,
) -> Result<Response, Problem> {
    let call = Call::read(dialect, operation, request.params.as_deref())?;
    let wire = Wire::rpc(request.id.clone(), dialect);
    let refusing = matches!(operation, Operation::Stream | Operation::Subscribe).then(|| wire.clone());
    match (messages::perform(app, visitor, headers, call, wire).await, refusing) {
        (Err(problem), Some(wire)) => wire.refused(headers, problem),
        (served, _) => served,
    }
}

/// Errors say more in the words of the method; where there is none, in those of the version that was asked for.
fn words(method: Option<Method>, asked: &Result<Option<Version>, Problem>) -> Words {
    match (method, asked) {
        (Some(Method::V1(_)), _) | (None, Ok(Some(Version::V1))) | (_, Err(_)) => Words::Details,
        _ => Words::Plain,
    }
}

fn json(body: Vec<u8>) -> Response {
    ([(CONTENT_TYPE, "application/json")], Bytes::from(body)).into_response()
}
