//! The plain HTTP door: JSON in, JSON out; a stream for who asks for one.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderName, HeaderValue, StatusCode};
use pleat_domain::{Artifact, Door, Task, TaskState, json as strict};
use pleat_engine::{Invocation, Skill};
use serde_json::{Value, json};

use crate::app::App;
use crate::extract::{Named, Visitor};
use crate::problem::{Problem, status_of};
use crate::stream_caller::StreamCaller;
use crate::warnings::warned;
use crate::{body, extract, sse};

/// Every answer of this door names the task that the call was.
const TASK_ID: HeaderName = HeaderName::from_static("pleat-task-id");

pub(crate) async fn describe(
    State(app): State<App>,
    visitor: Visitor,
    Named(name): Named,
) -> Result<Response, Problem> {
    let catalog = app.engine.catalog(&visitor.site.tenant).await?;
    let callable = catalog.choose(&visitor.principal, Some(&name))?;
    Ok(Json(description(callable.skill(), &visitor.site.base_url)).into_response())
}

pub(crate) async fn call(
    State(app): State<App>,
    visitor: Visitor,
    Named(name): Named,
    request: Request,
) -> Result<Response, Problem> {
    let (Parts { headers, .. }, sent) = request.into_parts();
    let catalog = app.engine.catalog(&visitor.site.tenant).await?;
    let skill = catalog.choose(&visitor.principal, Some(&name))?;
    let bytes = body::read_json(&headers, sent, app.config.request_body).await?;
    let text = String::from_utf8(bytes.into()).map_err(|_| Problem::invalid("the body is not UTF-8"))?;
    let caller = sse::wants_stream(&headers).then(|| StreamCaller::visitor(&app, &visitor, &headers)).transpose()?;
    let input =
        strict::checked(text).map_err(|fault| Problem::invalid(format!("the body cannot be taken: {fault}")))?;
    let invocation = Box::new(Invocation {
        tenant: visitor.site.tenant,
        principal: visitor.principal,
        skill,
        input,
        message: None,
        context: None,
        alias: None,
        once: extract::idempotency_key(&headers)?,
        push: None,
        door: Door::Http,
    });
    if let Some(caller) = caller {
        return Box::pin(stream(&app, invocation, caller)).await;
    }
    let task = app.engine.send(invocation).await?;
    // Who takes JSON as gladly as text gets JSON.
    let as_text = sse::quality(&headers, "text/plain") > sse::quality(&headers, "application/json");
    Ok(answer(&task, as_text))
}

async fn stream(app: &App, invocation: Box<Invocation>, caller: StreamCaller) -> Result<Response, Problem> {
    let (task, events) = app.engine.start(invocation).await?;
    let write = |event: &pleat_domain::Event| serde_json::to_string(&public(event)?).ok();
    let mut response = sse::response(None, caller.watch(events), write, |problem| problem.into_text());
    response.headers_mut().insert(TASK_ID, task_id(&task));
    Ok(warned(response, &task))
}

/// An event without what belongs to the owner alone; nothing where all of it does.
fn public(event: &pleat_domain::Event) -> Option<pleat_domain::Event> {
    let mut event = event.clone();
    match &mut event.body {
        pleat_domain::EventBody::Status(change) => {
            if let Some(failure) = &mut change.failure {
                failure.detail = None;
            }
            if let Some(ask) = &mut change.ask {
                ask.state = None;
            }
        }
        pleat_domain::EventBody::Artifact(chunk) => chunk.artifact.blocks.retain(pleat_domain::Block::is_public),
        pleat_domain::EventBody::Progress(_) => {}
        pleat_domain::EventBody::Step(_) => return None,
    }
    Some(event)
}

fn answer(task: &Task, as_text: bool) -> Response {
    let mut response = match task.state {
        TaskState::Completed => result(task, as_text),
        TaskState::InputRequired | TaskState::AuthRequired => waiting(task),
        _ => failure(task),
    };
    response.headers_mut().insert(TASK_ID, task_id(task));
    warned(response, task)
}

fn result(task: &Task, as_text: bool) -> Response {
    let last = task.artifacts.last();
    match last {
        None => Json(Value::Null).into_response(),
        Some(Artifact { value: Some(value), .. }) => {
            if as_text {
                let text = serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| value.get().to_owned());
                return ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response();
            }
            ([(CONTENT_TYPE, "application/json")], value.get().to_owned()).into_response()
        }
        Some(Artifact { blocks, .. }) => {
            let shown: Vec<_> = blocks.iter().filter(|block| block.is_public()).collect();
            if let ([pleat_domain::Block::Text { text, .. }], true) = (shown.as_slice(), as_text) {
                return ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text.clone()).into_response();
            }
            Json(json!({ "content": shown })).into_response()
        }
    }
}

/// This door has no conversation: it says where the task can be continued.
fn waiting(task: &Task) -> Response {
    let prompt = task.ask.as_ref().map(|ask| ask.prompt.as_str()).unwrap_or_default();
    let schema = task.ask.as_ref().and_then(|ask| ask.schema.as_ref());
    let error = json!({
        "code": task.state.as_str(),
        "message": prompt,
        "hint": format!("continue the task over A2A: `tasks/send` with `id` `{}`", task.id),
        "schema": schema,
    });
    (StatusCode::CONFLICT, Json(json!({ "error": error, "taskId": task.id, "reason": task.state.as_str() })))
        .into_response()
}

fn failure(task: &Task) -> Response {
    let Some(failure) = &task.failure else {
        let text = format!("the task was {}", task.state.as_str());
        let error = json!({ "code": task.state.as_str(), "message": text });
        let body = json!({ "error": error, "taskId": task.id, "reason": task.state.as_str() });
        return (StatusCode::CONFLICT, Json(body)).into_response();
    };
    let rejected = task.state == TaskState::Rejected;
    let reason = if rejected { "rejected" } else { failure.reason.as_str() };
    let mut error = json!({ "code": failure.code.as_deref().unwrap_or(reason), "message": failure.message });
    if let (Some(details), Some(error)) = (&failure.details, error.as_object_mut()) {
        error.insert("details".to_owned(), details.clone());
    }
    let body = json!({ "error": error, "taskId": task.id, "reason": reason, "retryable": failure.retryable });
    let mut response = (status_of(failure), Json(body)).into_response();
    if failure.retryable {
        response.headers_mut().insert(http::header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn task_id(task: &Task) -> HeaderValue {
    HeaderValue::from_str(&task.id.to_string()).unwrap_or(HeaderValue::from_static(""))
}

fn description(skill: &Skill, base_url: &str) -> Value {
    json!({
        "name": skill.name,
        "title": skill.manifest.title,
        "description": skill.manifest.description,
        "version": skill.version,
        "visibility": skill.grants.visibility,
        "tags": skill.manifest.tags,
        "input": skill.manifest.input,
        "output": skill.manifest.output,
        "examples": skill.manifest.examples,
        "call": { "method": "POST", "url": format!("{base_url}/{}", skill.name), "contentType": "application/json" },
    })
}
