//! What functions offer, in a session: a client cancels it by its id, and is asked over the answer's stream for what the
//! function has to know first.
//!
//! Nothing of it is recorded, so that its stream has no place to come back to: who loses it asks again.

use async_stream::stream;
use axum::response::sse::Event as Frame;
use futures::Stream;
use pleat_domain::{ClientRequest, Raw, TaskId, json};
use pleat_engine::{EngineError, Held};
use pleat_mcp::{RpcError, client, error as codes, notification};
use serde_json::{Map, Value};

use super::call::noted;
use super::exchange::{Exchange, Reply};
use super::offers::{Given, Wish, understood};
use super::peer::Peer;
use crate::problem::Problem;
use crate::sse;

const PURPOSE: &str = "mcp-question";
/// A function that asks again and again comes to an end.
const MOST_TURNS: i16 = 100;

/// A wish whose function waits for its caller's client.
struct Waiting {
    exchange: Exchange,
    wish: Wish,
    held: Held,
    turn: i16,
    requests: Vec<ClientRequest>,
    kept: Option<Raw>,
}

pub(super) async fn answered(exchange: Exchange, wish: Wish) -> Result<Reply, Problem> {
    let call = noted(&exchange).ok_or(EngineError::SessionNotFound)?;
    let held = exchange.engine().hold(call);
    match taken(&exchange, &wish, &held, 1, None, None).await? {
        Given::Answer(given) => Ok(wish.answer(&exchange, given)),
        Given::Asks { .. } if !exchange.streams => Err(RpcError::new(
            codes::INVALID_REQUEST,
            "this asks its caller's client first, which takes a stream: accept `text/event-stream`",
        )
        .into()),
        Given::Asks { requests, kept } => {
            held.note().await?;
            let waiting = Waiting { exchange, wish, held, turn: 1, requests, kept };
            Ok(Reply::Stream(sse::of_frames(waiting.frames())))
        }
    }
}

async fn taken(
    exchange: &Exchange,
    wish: &Wish,
    held: &Held,
    turn: i16,
    state: Option<Raw>,
    reply: Option<Raw>,
) -> Result<Given, Problem> {
    let work = exchange.engine().take_offer(wish.offer(exchange, turn, state, reply));
    match held.unless_cancelled(work).await.transpose() {
        Some(said) => understood(exchange, wish, said),
        None => Err(cancelled()),
    }
}

fn cancelled() -> Problem {
    RpcError::new(codes::INVALID_REQUEST, "the request was cancelled").into()
}

impl Waiting {
    fn frames(mut self) -> impl Stream<Item = Frame> + Send {
        stream! {
            loop {
                for request in &self.requests {
                    yield frame(self.question(request));
                }
                if let Some(last) = self.next().await {
                    yield frame(last);
                    break;
                }
            }
        }
    }

    fn question(&self, request: &ClientRequest) -> String {
        let peer = &self.exchange.peer;
        let text = client::request_id(self.held.id(), self.turn, &request.key);
        match peer.app.engine.seal(&peer.tenant, &peer.principal, PURPOSE, &text) {
            Ok(id) => notification::request(&id, client::method(request.kind), &request.params),
            Err(error) => Problem::from(error).mcp_text(&self.exchange.request.id),
        }
    }

    /// The last message, unless the function asks again.
    async fn next(&mut self) -> Option<String> {
        match self.turned().await {
            Ok(Given::Asks { requests, kept }) => {
                (self.requests, self.kept) = (requests, kept);
                None
            }
            Ok(Given::Answer(given)) => match self.wish.answer(&self.exchange, given) {
                Reply::Json(text) | Reply::Warned(text, _) => Some(text),
                Reply::Stream(_) => None,
            },
            Err(problem) => Some(problem.mcp_text(&self.exchange.request.id)),
        }
    }

    /// What the function says to what its client has answered.
    async fn turned(&mut self) -> Result<Given, Problem> {
        let keys: Vec<&str> = self.requests.iter().map(|request| request.key.as_str()).collect();
        let Some(replies) = self.held.replies(self.turn, &keys).await? else { return Err(cancelled()) };
        let parsed = |(key, body): (String, Raw)| (key, serde_json::from_str(body.get()).unwrap_or_default());
        let reply: Map<String, Value> = replies.into_iter().map(parsed).collect();
        if self.turn >= MOST_TURNS {
            return Err(RpcError::new(codes::INTERNAL_ERROR, "the function asks without an end").into());
        }
        self.turn += 1;
        let (state, reply) = (self.kept.take(), Some(json::raw(&reply)));
        taken(&self.exchange, &self.wish, &self.held, self.turn, state, reply).await
    }
}

/// Which question a client of this caller's answers; `None` for an id that was never given out.
pub(super) fn asked(peer: &Peer, id: &Raw) -> Option<(TaskId, i16, String)> {
    let sealed: String = serde_json::from_str(id.get()).ok()?;
    let text = peer.app.engine.unseal(&peer.tenant, &peer.principal, PURPOSE, &sealed)?;
    client::parse_request_id(&json::raw(&text))
}

fn frame(text: String) -> Frame {
    Frame::default().event("message").data(text)
}
