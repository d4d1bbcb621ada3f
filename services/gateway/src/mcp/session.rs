//! The session era: the handshake, what is only there in it, and what a client says without asking.

use std::sync::Arc;

use axum::response::Response;
use http::{HeaderMap, HeaderValue};
use pleat_domain::{Block, ClientRequest, Message, Raw, json};
use pleat_engine::{EngineError, Going, SessionCall, SessionRecord, Turn};
use pleat_mcp::capabilities::{Offered, server};
use pleat_mcp::client::{self, Answered};
use pleat_mcp::{ClientCapabilities, Level, Request, RpcError, Version, message, params};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::asking;
use super::door::{SESSION, check_version, header, speaks_stateless};
use super::exchange::{Exchange, Reply, of_session};
use super::peer::Peer;
use crate::problem::Problem;

/// Of what is subscribed to.
const MOST_URI_BYTES: usize = 2_048;

/// What a server has to say first to whoever uses it.
pub(super) fn instructions(peer: &Peer) -> String {
    match peer.is_control() {
        true => format!(
            "The platform behind the tenant {}: deploy functions, call them, read their logs, roll them back.",
            peer.tenant.slug
        ),
        false => format!(
            "The functions of {} as tools. `a2a://task/{{id}}` shows what became of a call; \
             `pleat://functions/{{name}}` documents a tool.",
            peer.tenant.slug
        ),
    }
}

pub(super) const fn offered(peer_is_control: bool) -> Offered {
    Offered { resources: !peer_is_control, prompts: !peer_is_control, tasks: false, logging: true }
}

pub(super) async fn initialize(peer: &Peer, request: &Request) -> Result<Response, Problem> {
    let asked: params::Initialize = params::read(request.params.as_deref())?;
    let version = Version::negotiated(&asked.protocol_version);
    let capabilities = json::raw(&ClientCapabilities::read(&Value::Object(asked.capabilities)).declared());
    let engine = &peer.app.engine;
    let id =
        engine.open_session(&peer.tenant, &peer.principal, peer.is_control(), version.as_str(), capabilities).await?;
    let result = json!({
        "protocolVersion": version.as_str(),
        "capabilities": server(offered(peer.is_control())),
        "serverInfo": peer.server(),
        "instructions": instructions(peer),
    });
    let mut response = Reply::Json(message::response(&request.id, &result)).into_response();
    if let Ok(value) = HeaderValue::from_str(&id.to_string()) {
        response.headers_mut().insert(SESSION, value);
    }
    Ok(response)
}

/// The session that a request belongs to. Without one it is lost, and told so.
pub(super) async fn held(peer: &Peer, headers: &HeaderMap) -> Result<Arc<SessionRecord>, Problem> {
    check_version(headers)?;
    let id = header(headers, SESSION).ok_or_else(|| Problem::lost_client(&peer.recipe()))?;
    Ok(peer.app.engine.session(&peer.tenant, &peer.principal, peer.is_control(), id.trim()).await?)
}

pub(super) async fn set_level(exchange: &Exchange) -> Result<Reply, Problem> {
    let asked: params::SetLevel = exchange.params()?;
    let level = Level::parse(&asked.level)
        .ok_or_else(|| RpcError::invalid_params("`level` must be one of the eight levels, such as `info`"))?;
    if let Some(session) = exchange.session() {
        exchange.engine().set_session_level(exchange.tenant(), session, level.to_code()).await?;
    }
    Ok(exchange.result(Map::new()))
}

pub(super) async fn subscribe(exchange: &Exchange, on: bool) -> Result<Reply, Problem> {
    let wanted: params::Uri = exchange.params()?;
    let Some(session) = exchange.session() else { return Ok(exchange.result(Map::new())) };
    let (engine, tenant) = (exchange.engine(), exchange.tenant());
    if on {
        check_length(&wanted.uri)?;
        let mark = super::offers::check_visible(exchange, &wanted.uri).await?;
        engine.subscribe_session(tenant, session, &wanted.uri, mark).await?;
    } else {
        engine.unsubscribe_session(tenant, session, &wanted.uri).await?;
    }
    Ok(exchange.result(Map::new()))
}

/// What is subscribed to is kept, so that it has a bound.
pub(super) fn check_length(uri: &str) -> Result<(), RpcError> {
    match uri.len() <= MOST_URI_BYTES {
        true => Ok(()),
        false => Err(RpcError::invalid_params(format!("a URI to subscribe to has at most {MOST_URI_BYTES} bytes"))),
    }
}

/// What a client says without wanting an answer.
pub(super) async fn notified(
    peer: &Peer,
    headers: &HeaderMap,
    method: &str,
    params: Option<&RawValue>,
) -> Result<(), Problem> {
    if speaks_stateless(headers) {
        return Ok(());
    }
    let session = held(peer, headers).await?;
    let engine = &peer.app.engine;
    match method {
        "notifications/initialized" => engine.session_ready(&peer.tenant, &session).await?,
        "notifications/cancelled" => {
            let Ok(cancelled) = params::read::<params::Cancelled>(params) else { return Ok(()) };
            let request = cancelled.request_id.get().to_owned();
            let call = SessionCall { tenant: Arc::clone(&peer.tenant), session: session.id, request };
            engine.cancel_call(call, peer.principal.clone()).await?;
        }
        _ => {}
    }
    Ok(())
}

/// A client's answer to a request of a waiting task. It may arrive at any node, which then continues the task.
pub(super) async fn replied(peer: &Peer, headers: &HeaderMap, id: &Raw, body: Result<Raw, Raw>) -> Result<(), Problem> {
    if speaks_stateless(headers) {
        return Err(Problem::from(pleat_mcp::Fault::NotAMessage));
    }
    let session = held(peer, headers).await?;
    let body = body.unwrap_or_else(|error| {
        let error: Value = serde_json::from_str(error.get()).unwrap_or_default();
        json::raw(&json!({ "error": error }))
    });
    let engine = &peer.app.engine;
    if let Some((held, turn, key)) = asking::asked(peer, id) {
        return Ok(engine.keep_held_reply(&peer.tenant, held, turn, (key, body)).await?);
    }
    // An answer to nothing is passed over, as is one to a task of somebody else.
    let Some((task, turn, key)) = client::parse_request_id(id) else { return Ok(()) };
    let task = match engine.task(&peer.tenant, &peer.principal, &task.to_string()).await {
        Ok(task) if task.turn == turn && task.state.is_interrupted() => task,
        Ok(_) | Err(EngineError::TaskNotFound) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let served = of_session(&session);
    let (tenant, waiting) = (&peer.tenant, task.clone());
    match continued(peer, task, &[(key, body)], served).await {
        Ok(Continued::Begun(going)) => engine.forget_when_over(Arc::clone(tenant), session.id, &going),
        Ok(Continued::Over) => engine.forget_call(tenant, session.id, waiting.id).await?,
        Ok(Continued::Waits | Continued::Elsewhere) => {}
        Err(error) => {
            // Nobody reads the answer to an answer: what is wrong with it has to come out on the call's stream.
            engine.refuse_answer(tenant, &peer.principal, &waiting, &error).await?;
            return Err(error.into());
        }
    }
    Ok(())
}

/// What became of a task whose client has answered.
pub(super) enum Continued {
    /// Not all of the answers are there.
    Waits,
    Begun(Going),
    /// The user would not answer.
    Over,
    /// Somebody else has answered the last of them at the same time.
    Elsewhere,
}

/// Keeps what was answered and, when that is all, continues the task. What is refused is not kept.
pub(super) async fn continued(
    peer: &Peer,
    task: pleat_domain::Task,
    replies: &[(String, Raw)],
    served: ClientCapabilities,
) -> Result<Continued, EngineError> {
    let Some(ask) = task.ask.clone() else { return Ok(Continued::Elsewhere) };
    let asked = client::requests(&ask);
    // Who answers can, whether it said so or not. Who said nothing of all this is waited for with everything.
    let said = asked.iter().any(|request| served.serves(request.kind));
    let given = |request: &ClientRequest| replies.iter().any(|(key, _)| *key == request.key);
    let expected: Vec<_> =
        asked.iter().filter(|request| !said || served.serves(request.kind) || given(request)).collect();
    let known: Vec<(String, Raw)> =
        replies.iter().filter(|(key, _)| expected.iter().any(|request| request.key == *key)).cloned().collect();
    if known.is_empty() {
        return Ok(Continued::Waits);
    }
    let engine = &peer.app.engine;
    for (key, reply) in &known {
        let request = expected.iter().find(|request| request.key == *key);
        let to_fit = request.map_or(Ok(None), |request| client::check(request, reply)).map_err(EngineError::Invalid)?;
        if let Some((schema, content)) = to_fit {
            Box::pin(engine.check_answer(&peer.tenant, &schema, &content)).await?;
        }
    }
    let all = engine.keep_replies(&peer.tenant, &peer.principal, &task, &known).await?;
    if expected.iter().any(|request| !all.iter().any(|(key, _)| request.key == *key)) {
        return Ok(Continued::Waits);
    }
    let (input, reply) = match client::answered(&ask, &all) {
        Answered::Declined => {
            engine.abandon(&peer.tenant, &peer.principal, &task).await?;
            return Ok(Continued::Over);
        }
        Answered::Turn { input, reply } => (input, reply),
    };
    match engine.answer_turn(turn(peer, task.clone(), input, reply)).await {
        Ok(going) => Ok(Continued::Begun(going)),
        Err(EngineError::NotContinuable(_)) => Ok(Continued::Elsewhere),
        Err(error) => {
            engine.drop_replies(&peer.tenant, &peer.principal, &task).await?;
            Err(error)
        }
    }
}

/// The next turn of a waiting task: with a new input, or with the same one and what the client said.
pub(super) fn turn(peer: &Peer, task: pleat_domain::Task, input: Option<Raw>, reply: Option<Raw>) -> Turn {
    let said = reply.as_ref().or(input.as_ref()).map_or_else(|| Block::text(""), |raw| Block::of_input(raw));
    let message = Message::user(format!("{}-{}", task.id, task.history.len() + 1), vec![said]);
    let input = input.unwrap_or_else(|| task.input.clone());
    let (tenant, principal) = (Arc::clone(&peer.tenant), peer.principal.clone());
    Turn { tenant, principal, task, skill: None, input, message, reply, once: None, push: None }
}
