//! The methods of 0.3 and 1.0, for JSON-RPC and for the HTTP+JSON binding alike.

use axum::response::Response;
use http::HeaderMap;
use pleat_a2a::Shape;
use pleat_a2a::messages::{Call, Dialect, ListParams, PageView, SendParams, SentView, Show, TaskParams, TaskView};
use pleat_engine::{Begun, ListQuery, Until, one_turn};

use super::answer::Wire;
use super::push;
use super::sending::{Named, Sending, Sent, translate};
use crate::app::App;
use crate::extract::Visitor;
use crate::problem::Problem;
use crate::sse;
use crate::stream_caller::StreamCaller;
use crate::tenant::card;
use crate::warnings::warned;

/// All but the plain send are boxed, so that it need not carry the room for them.
pub(super) async fn perform(
    app: &App,
    visitor: Visitor,
    headers: &HeaderMap,
    call: Call,
    wire: Wire,
) -> Result<Response, Problem> {
    if call.tenant().is_some_and(|named| named != visitor.site.tenant.slug.as_str()) {
        return Err(Problem::other_tenant());
    }
    app.engine.may_ask(&visitor.site.tenant, &visitor.principal).await?;
    match call {
        Call::Send(params) => send(app, visitor, headers, params, wire).await,
        Call::Stream(params) => Box::pin(stream(app, visitor, headers, params, wire)).await,
        Call::Get(params) => Box::pin(get(app, &visitor, &params, &wire)).await,
        Call::List(params) => Box::pin(list(app, &visitor, params, &wire)).await,
        Call::Cancel(params) => Box::pin(cancel(app, &visitor, &params, &wire)).await,
        Call::Subscribe(params) => Box::pin(subscribe(app, &visitor, headers, &params.id, wire)).await,
        Call::SetPush(params, config) => Box::pin(push::keep(app, &visitor, &params, config, &wire)).await,
        Call::GetPush(params) => Box::pin(push::show(app, &visitor, &params, &wire)).await,
        Call::ListPushes(params) => Box::pin(push::list(app, &visitor, &params, &wire)).await,
        Call::DeletePush(params) => Box::pin(push::delete(app, &visitor, &params, &wire)).await,
        Call::ExtendedCard { .. } => Box::pin(extended_card(app, &visitor, &wire)).await,
    }
}

async fn send(
    app: &App,
    visitor: Visitor,
    headers: &HeaderMap,
    params: Box<SendParams>,
    wire: Wire,
) -> Result<Response, Problem> {
    let (show, wait) = (Show::whole(params.history_length), params.wait);
    // Who is told of a task wants one.
    let to_end = wait && params.push.is_none();
    let task = match translate(app, visitor, headers, sending(params, &wire)).await? {
        Sent::New(invocation) if wait => app.engine.send(invocation).await?,
        Sent::New(invocation) => Box::pin(app.engine.start(invocation)).await?.0,
        Sent::Later(turn) if wait => Box::pin(app.engine.send_turn(*turn)).await?,
        Sent::Later(turn) => Box::pin(app.engine.start_turn(*turn)).await?.task,
        Sent::Unclear(question) => Box::pin(app.engine.ask_for_skill(*question)).await?,
    };
    Problem::if_blocked(&task)?;
    let view = match to_end {
        true => SentView::of_end(wire.dialect(), &task, show),
        false => SentView::new(wire.dialect(), &task, show),
    };
    Ok(warned(wire.result(&view), &task))
}

/// The task as it was before the turn, then everything that the turn brings.
async fn stream(
    app: &App,
    visitor: Visitor,
    headers: &HeaderMap,
    params: Box<SendParams>,
    wire: Wire,
) -> Result<Response, Problem> {
    let (show, tenant) = (Show::whole(params.history_length), visitor.site.tenant.clone());
    let caller = StreamCaller::visitor(app, &visitor, headers)?;
    let (first, events) = match translate(app, visitor, headers, sending(params, &wire)).await? {
        Sent::New(invocation) => {
            let (task, events) = app.engine.start(invocation).await?;
            (task.before_events(), events)
        }
        Sent::Later(turn) => {
            let Begun { task, after, events } = app.engine.start_turn(*turn).await?;
            (app.engine.before_turn(&tenant, &task, after).await?, events)
        }
        Sent::Unclear(question) => {
            let task = app.engine.ask_for_skill(*question).await?;
            (task.before_events(), one_turn(app.engine.events(&tenant, &task, 0, Until::TurnEnds)))
        }
    };
    Ok(warned(wire.stream(&first, Some((&first, show)), caller.watch(events)), &first))
}

fn sending(params: Box<SendParams>, wire: &Wire) -> Box<Sending> {
    Box::new(Sending {
        skill: params.skill,
        input: params.input,
        task: params.task.map(Named::Existing),
        context: params.context,
        push: params.push,
        door: wire.dialect().door(),
    })
}

async fn get(app: &App, visitor: &Visitor, params: &TaskParams, wire: &Wire) -> Result<Response, Problem> {
    let task = app.engine.current_task(&visitor.site.tenant, &visitor.principal, &params.id).await?;
    Ok(warned(wire.result(&TaskView::new(wire.dialect(), &task, Show::whole(params.history_length))), &task))
}

async fn cancel(app: &App, visitor: &Visitor, params: &TaskParams, wire: &Wire) -> Result<Response, Problem> {
    let task = app.engine.cancel(&visitor.site.tenant, &visitor.principal, &params.id).await?;
    Ok(wire.result(&TaskView::new(wire.dialect(), &task, Show::whole(params.history_length))))
}

async fn list(app: &App, visitor: &Visitor, params: ListParams, wire: &Wire) -> Result<Response, Problem> {
    let show = Show { history: params.history_length, artifacts: params.artifacts };
    let query = ListQuery {
        context: params.context,
        state: params.state,
        since: params.since,
        size: params.page_size,
        token: params.page_token,
        artifacts: params.artifacts,
        history: params.history_length != Some(0),
    };
    let page = app.engine.visible_tasks(&visitor.site.tenant, &visitor.principal, query).await?;
    let (next, size) = (page.next.as_deref(), params.page_size);
    Ok(wire.result(&PageView::new(wire.dialect(), &page.tasks, show, next, size, page.total)))
}

/// The task as it is, then what follows: in 0.3 to the end of a turn, in 1.0 to that of the task. Who names the last
/// event that it has seen gets exactly what follows that one, also of a task that is over.
pub(super) async fn subscribe(
    app: &App,
    visitor: &Visitor,
    headers: &HeaderMap,
    id: &str,
    wire: Wire,
) -> Result<Response, Problem> {
    let (tenant, seen) = (&visitor.site.tenant, sse::last_event_id(headers)?);
    let caller = StreamCaller::visitor(app, visitor, headers)?;
    let task = app.engine.task(tenant, &visitor.principal, id).await?;
    let dialect = wire.dialect();
    if let Some(seen) = seen {
        let until = if dialect == Dialect::V1 { Until::TaskEnds } else { Until::TurnEnds };
        let events = app.engine.events(tenant, &task, seen, until);
        return Ok(wire.stream(&task, None, caller.watch(events)));
    }
    if task.state.is_terminal() && dialect == Dialect::V1 {
        return Err(Problem::nothing_to_follow(task.state.as_str()));
    }
    let now = app.engine.snapshot(tenant, task).await?;
    let events = app.engine.events(tenant, &now, now.last_seq, Until::TaskEnds);
    let events = if dialect == Dialect::V1 { events } else { one_turn(events) };
    Ok(wire.stream(&now, Some((&now, Show::whole(None))), caller.watch(events)))
}

/// A client of 1.0 gets nothing that it does not know.
async fn extended_card(app: &App, visitor: &Visitor, wire: &Wire) -> Result<Response, Problem> {
    let shape = if wire.dialect() == Dialect::V1 { Shape::Pure } else { Shape::Hybrid };
    Ok(wire.result(&card::extended(app, visitor, shape).await?))
}
