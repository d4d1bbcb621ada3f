//! What a task that has come to rest means for the call that it came from.

use pleat_domain::{ClientKind, ClientRequest, Task};
use pleat_mcp::capabilities::required;
use pleat_mcp::result::CallResult;
use pleat_mcp::{RpcError, client, tool};
use serde_json::{Map, Value};

use super::exchange::{Exchange, Reply};
use super::state::State;
use crate::problem::Problem;

pub(super) enum Settled {
    /// There is a result.
    Done,
    /// The client is asked for these, and can serve them.
    Asks(Vec<ClientRequest>),
    /// Nobody can be asked for what is needed.
    Stuck(Vec<ClientKind>),
}

pub(super) fn settled(exchange: &Exchange, task: &Task) -> Settled {
    let Some(ask) = task.ask.as_ref().filter(|_| task.state.is_interrupted()) else { return Settled::Done };
    let asked = client::requests(ask);
    let (can, cannot): (Vec<_>, Vec<_>) =
        asked.into_iter().partition(|request| exchange.capabilities.serves(request.kind));
    match (can.is_empty(), ask.client.is_some() || exchange.is_stateless()) {
        (false, _) => Settled::Asks(can),
        (true, true) => Settled::Stuck(cannot.into_iter().map(|request| request.kind).collect()),
        // A plain question is told to the model, which may know another way.
        (true, false) => Settled::Done,
    }
}

/// The answer of a call whose task rests.
pub(super) async fn reply(exchange: &Exchange, task: &Task) -> Result<Reply, Problem> {
    match settled(exchange, task) {
        Settled::Done => {
            Problem::if_blocked(task)?;
            Ok(done(exchange, task))
        }
        Settled::Asks(requests) if exchange.is_stateless() => ask(exchange, task, &requests),
        // In a session this goes over a stream; a client that takes none is told in words.
        Settled::Asks(_) => Ok(done(exchange, task)),
        // Boxed, as all that is seldom needed: every call would have room for it.
        Settled::Stuck(kinds) => Err(Box::pin(stuck(exchange, task, kinds)).await),
    }
}

pub(super) fn done(exchange: &Exchange, task: &Task) -> Reply {
    let promised = promised(exchange, task);
    exchange.answer(&CallResult::of(task, exchange.version, promised, &exchange.server())).about(task)
}

/// Whether the tool is listed with a schema of its result: that of the version that ran, where it is the active one.
fn promised(exchange: &Exchange, task: &Task) -> bool {
    exchange.listed.as_ref().is_some_and(|skill| {
        Some(&skill.name) == task.skill.as_ref() && tool::output_schema(&skill.manifest, exchange.version).is_some()
    })
}

fn ask(exchange: &Exchange, task: &Task, requests: &[ClientRequest]) -> Result<Reply, Problem> {
    let state = State::of_task(exchange, task).sealed(exchange)?;
    Ok(exchange.result(input_required(requests, state)).about(task))
}

pub(super) fn input_required(requests: &[ClientRequest], state: String) -> Map<String, Value> {
    Map::from_iter([
        ("resultType".to_owned(), Value::from("input_required")),
        ("inputRequests".to_owned(), Value::Object(client::input_requests(requests))),
        ("requestState".to_owned(), Value::from(state)),
    ])
}

/// A task that nobody can answer does not wait for ever.
pub(super) async fn stuck(exchange: &Exchange, task: &Task, kinds: Vec<ClientKind>) -> Problem {
    if let Err(error) = exchange.engine().abandon(exchange.tenant(), &exchange.peer.principal, task).await {
        return error.into();
    }
    let problem = Problem::from(RpcError::missing_capability(&required(kinds)));
    if exchange.is_stateless() { problem.exactly() } else { problem }
}
