//! Which method is served by what, in each era.

use pleat_mcp::Version;
use pleat_mcp::capabilities::{Offered, server};
use serde_json::{Map, Value, json};

use super::exchange::{Exchange, Reply};
use super::{call, listen, lists, offers, session, tasks};
use crate::problem::Problem;

/// The methods of requests that stand for themselves.
pub(super) const STATELESS: &[&str] = &[
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "subscriptions/listen",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

/// Each method is boxed by itself: the answer to a `ping` should not be as large as the largest of them.
pub(super) async fn stateless(exchange: Exchange) -> Result<Reply, Problem> {
    match exchange.request.method.as_str() {
        "server/discover" => Ok(discover(&exchange)),
        "subscriptions/listen" => Box::pin(listen::stateless(exchange)).await,
        "tasks/get" => Box::pin(tasks::get(&exchange)).await,
        "tasks/update" => Box::pin(tasks::update(&exchange)).await,
        "tasks/cancel" => Box::pin(tasks::cancel(&exchange)).await,
        _ => shared(exchange).await,
    }
}

pub(super) async fn session(exchange: Exchange) -> Result<Reply, Problem> {
    match exchange.request.method.as_str() {
        "ping" => Ok(exchange.result(Map::new())),
        "logging/setLevel" => Box::pin(session::set_level(&exchange)).await,
        "resources/subscribe" => Box::pin(session::subscribe(&exchange, true)).await,
        "resources/unsubscribe" => Box::pin(session::subscribe(&exchange, false)).await,
        _ => shared(exchange).await,
    }
}

/// What both eras have.
async fn shared(exchange: Exchange) -> Result<Reply, Problem> {
    match exchange.request.method.as_str() {
        "tools/list" => Box::pin(lists::tools(&exchange)).await,
        "tools/call" => Box::pin(call::call(exchange)).await,
        "resources/list" if !exchange.peer.is_control() => Box::pin(lists::resources(&exchange)).await,
        "resources/templates/list" if !exchange.peer.is_control() => Box::pin(lists::templates(&exchange)).await,
        "resources/read" if !exchange.peer.is_control() => Box::pin(offers::read(exchange)).await,
        "prompts/list" if !exchange.peer.is_control() => Box::pin(lists::prompts(&exchange)).await,
        "prompts/get" if !exchange.peer.is_control() => Box::pin(offers::prompt(exchange)).await,
        "completion/complete" if !exchange.peer.is_control() => Box::pin(offers::complete(&exchange)).await,
        method => Err(Problem::no_such_method(method, exchange.is_stateless())),
    }
}

fn discover(exchange: &Exchange) -> Reply {
    let versions: Vec<&str> = Version::ALL.iter().map(|version| version.as_str()).collect();
    let offered = Offered { tasks: !exchange.peer.is_control(), ..session::offered(exchange.peer.is_control()) };
    let result = json!({
        "supportedVersions": versions,
        "capabilities": server(offered),
        "serverInfo": exchange.peer.server(),
        "instructions": session::instructions(&exchange.peer),
    });
    match result {
        Value::Object(result) => exchange.cacheable(result),
        _ => exchange.cacheable(Map::new()),
    }
}
