//! A call's stream that was lost, found again at any node.

use std::sync::Arc;

use axum::response::Response;
use pleat_domain::TaskId;
use pleat_engine::{EngineError, Until};
use pleat_mcp::RpcError;

use super::call::noted;
use super::events::{End, Telling};
use super::exchange::Exchange;
use super::hearing::Hearing;
use crate::problem::Problem;

/// The rest of a call's stream: what is said from now on, what its client is asked meanwhile, and its end.
pub(super) async fn resumed(
    mut exchange: Exchange,
    id: TaskId,
    told: Option<f64>,
    count: u32,
) -> Result<Response, Problem> {
    let (engine, tenant) = (exchange.engine().clone(), Arc::clone(exchange.tenant()));
    let task = engine.task(&tenant, &exchange.peer.principal, &id.to_string()).await.map_err(|error| match error {
        EngineError::TaskNotFound => foreign(),
        error => error.into(),
    })?;
    // Who may read another's task has not been given its stream, and does not answer in its caller's place.
    if task.caller != exchange.peer.principal.caller() {
        return Err(foreign());
    }
    let catalog = engine.catalog(&tenant).await?;
    exchange.listed = task.skill.as_ref().and_then(|skill| catalog.skills.get(skill)).cloned();
    // It may be another session of this caller, which cancels under its own name.
    let call = noted(&exchange).filter(|_| !task.state.is_terminal());
    if let Some(call) = &call {
        engine.note_call(call, id).await?;
    }
    let hearing = match Hearing::of(&exchange).filter(|_| !task.state.is_terminal()) {
        Some(hearing) => {
            let seen = engine.snapshot(&tenant, task.clone()).await?.last_seq;
            let recorded = Some(engine.events(&tenant, &task, seen, Until::TaskEnds));
            Some(Hearing { recorded, told, ..hearing })
        }
        None => None,
    };
    let end: End = Box::pin(async move { engine.next_end(&tenant, id, task.turn - 1).await });
    let after = Some(count);
    Ok(Telling { exchange, task: id, hearing, end, leaving: None, noted: call.is_some(), after }.response())
}

/// An event that this caller was never given.
pub(super) fn foreign() -> Problem {
    Problem::from(RpcError::invalid_params("`Last-Event-ID` is of no stream of yours")).exactly()
}
