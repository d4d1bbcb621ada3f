//! Push configurations of a task: `tasks/pushNotification/set` and `get` of 0.1, and what later versions have.

use axum::response::Response;
use pleat_a2a::legacy::{PushParams, TaskParams, push_json};
use pleat_a2a::messages::{self, Dialect, PushView, PushesView};
use pleat_a2a::{Request, jsonrpc};
use pleat_domain::NewPush;
use serde_json::{Value, json};

use super::answer::Wire;
use crate::app::App;
use crate::extract::Visitor;
use crate::problem::Problem;

pub(super) async fn set(
    app: &App,
    visitor: &Visitor,
    request: &Request,
    params: PushParams,
) -> Result<Response, Problem> {
    let PushParams { id, push } = params;
    let kept = app.engine.set_push(&visitor.site.tenant, &visitor.principal, &id, push).await?;
    Ok(super::json(jsonrpc::response(&request.id, &push_json(&id, &kept))))
}

pub(super) async fn get(
    app: &App,
    visitor: &Visitor,
    request: &Request,
    params: &TaskParams,
) -> Result<Response, Problem> {
    let kept = app.engine.push(&visitor.site.tenant, &visitor.principal, &params.id, None).await?;
    Ok(super::json(jsonrpc::response(&request.id, &push_json(&params.id, &kept))))
}

pub(super) async fn keep(
    app: &App,
    visitor: &Visitor,
    params: &messages::PushParams,
    config: NewPush,
    wire: &Wire,
) -> Result<Response, Problem> {
    let kept = app.engine.set_push(&visitor.site.tenant, &visitor.principal, &params.task, config).await?;
    Ok(wire.result(&PushView::new(wire.dialect(), &kept)))
}

pub(super) async fn show(
    app: &App,
    visitor: &Visitor,
    params: &messages::PushParams,
    wire: &Wire,
) -> Result<Response, Problem> {
    let (tenant, id) = (&visitor.site.tenant, params.id.as_deref());
    let kept = app.engine.push(tenant, &visitor.principal, &params.task, id).await?;
    Ok(wire.result(&PushView::new(wire.dialect(), &kept)))
}

pub(super) async fn list(
    app: &App,
    visitor: &Visitor,
    params: &messages::PushParams,
    wire: &Wire,
) -> Result<Response, Problem> {
    let kept = app.engine.pushes(&visitor.site.tenant, &visitor.principal, &params.task).await?;
    Ok(wire.result(&PushesView::new(wire.dialect(), &kept)))
}

/// 0.3 answers nothing, 1.0 an empty message.
pub(super) async fn delete(
    app: &App,
    visitor: &Visitor,
    params: &messages::PushParams,
    wire: &Wire,
) -> Result<Response, Problem> {
    let id = params.id.as_deref().unwrap_or_default();
    app.engine.delete_push(&visitor.site.tenant, &visitor.principal, &params.task, id).await?;
    Ok(wire.result(&if wire.dialect() == Dialect::V1 { json!({}) } else { Value::Null }))
}
