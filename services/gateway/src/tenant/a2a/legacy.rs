//! The documented family, `tasks/send` and its company, and the methods whose names 0.1 and 0.3 share.
//!
//! A task that this family made is answered in the union of both shapes; any other in that of 0.3.

use axum::response::Response;
use http::HeaderMap;
use pleat_a2a::legacy::{EventStream as Codec, PushParams, SendParams, TaskHeader, TaskParams, task_json};
use pleat_a2a::messages::{Dialect, Show, TaskView};
use pleat_a2a::method::Operation;
use pleat_a2a::{Request, jsonrpc};
use pleat_domain::{Door, Raw, Task};
use pleat_engine::{Begun, EventStream, Until, one_turn};

use super::answer::Wire;
use super::sending::{Named, Sending, Sent, translate};
use super::{json, messages, push};
use crate::app::App;
use crate::extract::Visitor;
use crate::problem::{Problem, Words};
use crate::sse;
use crate::stream_caller::StreamCaller;
use crate::warnings::warned;

pub(super) async fn serve(
    app: &App,
    visitor: Visitor,
    headers: &HeaderMap,
    request: &Request,
    operation: Operation,
) -> Result<Response, Problem> {
    let params = request.params.as_deref();
    match operation {
        Operation::Send => send(app, visitor, headers, request, SendParams::parse(params)?).await,
        Operation::Stream => Box::pin(subscribe(app, visitor, headers, request, SendParams::parse(params)?)).await,
        Operation::SetPush => Box::pin(push::set(app, &visitor, request, PushParams::parse(params)?)).await,
        Operation::GetPush => Box::pin(push::get(app, &visitor, request, &TaskParams::parse(params)?)).await,
        _ => Err(Problem::method_not_found(&request.method)),
    }
}

pub(super) async fn shared(
    app: &App,
    visitor: Visitor,
    headers: &HeaderMap,
    request: &Request,
    operation: Operation,
) -> Result<Response, Problem> {
    let params = TaskParams::parse(request.params.as_deref())?;
    app.engine.may_ask(&visitor.site.tenant, &visitor.principal).await?;
    let (tenant, principal) = (&visitor.site.tenant, &visitor.principal);
    match operation {
        Operation::Get => {
            let task = app.engine.current_task(tenant, principal, &params.id).await?;
            Ok(answer(request, &task, params.history_length))
        }
        Operation::Cancel => {
            let task = app.engine.cancel(tenant, principal, &params.id).await?;
            Ok(answer(request, &task, params.history_length))
        }
        Operation::Subscribe => match resubscribe(app, &visitor, headers, request, &params).await {
            Err(problem) => Wire::rpc(request.id.clone(), Dialect::V03).refused(headers, problem),
            stream => stream,
        },
        _ => Err(Problem::method_not_found(&request.method)),
    }
}

async fn send(
    app: &App,
    visitor: Visitor,
    headers: &HeaderMap,
    request: &Request,
    params: SendParams,
) -> Result<Response, Problem> {
    app.engine.may_ask(&visitor.site.tenant, &visitor.principal).await?;
    let history = params.history_length;
    let task = match translate(app, visitor, headers, sending(params)).await? {
        Sent::New(invocation) => app.engine.send(invocation).await?,
        Sent::Later(turn) => Box::pin(app.engine.send_turn(*turn)).await?,
        Sent::Unclear(question) => Box::pin(app.engine.ask_for_skill(*question)).await?,
    };
    Problem::if_blocked(&task)?;
    Ok(warned(json(jsonrpc::response(&request.id, &task_json(&task, history))), &task))
}

async fn subscribe(
    app: &App,
    visitor: Visitor,
    headers: &HeaderMap,
    request: &Request,
    params: SendParams,
) -> Result<Response, Problem> {
    app.engine.may_ask(&visitor.site.tenant, &visitor.principal).await?;
    let (tenant, caller) = (visitor.site.tenant.clone(), StreamCaller::visitor(app, &visitor, headers)?);
    let (task, events) = match translate(app, visitor, headers, sending(params)).await? {
        Sent::New(invocation) => app.engine.start(invocation).await?,
        Sent::Later(turn) => {
            let Begun { task, events, .. } = app.engine.start_turn(*turn).await?;
            (task, events)
        }
        Sent::Unclear(question) => {
            let task = app.engine.ask_for_skill(*question).await?;
            let events = one_turn(app.engine.events(&tenant, &task, 0, Until::TurnEnds));
            (task, events)
        }
    };
    let events = caller.watch(events);
    Ok(warned(stream(request.id.clone(), Codec::new(TaskHeader::of(&task)), events, 0), &task))
}

fn sending(params: SendParams) -> Box<Sending> {
    Box::new(Sending {
        skill: params.skill,
        input: params.input,
        task: params.id.map(Named::Chosen),
        context: params.session_id,
        push: params.push,
        door: Door::A2a01,
    })
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
    if task.door != Door::A2a01 {
        let wire = Wire::rpc(request.id.clone(), Dialect::V03);
        return messages::subscribe(app, visitor, headers, &params.id, wire).await;
    }
    // The codec numbers artifacts in the order they began, so it reads from the start and shows from there on.
    let events = app.engine.events(&visitor.site.tenant, &task, 0, Until::TurnEnds);
    let events = StreamCaller::visitor(app, visitor, headers)?.watch(events);
    Ok(stream(request.id.clone(), Codec::new(TaskHeader::of(&task)), events, seen))
}

fn answer(request: &Request, task: &Task, history_length: Option<u32>) -> Response {
    let answer = match task.door {
        Door::A2a01 => json(jsonrpc::response(&request.id, &task_json(task, history_length))),
        _ => json(jsonrpc::response(&request.id, &TaskView::new(Dialect::V03, task, Show::whole(history_length)))),
    };
    warned(answer, task)
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
    sse::response(None, events, write, move |problem| problem.into_rpc_text(&failed, Words::Plain))
}
