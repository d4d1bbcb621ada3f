//! `tools/call`: a function is called, as a task like every other call.
//!
//! What is over within a moment is answered in one piece. Everything else is a task that goes on: for a client that knows
//! tasks it is one, for another it is a stream, or an answer that takes its time.

use std::sync::Arc;
use std::time::Duration;

use pleat_domain::{Door, SessionId, Task, TaskId, TaskSupport};
use pleat_engine::{Answer, Ear, Engine, EngineError, Going, Invocation};
use pleat_mcp::capabilities::required_tasks;
use pleat_mcp::result::CallResult;
use pleat_mcp::{RpcError, headers as wire, params, tool};

use super::door::header;
use super::events::{End, Hearing, Telling};
use super::exchange::{Exchange, Reply};
use super::peer::Peer;
use super::state::State;
use super::{session, settle, tasks};
use crate::control::mcp as operators;
use crate::problem::Problem;

/// How long an answer in one piece is waited for, before it becomes a stream.
const PATIENCE: Duration = Duration::from_secs(1);
/// The same, before it becomes a task.
const TASK_PATIENCE: Duration = Duration::from_millis(300);

pub(super) async fn call(mut exchange: Exchange) -> Result<Reply, Problem> {
    let asked: params::Call = exchange.params()?;
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
    let invocation = Invocation {
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
    };
    let hearing = hearing(&exchange);
    let ear = hearing.as_ref().map(|hearing| hearing.ear.clone());
    match exchange.engine().answer(invocation, ear, exchange.is_stateless()).await {
        Ok(Answer::Ended(task)) => ended(exchange, task, hearing, support).await,
        Ok(Answer::Going(going)) => Box::pin(goes_on(exchange, going, hearing)).await,
        // What a model has sent wrongly, it can send rightly.
        Err(error @ EngineError::InvalidInput(_)) => {
            let text = error.to_string();
            Ok(exchange.answer(&CallResult::refused(&text, exchange.version, &exchange.peer.server())))
        }
        Err(error) => Err(error.into()),
    }
}

/// Somebody listens where there is something to hear and a stream to say it on.
fn hearing(exchange: &Exchange) -> Option<Hearing> {
    let logs = exchange.listed.as_ref().is_some_and(|skill| exchange.may_hear(skill));
    let wanted = exchange.streams && (logs || exchange.progress_token.is_some());
    wanted.then(|| {
        let (ear, said) = Ear::new();
        Hearing { ear, said }
    })
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
        let (id, end) = (task.id, Box::pin(std::future::ready(Ok(Arc::clone(&task)))) as End);
        return Ok(Reply::Stream(Telling { exchange, task: id, hearing, end, guard: None }.response()).about(&task));
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

async fn task_or_result(exchange: &Exchange, end: End, task: &Task, patience: Duration) -> Result<Reply, Problem> {
    match tokio::time::timeout(patience, end).await {
        Ok(task) => settle::reply(exchange, &*task?).await,
        Err(_) => Ok(tasks::created(exchange, task)),
    }
}

/// A call that takes longer.
async fn goes_on(exchange: Exchange, going: Going, hearing: Option<Hearing>) -> Result<Reply, Problem> {
    let recorded = Arc::clone(going.task());
    let engine = exchange.engine().clone();
    let mut end: End = Box::pin(async move { going.ended(&engine).await });
    if let Some(patience) = waits_as_task(&exchange) {
        return task_or_result(&exchange, end, &recorded, patience).await;
    }
    let guard = guard(&exchange, recorded.id).await?;
    if hearing.is_none() {
        let waited = match exchange.streams {
            true => tokio::time::timeout(PATIENCE, &mut end).await.ok(),
            false => Some((&mut end).await),
        };
        if let Some(task) = waited {
            let (task, asks) = (task?, |task: &Task| settle::settled(&exchange, task));
            if exchange.is_stateless() || !exchange.streams || !matches!(asks(&task), settle::Settled::Asks(_)) {
                drop(guard);
                return settle::reply(&exchange, &task).await;
            }
            end = Box::pin(std::future::ready(Ok(task)));
        }
    }
    Ok(Reply::Stream(Telling { exchange, task: recorded.id, hearing, end, guard }.response()).about(&recorded))
}

/// What must happen when the answer is over, or its client gone: in a session the request is forgotten; without one,
/// leaving is cancelling.
async fn guard(exchange: &Exchange, task: TaskId) -> Result<Option<Box<dyn Send>>, Problem> {
    match exchange.session() {
        Some(session) => {
            let request = exchange.request.id.get().to_owned();
            exchange.engine().begin_session_call(exchange.tenant(), session.id, &request, task).await?;
            Ok(Some(Box::new(Noted { peer: exchange.peer.clone(), session: session.id, request })))
        }
        None => Ok(Some(Box::new(Leaving { peer: exchange.peer.clone(), task }))),
    }
}

struct Noted {
    peer: Peer,
    session: SessionId,
    request: String,
}

impl Drop for Noted {
    fn drop(&mut self) {
        let (peer, session, request) = (self.peer.clone(), self.session, std::mem::take(&mut self.request));
        tokio::spawn(async move {
            // A session that is gone has taken its requests with it.
            let _ = engine(&peer).end_session_call(&peer.tenant, session, &request).await;
        });
    }
}

/// Cancels what is still running: a task that has ended takes no notice.
struct Leaving {
    peer: Peer,
    task: TaskId,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        engine(&self.peer).cancel_here(&self.peer.tenant, self.task);
    }
}

fn engine(peer: &Peer) -> &Engine {
    &peer.app.engine
}

/// The same call again, with what the client was asked for.
async fn again(
    exchange: Exchange,
    state: State,
    given: serde_json::Map<String, serde_json::Value>,
) -> Result<Reply, Problem> {
    let (id, turn) = state.task.clone().ok_or_else(|| RpcError::invalid_params("`requestState` is of another call"))?;
    let (engine, tenant) = (exchange.engine().clone(), Arc::clone(exchange.tenant()));
    let task = engine.task(&tenant, &exchange.peer.principal, &id).await?;
    if task.turn != turn || !task.state.is_interrupted() {
        // Sent twice: what became of it is the answer.
        let task = engine.next_end(&tenant, task.id, turn).await?;
        return settle::reply(&exchange, &task).await;
    }
    let replies: Vec<_> = given.into_iter().map(|(key, value)| (key, pleat_domain::json::raw(&value))).collect();
    let (id, asked) = (task.id, state.keys);
    let complete = asked.iter().all(|key| replies.iter().any(|(given, _)| given == key));
    session::continued(&exchange.peer, task.clone(), &replies, exchange.capabilities).await?;
    if !complete {
        return settle::reply(&exchange, &task).await;
    }
    let end: End = Box::pin(async move { engine.next_end(&tenant, id, turn).await });
    match waits_as_task(&exchange) {
        None => settle::reply(&exchange, &*end.await?).await,
        Some(patience) => task_or_result(&exchange, end, &task, patience).await,
    }
}
