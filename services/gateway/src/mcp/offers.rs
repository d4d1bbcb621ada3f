//! Resources that are read, prompts that are got, and completions: from functions, from what is known of them, and from
//! tasks.

use std::sync::Arc;

use pleat_domain::{ClientKind, ClientRequest, Raw, json};
use pleat_engine::{Callable, EngineError, Offer, TaskQuery, Wanted};
use pleat_mcp::capabilities::required;
use pleat_mcp::resource::Place;
use pleat_mcp::{RpcError, client, completion, error as codes, params, prompt, resource};
use serde_json::{Map, Value, json};

use super::exchange::{Exchange, Reply};
use super::settle;
use super::state::State;
use crate::problem::Problem;

pub(super) async fn read(exchange: &Exchange) -> Result<Reply, Problem> {
    let asked: params::Uri = exchange.params()?;
    let uri = asked.uri.as_str();
    match Place::of(uri) {
        Place::Docs(name) => {
            let skill = named(exchange, name).await?.ok_or_else(|| not_found(exchange, uri))?;
            let skill = skill.skill();
            Ok(exchange.cacheable(resource::docs(uri, &skill.tool_name(), &skill.manifest)))
        }
        Place::Task(id) => {
            let task = exchange.engine().task(exchange.tenant(), &exchange.peer.principal, id).await;
            let task = task.map_err(|error| match error {
                EngineError::TaskNotFound => not_found(exchange, uri),
                error => error.into(),
            })?;
            // What was said since the turn began is in its events only.
            let task = exchange.engine().snapshot(exchange.tenant(), task).await?;
            Ok(exchange.cacheable(resource::task(uri, &task)))
        }
        Place::Offered => {
            let skill = offering(exchange, uri).await?.ok_or_else(|| not_found(exchange, uri))?;
            let wanted = Wanted::Resource { uri: uri.to_owned() };
            let given =
                taken(exchange, skill, wanted).await.map_err(|problem| problem.unless_offered(exchange, uri))?;
            finished(exchange, given, "contents")
        }
    }
}

pub(super) async fn prompt(exchange: &Exchange) -> Result<Reply, Problem> {
    let asked: params::Prompt = exchange.params()?;
    let arguments = asked.arguments.unwrap_or_default();
    let unknown = || RpcError::invalid_params(format!("unknown prompt `{}`", shown(&asked.name)));
    let catalog = exchange.engine().catalog(exchange.tenant()).await?;
    let offering = catalog.callable(&exchange.peer.principal).find_map(|callable| {
        let prompt = prompt::offered(&callable.skill().manifest, &asked.name)?.clone();
        Some((callable, prompt))
    });
    if let Some((skill, offered)) = offering {
        if let Some(missing) = prompt::missing(&offered, &arguments) {
            return Err(RpcError::invalid_params(format!("the argument `{missing}` is missing")).into());
        }
        let wanted = Wanted::Prompt { name: asked.name.clone(), arguments: json::raw(&arguments) };
        return finished(exchange, taken(exchange, skill, wanted).await?, "messages");
    }
    let used = prompt::used(&asked.name).ok_or_else(unknown)?;
    let skill = named(exchange, used).await?.ok_or_else(unknown)?;
    let request = arguments.get(prompt::REQUEST).and_then(Value::as_str);
    let skill = skill.skill();
    Ok(exchange.result(prompt::usage(&skill.tool_name(), &skill.manifest, request)))
}

pub(super) async fn complete(exchange: &Exchange) -> Result<Reply, Problem> {
    let asked: params::Complete = exchange.params()?;
    let argument = asked.argument.name.as_str();
    let catalog = exchange.engine().catalog(exchange.tenant()).await?;
    let mut callable = catalog.callable(&exchange.peer.principal);
    let candidates = match &asked.r#ref {
        params::Reference::Prompt { name } => {
            let offering = callable.find(|one| prompt::offered(&one.skill().manifest, name).is_some());
            match (offering, prompt::used(name)) {
                (Some(one), _) => completion::of_prompt(&one.skill().manifest, name, argument),
                (None, Some(used)) => {
                    let skill = named(exchange, used).await?;
                    skill.map(|one| completion::of_usage(&one.skill().manifest, argument)).unwrap_or_default()
                }
                (None, None) => {
                    return Err(RpcError::invalid_params(format!("unknown prompt `{}`", shown(name))).into());
                }
            }
        }
        params::Reference::Resource { uri } if matches!(Place::of(uri), Place::Task(_)) => own_tasks(exchange).await?,
        params::Reference::Resource { uri } => {
            let found = callable.find_map(|one| completion::of_template(&one.skill().manifest, uri, argument));
            found.ok_or_else(|| RpcError::invalid_params(format!("unknown template `{}`", shown(uri))))?
        }
    };
    Ok(exchange.result(completion::result(candidates, &asked.argument.value)))
}

/// The caller's latest, where it may list at all.
async fn own_tasks(exchange: &Exchange) -> Result<Vec<String>, Problem> {
    let query = TaskQuery { limit: 100, ..TaskQuery::default() };
    match exchange.engine().list_tasks(exchange.tenant(), &exchange.peer.principal, query).await {
        Ok(page) => Ok(page.tasks.into_iter().map(|task| task.id.to_string()).collect()),
        Err(EngineError::Forbidden(_) | EngineError::Unauthenticated) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Who may not see something cannot be told of its changes. Those of a task are numbered: up to which it is seen now.
pub(super) async fn check_visible(exchange: &Exchange, uri: &str) -> Result<Option<i64>, Problem> {
    let visible = match Place::of(uri) {
        Place::Docs(name) => named(exchange, name).await?.is_some(),
        Place::Task(id) => {
            let (engine, tenant) = (exchange.engine(), exchange.tenant());
            let task = engine.task(tenant, &exchange.peer.principal, id).await.map_err(|_| not_found(exchange, uri))?;
            return Ok(Some(engine.mark_of(tenant, task).await?));
        }
        Place::Offered => offering(exchange, uri).await?.is_some(),
    };
    if visible { Ok(None) } else { Err(not_found(exchange, uri)) }
}

async fn named(exchange: &Exchange, name: &str) -> Result<Option<Callable>, Problem> {
    let catalog = exchange.engine().catalog(exchange.tenant()).await?;
    Ok(catalog.choose_tool(&exchange.peer.principal, name).ok())
}

async fn offering(exchange: &Exchange, uri: &str) -> Result<Option<Callable>, Problem> {
    let catalog = exchange.engine().catalog(exchange.tenant()).await?;
    Ok(catalog.callable(&exchange.peer.principal).find(|one| resource::offers(&one.skill().manifest, uri)))
}

/// What the function gives; with what its caller's client said before, where it asked for that.
async fn taken(exchange: &Exchange, skill: Callable, wanted: Wanted) -> Result<Map<String, Value>, Problem> {
    let answers: params::Answers = exchange.params()?;
    let (state, reply) = match answers.request_state.filter(|_| exchange.is_stateless()) {
        Some(sealed) => {
            let kept = State::opened(exchange, &sealed)?.kept;
            let given = answers.input_responses.unwrap_or_default();
            (kept, Some(json::raw(&given)))
        }
        None => (None, None),
    };
    let (tenant, principal) = (Arc::clone(exchange.tenant()), exchange.peer.principal.clone());
    let given = exchange.engine().take_offer(Offer { tenant, principal, skill, wanted, state, reply }).await?;
    let bad = || RpcError::new(codes::INTERNAL_ERROR, "the function did not answer with an object");
    Ok(serde_json::from_str(given.get()).map_err(|_| bad())?)
}

/// The function's answer, or what it needs before it can give one.
fn finished(exchange: &Exchange, mut given: Map<String, Value>, field: &str) -> Result<Reply, Problem> {
    if let Some(requests) = given.get("inputRequests") {
        let bad = || RpcError::new(codes::INTERNAL_ERROR, "the function's `inputRequests` cannot be read");
        let asked = requests_of(requests).ok_or_else(bad)?;
        let kept: Option<Raw> = given.get("state").map(json::raw);
        return asks(exchange, asked, kept);
    }
    if !given.get(field).is_some_and(Value::is_array) {
        return Err(RpcError::new(codes::INTERNAL_ERROR, format!("the function gave no `{field}`")).into());
    }
    given.remove("state");
    Ok(if field == "contents" { exchange.cacheable(given) } else { exchange.result(given) })
}

fn asks(exchange: &Exchange, asked: Vec<ClientRequest>, kept: Option<Raw>) -> Result<Reply, Problem> {
    let kinds: Vec<ClientKind> = asked.iter().map(|request| request.kind).collect();
    let can: Vec<_> = asked.into_iter().filter(|request| exchange.capabilities.serves(request.kind)).collect();
    if !exchange.is_stateless() || can.is_empty() {
        let problem = Problem::from(RpcError::missing_capability(&required(kinds)));
        return Err(if exchange.is_stateless() { problem.exactly() } else { problem });
    }
    // A state is there even where the function keeps none: it says that this is a second time.
    let kept = kept.or_else(|| Some(json::raw(&Value::Null)));
    let state = State::of_offer(exchange, kept).sealed(exchange)?;
    Ok(exchange.result(settle::input_required(&can, state)))
}

fn requests_of(requests: &Value) -> Option<Vec<ClientRequest>> {
    let one = |(key, request): (&String, &Value)| {
        let method = request.get("method")?.as_str()?;
        let kind = ClientKind::ALL.into_iter().find(|kind| client::method(*kind) == method)?;
        let params = request.get("params").cloned().unwrap_or_else(|| json!({}));
        Some(ClientRequest { key: key.clone(), kind, params: json::raw(&params) })
    };
    let all: Option<Vec<_>> = requests.as_object()?.iter().map(one).collect();
    all.filter(|all| !all.is_empty())
}

fn not_found(exchange: &Exchange, uri: &str) -> Problem {
    let code = if exchange.is_stateless() { codes::INVALID_PARAMS } else { codes::RESOURCE_NOT_FOUND };
    RpcError::new(code, format!("resource not found: `{}`", shown(uri))).with(json!({ "uri": shown(uri) })).into()
}

impl Problem {
    /// A function that does not have what it offers.
    fn unless_offered(self, exchange: &Exchange, uri: &str) -> Self {
        if self.rpc_code() == codes::INVALID_PARAMS { not_found(exchange, uri) } else { self }
    }
}

fn shown(text: &str) -> String {
    text.chars().take(200).collect()
}
