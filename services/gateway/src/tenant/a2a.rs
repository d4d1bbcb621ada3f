//! The A2A door: one URL, told apart by method name.
//!
//! `tasks/*` is the documented family with 0.1's messages; later families take their place beside it in `route`.

mod push;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use pleat_a2a::legacy::{EventStream as Codec, PushParams, SendParams, TaskHeader, TaskParams, task_json};
use pleat_a2a::{Request, jsonrpc};
use pleat_domain::{Block, Door, Message, Raw, Task};
use pleat_engine::{EventStream, Invocation, Turn};
use serde_json::value::RawValue;

use crate::app::App;
use crate::extract::{self, Visitor};
use crate::problem::Problem;
use crate::{body, sse};

pub(crate) async fn serve(
    State(app): State<App>,
    visitor: Result<Visitor, Problem>,
    headers: HeaderMap,
    sent: Body,
) -> Response {
    let bytes = match body::read_json(&headers, sent, app.config.request_body).await {
        Ok(bytes) => bytes,
        Err(problem) => return problem.into_rpc(RawValue::NULL),
    };
    let request = match Request::parse(&bytes) {
        Ok(request) => request,
        Err(fault) => return json(fault.body()),
    };
    let served = match visitor {
        Ok(visitor) => route(&app, visitor, &headers, &request).await,
        Err(problem) => Err(problem),
    };
    served.unwrap_or_else(|problem| problem.into_rpc(&request.id))
}

async fn route(app: &App, visitor: Visitor, headers: &HeaderMap, request: &Request) -> Result<Response, Problem> {
    let params = request.params.as_deref();
    match request.method.as_str() {
        "tasks/send" => send(app, visitor, headers, request, SendParams::parse(params)?).await,
        "tasks/sendSubscribe" => subscribe(app, visitor, headers, request, SendParams::parse(params)?).await,
        "tasks/get" => get(app, &visitor, request, &TaskParams::parse(params)?).await,
        "tasks/cancel" => cancel(app, &visitor, request, &TaskParams::parse(params)?).await,
        "tasks/resubscribe" => resubscribe(app, &visitor, headers, request, &TaskParams::parse(params)?).await,
        "tasks/pushNotification/set" => push::set(app, &visitor, request, PushParams::parse(params)?).await,
        "tasks/pushNotification/get" => push::get(app, &visitor, request, &TaskParams::parse(params)?).await,
        method => Err(Problem::method_not_found(method)),
    }
}

async fn send(
    app: &App,
    visitor: Visitor,
    headers: &HeaderMap,
    request: &Request,
    params: SendParams,
) -> Result<Response, Problem> {
    let history = params.history_length;
    let task = match translate(app, visitor, headers, params).await? {
        Sent::New(invocation) => app.engine.send(*invocation).await?,
        Sent::Later(turn) => app.engine.send_turn(*turn).await?,
    };
    Ok(json(jsonrpc::response(&request.id, &task_json(&task, history))))
}

async fn subscribe(
    app: &App,
    visitor: Visitor,
    headers: &HeaderMap,
    request: &Request,
    params: SendParams,
) -> Result<Response, Problem> {
    let (task, events) = match translate(app, visitor, headers, params).await? {
        Sent::New(invocation) => app.engine.start(*invocation).await?,
        Sent::Later(turn) => app.engine.start_turn(*turn).await?,
    };
    Ok(stream(request.id.clone(), Codec::new(TaskHeader::of(&task)), events, 0))
}

async fn get(app: &App, visitor: &Visitor, request: &Request, params: &TaskParams) -> Result<Response, Problem> {
    let task = app.engine.task(&visitor.site.tenant, &visitor.principal, &params.id).await?;
    Ok(json(jsonrpc::response(&request.id, &task_json(&task, params.history_length))))
}

async fn cancel(app: &App, visitor: &Visitor, request: &Request, params: &TaskParams) -> Result<Response, Problem> {
    let task = app.engine.cancel(&visitor.site.tenant, &visitor.principal, &params.id).await?;
    Ok(json(jsonrpc::response(&request.id, &task_json(&task, params.history_length))))
}

/// From the first event, or behind the last that the client has seen.
async fn resubscribe(
    app: &App,
    visitor: &Visitor,
    headers: &HeaderMap,
    request: &Request,
    params: &TaskParams,
) -> Result<Response, Problem> {
    let seen = sse::last_event_id(headers)?.unwrap_or(0);
    let task = app.engine.task(&visitor.site.tenant, &visitor.principal, &params.id).await?;
    // The codec numbers artifacts in the order they began, so it reads from the start and shows from there on.
    let events = app.engine.events(&visitor.site.tenant, &task, 0);
    Ok(stream(request.id.clone(), Codec::new(TaskHeader::of(&task)), events, seen))
}

fn stream(id: Raw, mut codec: Codec, events: EventStream, seen: u32) -> Response {
    let failed = id.clone();
    let write = move |event: &pleat_domain::Event| {
        if event.seq <= seen {
            codec.skip(event);
            return None;
        }
        let view = codec.event_json(event)?;
        String::from_utf8(jsonrpc::response(&id, &view)).ok()
    };
    sse::response(events, write, move |problem| problem.into_rpc_text(&failed))
}

enum Sent {
    New(Box<Invocation>),
    Later(Box<Turn>),
}

/// An id that names a task of this caller continues it; any other begins one.
async fn translate(app: &App, visitor: Visitor, headers: &HeaderMap, params: SendParams) -> Result<Sent, Problem> {
    let Visitor { site, principal } = visitor;
    let keyed = principal != pleat_domain::Principal::Anonymous;
    if let Some(id) = &params.id
        && let Some(task) = app.engine.task_by_alias(&site.tenant, &principal, id).await?
    {
        return later(site.tenant, principal, task, headers, params);
    }
    if params.id.as_deref().is_some_and(|id| id.parse::<pleat_domain::TaskId>().is_ok()) {
        return Err(pleat_engine::EngineError::TaskNotFound.into());
    }
    let catalog = app.engine.catalog(&site.tenant).await?;
    let skill = catalog.choose(&principal, params.skill.as_deref())?;
    let schema = skill.skill().manifest.input.as_ref();
    let (input, message) = params.input.into_call(schema).map_err(|fault| Problem::invalid(fault.to_string()))?;
    // An id that the client chose makes the send happen once by itself: sent again, it continues the task.
    let once = if params.id.is_some() { None } else { extract::once(headers, message.as_ref())? };
    Ok(Sent::New(Box::new(Invocation {
        tenant: site.tenant,
        principal,
        skill,
        input,
        message,
        context: params.session_id,
        // Whoever has no key reaches a task by an id that nobody can guess, which is ours.
        alias: params.id.filter(|_| keyed),
        once,
        push: params.push,
        door: Door::A2a01,
    })))
}

fn later(
    tenant: std::sync::Arc<pleat_domain::Tenant>,
    principal: pleat_domain::Principal,
    task: Task,
    headers: &HeaderMap,
    params: SendParams,
) -> Result<Sent, Problem> {
    let schema =
        task.ask.as_ref().and_then(|ask| ask.schema.as_ref()).and_then(|raw| serde_json::from_str(raw.get()).ok());
    let (input, message) =
        params.input.into_answer(schema.as_ref()).map_err(|fault| Problem::invalid(fault.to_string()))?;
    let once = extract::once(headers, message.as_ref())?;
    let message = message.unwrap_or_else(|| plain_message(&task, &input));
    Ok(Sent::Later(Box::new(Turn { tenant, principal, task, input, message, once, push: params.push })))
}

fn plain_message(task: &Task, input: &Raw) -> Message {
    Message::user(format!("{}-{}", task.id, task.history.len() + 1), vec![Block::of_input(input)])
}

fn json(body: Vec<u8>) -> Response {
    ([(CONTENT_TYPE, "application/json")], Bytes::from(body)).into_response()
}
