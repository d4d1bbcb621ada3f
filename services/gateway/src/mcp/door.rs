//! The door itself: what comes in by POST, GET and DELETE, told apart by era.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};
use pleat_mcp::{Incoming, Message, Meta, Request, RpcError, Version, headers as wire};
use serde_json::value::RawValue;

use super::exchange::{Era, Exchange, accepts};
use super::peer::Peer;
use super::{listen, route, session};
use crate::app::App;
use crate::body;
use crate::problem::Problem;

pub(super) const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

pub(crate) async fn post(
    State(app): State<App>,
    peer: Result<Peer, Problem>,
    request: axum::extract::Request,
) -> Response {
    let (parts, sent) = request.into_parts();
    let headers = Arc::new(parts.headers);
    let taken = async {
        let peer = peer?;
        if !accepts(&headers, "application/json") && !accepts(&headers, "text/event-stream") {
            return Err(Problem::not_acceptable());
        }
        let bytes = body::read_json(&headers, sent, app.config.request_body).await?;
        Ok((peer, Incoming::parse(&bytes)?))
    };
    match taken.await {
        Ok((peer, Incoming::One(message))) => one(peer, &headers, message).await,
        Ok((peer, Incoming::Several(messages))) => Box::pin(several(peer, &headers, messages)).await,
        Err(problem) => Problem::into_mcp(problem, RawValue::NULL),
    }
}

async fn one(peer: Peer, headers: &Arc<HeaderMap>, message: Message) -> Response {
    match message {
        Message::Request(request) => {
            let id = request.id.clone();
            let (base, least) = (Arc::clone(&peer.base_url), peer.surface.least());
            let served = serve(peer, headers, request).await;
            // A call that needs more than this caller has shows the way to it.
            served.unwrap_or_else(|problem| {
                let (place, shown) = (super::metadata::address(&base), headers.contains_key(AUTHORIZATION));
                problem.challenged(&place, shown, least).into_mcp(&id)
            })
        }
        Message::Notification { method, params } => {
            match Box::pin(session::notified(&peer, headers, &method, params.as_deref())).await {
                Ok(()) => StatusCode::ACCEPTED.into_response(),
                Err(problem) => problem.into_mcp(RawValue::NULL),
            }
        }
        Message::Response { id, body } => match Box::pin(session::replied(&peer, headers, &id, body)).await {
            Ok(()) => StatusCode::ACCEPTED.into_response(),
            // Nobody asked for an answer to an answer: that it was not taken is said by the status.
            Err(problem) => {
                let mut refused = problem.into_mcp(&id);
                if refused.status().is_success() {
                    *refused.status_mut() = StatusCode::BAD_REQUEST;
                }
                refused
            }
        },
    }
}

async fn serve(peer: Peer, headers: &Arc<HeaderMap>, request: Request) -> Result<Response, Problem> {
    let meta = Meta::read(request.params.as_deref()).map_err(|error| Problem::from(error).exactly())?;
    if meta.version.is_some() || speaks_stateless(headers) {
        let stateless = stateless(peer, headers, request, meta)?;
        return Ok(route::stateless(stateless).await?.into_response());
    }
    if request.method == "initialize" {
        return Box::pin(session::initialize(&peer, &request)).await;
    }
    let held = session::held(&peer, headers).await?;
    let exchange = Exchange::new(peer, Era::Session(held), headers, request, meta);
    Ok(route::session(exchange).await?.into_response())
}

/// A request that stands for itself: it says all that there is to know, and its headers say the same.
fn stateless(peer: Peer, headers: &Arc<HeaderMap>, request: Request, meta: Meta) -> Result<Exchange, Problem> {
    let exactly = |error: RpcError| Problem::from(error).exactly();
    let (version, _) = meta.complete().map_err(exactly)?;
    let lookup = |name: &str| header(headers, name);
    if lookup(VERSION).as_deref().map(str::trim) != Some(version) {
        let text = "`MCP-Protocol-Version` is missing, or is not the version of the body";
        return Err(exactly(RpcError::header_mismatch(text)));
    }
    if Version::parse(version).is_none_or(|version| !version.is_stateless()) {
        return Err(exactly(RpcError::unsupported_version(version)));
    }
    if !route::STATELESS.contains(&request.method.as_str()) {
        return Err(Problem::no_such_method(&request.method, true));
    }
    wire::check(&request.method, request.params.as_deref(), &lookup).map_err(exactly)?;
    Ok(Exchange::new(peer, Era::Stateless, headers, request, meta))
}

/// The header alone tells, where the body has forgotten to.
pub(super) fn speaks_stateless(headers: &HeaderMap) -> bool {
    let said = header(headers, VERSION);
    said.as_deref().map(str::trim).and_then(Version::parse).is_some_and(Version::is_stateless)
}

/// A version that nobody here speaks.
pub(super) fn check_version(headers: &HeaderMap) -> Result<(), Problem> {
    match header(headers, VERSION) {
        Some(version) if Version::parse(version.trim()).is_none() => {
            Err(Problem::from(RpcError::unsupported_version(&version)).exactly())
        }
        _ => Ok(()),
    }
}

/// A header's text; an empty one, which means nothing, where it is there twice or no text.
pub(super) fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    let alone = values.next().is_none();
    Some(first.to_str().ok().filter(|_| alone).unwrap_or_default().to_owned())
}

/// Several messages at once, in the one version that has it. Each is answered as if it had come alone.
async fn several(peer: Peer, headers: &Arc<HeaderMap>, messages: Vec<Message>) -> Response {
    if speaks_stateless(headers) {
        return Problem::no_batches().into_mcp(RawValue::NULL);
    }
    let held = match session::held(&peer, headers).await {
        Ok(held) => held,
        Err(problem) => return problem.into_mcp(RawValue::NULL),
    };
    if !Version::parse(&held.version).is_some_and(Version::takes_batches) {
        return Problem::no_batches().into_mcp(RawValue::NULL);
    }
    let mut alone = HeaderMap::clone(headers);
    alone.insert(http::header::ACCEPT, http::HeaderValue::from_static("application/json"));
    let alone = Arc::new(alone);
    let mut answers = Vec::new();
    for message in messages {
        let answered = matches!(message, Message::Request(_));
        let response = Box::pin(one(peer.clone(), &alone, message)).await;
        if let (true, Ok(body)) = (answered, axum::body::to_bytes(response.into_body(), usize::MAX).await) {
            answers.push(String::from_utf8_lossy(&body).into_owned());
        }
    }
    match answers.is_empty() {
        true => StatusCode::ACCEPTED.into_response(),
        false => super::exchange::Reply::Json(format!("[{}]", answers.join(","))).into_response(),
    }
}

/// A session's own stream, or a call's stream that was lost.
pub(crate) async fn get(peer: Result<Peer, Problem>, headers: HeaderMap) -> Response {
    let opened = async {
        let peer = peer?;
        if speaks_stateless(&headers) || !headers.contains_key(SESSION) {
            return Err(Problem::post_only());
        }
        if !accepts(&headers, "text/event-stream") {
            return Err(Problem::not_acceptable());
        }
        let held = session::held(&peer, &headers).await?;
        listen::session(peer, held, &Arc::new(headers)).await
    };
    opened.await.unwrap_or_else(|problem: Problem| problem.into_mcp(RawValue::NULL))
}

pub(crate) async fn delete(peer: Result<Peer, Problem>, headers: HeaderMap) -> Response {
    let closed = async {
        let peer = peer?;
        if speaks_stateless(&headers) || !headers.contains_key(SESSION) {
            return Err(Problem::post_only());
        }
        let held = session::held(&peer, &headers).await?;
        peer.app.engine.close_session(&peer.tenant, &held).await?;
        Ok(StatusCode::NO_CONTENT.into_response())
    };
    closed.await.unwrap_or_else(|problem: Problem| problem.into_mcp(RawValue::NULL))
}
