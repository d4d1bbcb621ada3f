//! `tasks/pushNotification/set` and `get`.

use axum::response::Response;
use pleat_a2a::legacy::{PushParams, TaskParams, push_json};
use pleat_a2a::{Request, jsonrpc};

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
