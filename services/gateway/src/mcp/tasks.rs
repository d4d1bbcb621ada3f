//! The tasks extension: a call that goes on is a task, the same that A2A shows, and any node answers for it.

use pleat_domain::{ClientRequest, Raw, Task, json};
use pleat_engine::EngineError;
use pleat_mcp::capabilities::required_tasks;
use pleat_mcp::{RpcError, Version, client, params, result, task, tool};
use serde_json::{Map, Value};

use super::exchange::{Exchange, Reply};
use super::session;
use crate::problem::Problem;

/// The answer to a call that goes on. Its task is in the database by now.
pub(super) fn created(exchange: &Exchange, task: &Task) -> Reply {
    exchange.result(task::created(task, ttl(exchange))).about(task)
}

pub(super) async fn get(exchange: &Exchange) -> Result<Reply, Problem> {
    let (_, task) = named(exchange).await?;
    Ok(exchange.result(detailed(exchange, &task).await?).about(&task))
}

/// What the client was asked for, all of it or some.
pub(super) async fn update(exchange: &Exchange) -> Result<Reply, Problem> {
    let (asked, task) = named(exchange).await?;
    let replies: Vec<(String, Raw)> =
        asked.input_responses.unwrap_or_default().into_iter().map(|(key, value)| (key, json::raw(&value))).collect();
    if task.state.is_interrupted() {
        session::continued(&exchange.peer, task, &replies, exchange.capabilities).await?;
    }
    Ok(exchange.result(Map::new()))
}

pub(super) async fn cancel(exchange: &Exchange) -> Result<Reply, Problem> {
    let (asked, _) = named(exchange).await?;
    match exchange.engine().cancel(exchange.tenant(), &exchange.peer.principal, &asked.task_id).await {
        // To cancel what is over changes nothing, and is no fault.
        Ok(_) | Err(EngineError::NotCancelable(_)) => Ok(exchange.result(Map::new())),
        Err(error @ EngineError::TaskNotFound) => Err(RpcError::invalid_params(error.to_string()).into()),
        Err(error) => Err(error.into()),
    }
}

/// The task that is meant, for a client that knows tasks.
async fn named(exchange: &Exchange) -> Result<(params::TaskRef, Task), Problem> {
    if !exchange.capabilities.tasks {
        return Err(Problem::from(RpcError::missing_capability(&required_tasks())).exactly());
    }
    let asked: params::TaskRef = exchange.params()?;
    match exchange.engine().task(exchange.tenant(), &exchange.peer.principal, &asked.task_id).await {
        Ok(task) => Ok((asked, task)),
        Err(error @ EngineError::TaskNotFound) => Err(RpcError::invalid_params(error.to_string()).into()),
        Err(error) => Err(error.into()),
    }
}

/// A task with all that there is to see of it.
pub(super) async fn detailed(exchange: &Exchange, task: &Task) -> Result<Map<String, Value>, Problem> {
    let pending = pending(exchange, task).await?;
    let catalog = exchange.engine().catalog(exchange.tenant()).await?;
    let promised = task
        .skill
        .as_ref()
        .and_then(|skill| catalog.skills.get(skill))
        .is_some_and(|skill| tool::output_schema(&skill.manifest, Version::V2026_07_28).is_some());
    Ok(task::detailed(task, ttl(exchange), &pending, promised, &exchange.peer.server()))
}

/// As what a listener is told.
pub(super) async fn told(exchange: &Exchange, id: &str) -> Option<Map<String, Value>> {
    let task = exchange.engine().task(exchange.tenant(), &exchange.peer.principal, id).await.ok()?;
    let view = detailed(exchange, &task).await.ok()?;
    match result::complete(view, Version::V2025_11_25, &Value::Null) {
        Value::Object(view) => Some(view),
        _ => None,
    }
}

/// What the client has not answered yet.
async fn pending(exchange: &Exchange, task: &Task) -> Result<Vec<ClientRequest>, Problem> {
    let Some(ask) = task.ask.as_ref().filter(|_| task.state.is_interrupted()) else { return Ok(Vec::new()) };
    let asked = client::requests(ask);
    if asked.len() < 2 || task.caller != exchange.peer.principal.caller() {
        return Ok(asked);
    }
    let given = exchange.engine().keep_replies(exchange.tenant(), &exchange.peer.principal, task, &[]).await?;
    Ok(asked.into_iter().filter(|request| !given.iter().any(|(key, _)| *key == request.key)).collect())
}

fn ttl(exchange: &Exchange) -> u64 {
    u64::try_from(exchange.engine().retention().as_millis()).unwrap_or(u64::MAX)
}
