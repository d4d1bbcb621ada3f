//! Resources that are read, prompts that are got, and completions: from functions, from what is known of them, and from
//! tasks.

use std::sync::Arc;

use pleat_domain::{ClientKind, ClientRequest, Raw, json};
use pleat_engine::{Callable, EngineError, Offer, TaskQuery, Wanted};
use pleat_mcp::capabilities::required;
use pleat_mcp::resource::Place;
use pleat_mcp::{RpcError, client, completion, error as codes, params, prompt, resource};
use serde_json::{Map, Value, json};

use super::asking;
use super::exchange::{Exchange, Reply};
use super::settle;
use super::state::State;
use crate::problem::Problem;

/// What a function may ask for at once, and how long its names for that may be: as with tools.
const MOST_REQUESTS: usize = 16;
const MOST_KEY_BYTES: usize = 64;

pub(super) async fn read(exchange: Exchange) -> Result<Reply, Problem> {
    let asked: params::Uri = exchange.params()?;
    let uri = asked.uri.as_str();
    match Place::of(uri) {
        Place::Docs(name) => {
            let skill = named(&exchange, name).await?.ok_or_else(|| not_found(&exchange, uri))?;
            let skill = skill.skill();
            Ok(exchange.cacheable(resource::docs(uri, &skill.tool_name(), &skill.manifest)))
        }
        Place::Task(id) => {
            let task = exchange.engine().task(exchange.tenant(), &exchange.peer.principal, id).await;
            let task = task.map_err(|error| match error {
                EngineError::TaskNotFound => not_found(&exchange, uri),
                error => error.into(),
            })?;
            // What was said since the turn began is in its events only.
            let task = exchange.engine().snapshot(exchange.tenant(), task).await?;
            Ok(exchange.cacheable(resource::task(uri, &task)))
        }
        Place::Offered => {
            let skill = offering(&exchange, uri).await?.ok_or_else(|| not_found(&exchange, uri))?;
            wished(exchange, Wish { skill, wanted: Wanted::Resource { uri: uri.to_owned() } }).await
        }
    }
}

pub(super) async fn prompt(exchange: Exchange) -> Result<Reply, Problem> {
    let asked: params::Prompt = exchange.params()?;
    asked.check()?;
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
        return wished(exchange, Wish { skill, wanted }).await;
    }
    let used = prompt::used(&asked.name).ok_or_else(unknown)?;
    let skill = named(&exchange, used).await?.ok_or_else(unknown)?;
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

/// Something that a function offers, and that is asked for.
pub(super) struct Wish {
    skill: Callable,
    wanted: Wanted,
}

/// What a function says to a wish.
pub(super) enum Given {
    Answer(Map<String, Value>),
    /// It has to know these first, which this client can tell.
    Asks {
        requests: Vec<ClientRequest>,
        kept: Option<Raw>,
    },
}

async fn wished(exchange: Exchange, wish: Wish) -> Result<Reply, Problem> {
    if exchange.session().is_some() {
        return asking::answered(exchange, wish).await;
    }
    let answers: params::Answers = exchange.params()?;
    let (turn, state, reply) = match answers.request_state {
        Some(sealed) => {
            let given = answers.input_responses.unwrap_or_default();
            (2, State::opened(&exchange, &sealed)?.kept, Some(json::raw(&given)))
        }
        None => (1, None, None),
    };
    match understood(&exchange, &wish, exchange.engine().take_offer(wish.offer(&exchange, turn, state, reply)).await)? {
        Given::Answer(given) => Ok(wish.answer(&exchange, given)),
        Given::Asks { requests, kept } => {
            // A state is there even where the function keeps none: it says that this is a second time.
            let kept = kept.or_else(|| Some(json::raw(&Value::Null)));
            let state = State::of_offer(&exchange, kept).sealed(&exchange)?;
            Ok(exchange.result(settle::input_required(&requests, state)))
        }
    }
}

impl Wish {
    /// To be asked for, with what the client said before where it was asked.
    pub(super) fn offer(&self, exchange: &Exchange, turn: i16, state: Option<Raw>, reply: Option<Raw>) -> Offer {
        let (tenant, principal) = (Arc::clone(exchange.tenant()), exchange.peer.principal.clone());
        Offer { tenant, principal, skill: self.skill.clone(), wanted: self.wanted.clone(), turn, state, reply }
    }

    pub(super) fn answer(&self, exchange: &Exchange, given: Map<String, Value>) -> Reply {
        match self.wanted {
            Wanted::Resource { .. } => exchange.cacheable(given),
            Wanted::Prompt { .. } => exchange.result(given),
        }
    }

    const fn field(&self) -> &'static str {
        match self.wanted {
            Wanted::Resource { .. } => "contents",
            Wanted::Prompt { .. } => "messages",
        }
    }
}

/// The function's answer, or what it needs before it can give one.
pub(super) fn understood(exchange: &Exchange, wish: &Wish, said: Result<Raw, EngineError>) -> Result<Given, Problem> {
    let said = said.map_err(|error| match &wish.wanted {
        Wanted::Resource { uri } => Problem::from(error).unless_offered(exchange, uri),
        Wanted::Prompt { .. } => error.into(),
    })?;
    let bad = |text: &str| RpcError::new(codes::INTERNAL_ERROR, text);
    let said = serde_json::from_str(said.get()).map_err(|_| bad("the function did not answer with an object"));
    let mut given: Map<String, Value> = said?;
    if let Some(requests) = given.get("inputRequests") {
        let asked = requests_of(requests).ok_or_else(|| bad("the function's `inputRequests` cannot be read"))?;
        let requests = served(exchange, asked)?;
        return Ok(Given::Asks { requests, kept: given.get("state").map(json::raw) });
    }
    let field = wish.field();
    if !given.get(field).is_some_and(Value::is_array) {
        return Err(bad(&format!("the function gave no `{field}`")).into());
    }
    given.remove("state");
    Ok(Given::Answer(given))
}

/// Those that this client can serve, if it can any.
fn served(exchange: &Exchange, asked: Vec<ClientRequest>) -> Result<Vec<ClientRequest>, Problem> {
    let kinds: Vec<ClientKind> = asked.iter().map(|request| request.kind).collect();
    let can: Vec<_> = asked.into_iter().filter(|request| exchange.capabilities.serves(request.kind)).collect();
    if can.is_empty() {
        let problem = Problem::from(RpcError::missing_capability(&required(kinds)));
        return Err(if exchange.is_stateless() { problem.exactly() } else { problem });
    }
    Ok(can)
}

fn requests_of(requests: &Value) -> Option<Vec<ClientRequest>> {
    let one = |(key, request): (&String, &Value)| {
        let method = request.get("method")?.as_str()?;
        let kind = ClientKind::ALL.into_iter().find(|kind| client::method(*kind) == method)?;
        let params = request.get("params").cloned().unwrap_or_else(|| json!({}));
        let fits = params.is_object() && (1..=MOST_KEY_BYTES).contains(&key.len());
        fits.then(|| ClientRequest { key: key.clone(), kind, params: json::raw(&params) })
    };
    let requests = requests.as_object().filter(|all| (1..=MOST_REQUESTS).contains(&all.len()))?;
    requests.iter().map(one).collect()
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
