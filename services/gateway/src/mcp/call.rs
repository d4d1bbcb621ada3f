//! `tools/call`: a function is called, as a task like every other call.
//!
//! What is over within a moment is answered in one piece. Everything else is a task that goes on: for a client that knows
//! tasks it is one, for another it is a stream, or an answer that takes its time.

use std::sync::Arc;
use std::time::Duration;

use pleat_domain::{Door, Task, TaskId, TaskSupport};
use pleat_engine::{Answer, EngineError, Going, Invocation, SessionCall};
use pleat_mcp::capabilities::required_tasks;
use pleat_mcp::result::CallResult;
use pleat_mcp::{RpcError, headers as wire, params, tool};

use super::door::header;
use super::events::{End, Telling};
use super::exchange::{Exchange, Reply};
use super::hearing::Hearing;
use super::peer::Peer;
use super::session::{self, Continued};
use super::state::State;
use super::{settle, tasks};
use crate::control::mcp as operators;
use crate::problem::Problem;

/// How long an answer in one piece is waited for, before it becomes a stream.
const PATIENCE: Duration = Duration::from_secs(1);
/// The same, before it becomes a task.
const TASK_PATIENCE: Duration = Duration::from_millis(300);

pub(super) async fn call(mut exchange: Exchange) -> Result<Reply, Problem> {
    let asked: params::Call = exchange.params()?;
    asked.check()?;
    if exchange.peer.is_control() {
        let called = Box::pin(operators::call(&exchange.peer, &asked.name, asked.arguments.as_deref()));
        return called.await.map(|result| exchange.result(result));
    }
    let catalog = exchange.engine().catalog(exchange.tenant()).await?;
    let skill = catalog.choose_tool(&exchange.peer.principal, &asked.name)?;
    let manifest = &skill.skill().manifest;
    let support = manifest.task_support();
    if exchange.is_stateless() {
        let lookup = |name: &str| header(&exchange.headers, name);
        let checked = wire::check_arguments(manifest.input.as_ref(), asked.arguments.as_deref(), &lookup);
        checked.map_err(|error| Problem::from(error).exactly())?;
        if support == TaskSupport::Required && !exchange.capabilities.tasks {
            return Err(Problem::from(RpcError::missing_capability(&required_tasks())).exactly());
        }
    }
    exchange.listed = Some(Arc::clone(skill.skill()));
    if exchange.is_stateless() {
        let answers: params::Answers = exchange.params()?;
        if let Some(sealed) = &answers.request_state {
            let state = State::opened(&exchange, sealed)?;
            return Box::pin(again(exchange, state, answers.input_responses.unwrap_or_default())).await;
        }
    }
    let invocation = Box::new(Invocation {
        tenant: Arc::clone(exchange.tenant()),
        principal: exchange.peer.principal.clone(),
        input: tool::input(manifest.input.as_ref(), asked.arguments),
        skill,
        message: None,
        context: None,
        alias: None,
        once: None,
        push: None,
        door: Door::Mcp,
    });
    let hearing = Hearing::of(&exchange);
    let ear = hearing.as_ref().map(|hearing| hearing.ear.clone());
    match exchange.engine().answer(invocation, ear, exchange.is_stateless()).await {
        Ok(Answer::Ended(task)) => ended(exchange, task, hearing, support).await,
        Ok(Answer::Going(going)) => Box::pin(goes_on(exchange, going, hearing)).await,
        // What a model has sent wrongly, it can send rightly.
        Err(error @ EngineError::InvalidInput(_)) => {
            let text = error.to_string();
            Ok(exchange.answer(&CallResult::refused(&text, exchange.version, &exchange.server())))
        }
        Err(error) => Err(error.into()),
    }
}

/// A call that was over at once.
async fn ended(
    exchange: Exchange,
    task: Arc<Task>,
    hearing: Option<Hearing>,
    support: TaskSupport,
) -> Result<Reply, Problem> {
    if exchange.capabilities.tasks && support == TaskSupport::Required {
        return Ok(tasks::created(&exchange, &task));
    }
    let said = hearing.as_ref().is_some_and(|hearing| !hearing.said.is_empty());
    let asks = matches!(settle::settled(&exchange, &task), settle::Settled::Asks(_));
    if exchange.streams && (said || (asks && !exchange.is_stateless())) {
        if let Some(call) = noted(&exchange).filter(|_| asks) {
            Box::pin(exchange.engine().note_call(&call, task.id)).await?;
        }
        let (id, end) = (task.id, Box::pin(std::future::ready(Ok(Arc::clone(&task)))) as End);
        let telling = Telling { exchange, task: id, hearing, end, leaving: None, noted: false, after: None };
        return Ok(Reply::Stream(telling.response()).about(&task));
    }
    settle::reply(&exchange, &task).await
}

/// How long a call may take before it is answered with its task; `None`: it never is.
fn waits_as_task(exchange: &Exchange) -> Option<Duration> {
    let support = exchange.listed.as_ref().map_or(TaskSupport::Forbidden, |skill| skill.manifest.task_support());
    match support {
        _ if !exchange.capabilities.tasks => None,
        TaskSupport::Forbidden => None,
        TaskSupport::Required => Some(Duration::ZERO),
        TaskSupport::Optional => Some(TASK_PATIENCE),
    }
}

async fn task_or_result(
    exchange: &Exchange,
    end: End,
    task: &Task,
    patience: Duration,
    leaving: Option<Leaving>,
) -> Result<Reply, Problem> {
    match tokio::time::timeout(patience, end).await {
        Ok(task) => settle::reply(exchange, &*task?).await,
        Err(_) => {
            // From now on it is cancelled by its name.
            leaving.into_iter().for_each(|mut leaving| leaving.stays = true);
            Ok(tasks::created(exchange, task))
        }
    }
}

/// A call that takes longer.
async fn goes_on(exchange: Exchange, going: Going, hearing: Option<Hearing>) -> Result<Reply, Problem> {
    let (recorded, engine) = (Arc::clone(going.task()), exchange.engine().clone());
    // In a session a cancel names the request. Without one, leaving is cancelling.
    let leaving = match noted(&exchange) {
        Some(call) => {
            engine.note_if_it_lasts(call, &going);
            None
        }
        None => Some(Leaving { peer: exchange.peer.clone(), task: recorded.id, stays: false }),
    };
    let end: End = Box::pin(async move { going.ended(&engine).await });
    follows(exchange, &recorded, end, hearing, leaving).await
}

/// The end of a turn in whichever form its client takes: a task, one piece, or a stream.
async fn follows(
    exchange: Exchange,
    recorded: &Task,
    mut end: End,
    hearing: Option<Hearing>,
    leaving: Option<Leaving>,
) -> Result<Reply, Problem> {
    if let Some(patience) = waits_as_task(&exchange) {
        return task_or_result(&exchange, end, recorded, patience, leaving).await;
    }
    if hearing.is_none() {
        let waited = match exchange.streams {
            true => tokio::time::timeout(PATIENCE, &mut end).await.ok(),
            false => Some((&mut end).await),
        };
        if let Some(task) = waited {
            let (task, asks) = (task?, |task: &Task| settle::settled(&exchange, task));
            if exchange.is_stateless() || !exchange.streams || !matches!(asks(&task), settle::Settled::Asks(_)) {
                return settle::reply(&exchange, &task).await;
            }
            end = Box::pin(std::future::ready(Ok(task)));
        }
    }
    let telling = Telling { exchange, task: recorded.id, hearing, end, leaving, noted: false, after: None };
    Ok(Reply::Stream(telling.response()).about(recorded))
}

/// The request as a cancel names it.
pub(super) fn noted(exchange: &Exchange) -> Option<SessionCall> {
    let session = exchange.session()?.id;
    let request = exchange.request.id.get().to_owned();
    Some(SessionCall { tenant: Arc::clone(exchange.tenant()), session, request })
}

/// Cancels what is still running when it is dropped: a task that has ended takes no notice.
pub(super) struct Leaving {
    peer: Peer,
    task: TaskId,
    stays: bool,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if !self.stays {
            self.peer.app.engine.cancel_here(&self.peer.tenant, self.task);
        }
    }
}

/// The same call again, with what the client was asked for.
async fn again(
    exchange: Exchange,
    state: State,
    given: serde_json::Map<String, serde_json::Value>,
) -> Result<Reply, Problem> {
    let (id, turn) = state.task.ok_or_else(|| RpcError::invalid_params("`requestState` is of another call"))?;
    let (engine, tenant) = (exchange.engine().clone(), Arc::clone(exchange.tenant()));
    let task = engine.task(&tenant, &exchange.peer.principal, &id).await?;
    let replies: Vec<_> = given.into_iter().map(|(key, value)| (key, pleat_domain::json::raw(&value))).collect();
    let hearing = Hearing::of(&exchange);
    // Before the turn begins, so that nothing of it is missed.
    let listening = hearing.as_ref().map(|hearing| engine.listen(&tenant, task.id, hearing.ear.clone()));
    let continued = match task.turn == turn && task.state.is_interrupted() {
        true => session::continued(&exchange.peer, task.clone(), &replies, exchange.capabilities).await?,
        // Sent twice: what became of it is the answer.
        false => Continued::Elsewhere,
    };
    let reply = match continued {
        // What this client can serve now may be more than it could before.
        Continued::Waits => settle::reply(&exchange, &task).await,
        Continued::Begun(going) => goes_on(exchange, going, hearing).await,
        Continued::Over | Continued::Elsewhere => {
            let id = task.id;
            let end: End = Box::pin(async move { engine.next_end(&tenant, id, turn).await });
            follows(exchange, &task, end, None, None).await
        }
    };
    drop(listening);
    reply
}
