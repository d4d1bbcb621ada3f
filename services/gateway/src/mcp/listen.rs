//! Streams on which a client hears what changes: a session's own stream, and `subscriptions/listen`.
//!
//! Both read the same bus: what the tenant has deployed, and the tasks and resources that were subscribed to. Nothing is
//! kept for a client that is away; it looks again when it is back.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use async_stream::stream;
use axum::response::Response;
use axum::response::sse::Event as Frame;
use futures::{Stream, StreamExt};
use http::HeaderMap;
use pleat_engine::{Catalog, CatalogWatch, EngineError, SessionRecord, SessionWatch, Tell};
use pleat_mcp::params::{self, Filter};
use pleat_mcp::resource::Place;
use pleat_mcp::{Meta, Request, RpcError, message, notification, result};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use super::exchange::{Era, Exchange, Reply};
use super::peer::Peer;
use super::resume::{foreign, resumed};
use super::session::check_length;
use super::wire::Mark;
use super::{lists, offers, tasks};
use crate::problem::Problem;
use crate::sse;

const RETRY: Duration = Duration::from_millis(500);
/// Begins the id of an event of a session's own stream.
const CHANGES: &str = "changes.";
/// Resources and tasks that one listener may name.
const MOST: usize = 100;

/// A session's stream: the one that was lost, where the client names an event of it, else the one for what changes.
pub(super) async fn session(
    peer: Peer,
    held: Arc<SessionRecord>,
    headers: &Arc<HeaderMap>,
) -> Result<Response, Problem> {
    let last = super::door::header(headers, "last-event-id");
    let mut request = Request { id: pleat_domain::json::raw(&Value::Null), method: String::new(), params: None };
    if let Some(mark) = last.as_deref().and_then(Mark::parse) {
        request.id = mark.request;
        let meta = Meta { progress_token: mark.token, ..Meta::default() };
        let exchange = Exchange::new(peer, Era::Session(held), headers, request, meta);
        return resumed(exchange, mark.task, mark.told, mark.count).await;
    }
    let seen = last.as_deref().map(|id| seen(id).ok_or_else(foreign)).transpose()?;
    let filter = Filter {
        tools_list_changed: true,
        prompts_list_changed: true,
        resources_list_changed: true,
        ..Filter::default()
    };
    let exchange = Exchange::new(peer, Era::Session(Arc::clone(&held)), headers, request, Meta::default());
    let filter = Filter { resource_subscriptions: held.subscriptions.clone(), ..filter };
    let listener = Listener::new(exchange, filter, seen).await?;
    Ok(sse::of_frames(listener.frames()))
}

pub(super) async fn stateless(exchange: Exchange) -> Result<Reply, Problem> {
    let asked: params::Listen = exchange.params()?;
    let mut filter = asked.notifications;
    if filter.resource_subscriptions.len() + filter.task_ids.len() > MOST {
        return Err(RpcError::invalid_params(format!("one listener names at most {MOST} resources and tasks")).into());
    }
    filter.resource_subscriptions.iter().chain(&filter.task_ids).try_for_each(|uri| check_length(uri))?;
    if exchange.peer.is_control() {
        filter = Filter { tools_list_changed: filter.tools_list_changed, ..Filter::default() };
    }
    // What this caller may not see is left out of what is acknowledged.
    let (mut resources, mut ids) = (Vec::new(), Vec::new());
    for uri in filter.resource_subscriptions {
        if offers::check_visible(&exchange, &uri).await.is_ok() {
            resources.push(uri);
        }
    }
    for id in filter.task_ids {
        let seen = exchange.engine().task(exchange.tenant(), &exchange.peer.principal, &id).await;
        if seen.is_ok() && exchange.capabilities.tasks {
            ids.push(id);
        }
    }
    let filter = Filter {
        resource_subscriptions: resources,
        task_ids: ids,
        tools_list_changed: filter.tools_list_changed,
        prompts_list_changed: filter.prompts_list_changed,
        resources_list_changed: filter.resources_list_changed,
    };
    let listener = Listener::new(exchange, filter, None).await?;
    Ok(Reply::Stream(sse::of_frames(listener.frames())))
}

struct Listener {
    exchange: Exchange,
    filter: Filter,
    seen: Lists,
    generation: i64,
    /// What makes the ids of this stream's events its own, and how many there were.
    stream: u32,
    count: u32,
    catalog: CatalogWatch,
    session: Option<SessionWatch>,
    /// One of so many, and of those of its session the one that is told, or not.
    place: pleat_engine::Listener,
    looks: Interval,
    changed: mpsc::Receiver<(Subject, i64)>,
    sender: mpsc::Sender<(Subject, i64)>,
    /// What another stream of the session is to tell, should it be there: this one does if not.
    left: HashMap<Subject, i64>,
    /// Who watches what was subscribed to; ends when it is taken out.
    watchers: HashMap<Subject, AbortOnDropHandle<()>>,
}

/// Something that was subscribed to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Subject {
    Resource(String),
    Task(String),
}

/// What was listed when it was last looked at, as fingerprints.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Lists {
    tools: u64,
    prompts: u64,
    resources: u64,
}

impl Lists {
    fn of(exchange: &Exchange, catalog: &Catalog) -> Self {
        let print = |entries: Vec<lists::Entry>| {
            let mut hasher = DefaultHasher::new();
            entries.iter().for_each(|(_, entry)| entry.to_string().hash(&mut hasher));
            hasher.finish()
        };
        Self {
            tools: print(lists::all_tools(exchange, catalog)),
            prompts: print(lists::all_prompts(exchange, catalog)),
            resources: print(lists::all_resources(exchange, catalog)),
        }
    }
}

enum Step {
    Catalog,
    Session,
    /// Nothing is known to have changed.
    Look,
    Subject(Subject, i64),
    Draining,
}

impl Listener {
    /// `generation`: of the deployments that the client has seen, where it says so.
    async fn new(exchange: Exchange, filter: Filter, generation: Option<i64>) -> Result<Self, Problem> {
        let engine = exchange.engine();
        let mut place = engine.begin_listening(exchange.tenant(), &exchange.peer.principal)?;
        let catalog = engine.watch_catalog(exchange.tenant());
        let now = engine.catalog(exchange.tenant()).await?;
        if let Some(session) = exchange.session() {
            place.join(session.id, now.generation, generation).await?;
        }
        let (sender, changed) = mpsc::channel(MOST);
        let missed = place.known().is_some_and(|known| known < now.generation);
        let seen = if missed { Lists { tools: 0, prompts: 0, resources: 0 } } else { Lists::of(&exchange, &now) };
        let session = exchange.session().map(|session| engine.watch_session(session));
        let every = exchange.peer.app.config.caller_check;
        let mut listener = Self {
            generation: now.generation,
            stream: Uuid::new_v4().as_fields().0,
            count: 0,
            exchange,
            filter,
            seen,
            catalog,
            session,
            place,
            looks: tokio::time::interval_at(Instant::now() + every, every),
            changed,
            sender,
            left: HashMap::new(),
            watchers: HashMap::new(),
        };
        if missed {
            listener.generation = -1;
        }
        listener.watch();
        Ok(listener)
    }

    fn frames(mut self) -> impl Stream<Item = Frame> + Send {
        stream! {
            match self.exchange.is_stateless() {
                true => yield frame(None, self.acknowledged()),
                false => yield Frame::default().id(self.id(self.generation)).retry(RETRY).data(""),
            }
            let mut first = self.generation < 0;
            loop {
                let before = self.generation;
                let step = if std::mem::take(&mut first) { Step::Catalog } else { self.next().await };
                let texts = match step {
                    Step::Draining => break,
                    Step::Subject(subject, mark) => self.updated(subject, mark).await,
                    Step::Catalog => self.relisted().await,
                    Step::Session => match self.reread().await {
                        true => self.all_left().await,
                        false => break,
                    },
                    Step::Look => match self.looked().await {
                        Some(texts) => texts,
                        None => break,
                    },
                };
                let last = texts.len();
                for (count, text) in (1..).zip(texts) {
                    // Who has heard only some of a change has not seen it.
                    let seen = if count == last { self.generation } else { before };
                    let id = (!self.exchange.is_stateless()).then(|| self.id(seen));
                    yield frame(id, text);
                }
            }
            if self.exchange.is_stateless() {
                yield frame(None, self.farewell());
            }
        }
    }

    fn id(&mut self, seen: i64) -> String {
        self.count += 1;
        format!("{CHANGES}{seen}.{:x}.{}", self.stream, self.count)
    }

    async fn next(&mut self) -> Step {
        let Self { exchange, catalog, session, changed, looks, .. } = self;
        let engine = exchange.engine();
        let of_session = async {
            match session {
                Some(session) => session.changed().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = engine.draining() => Step::Draining,
            () = catalog.changed() => Step::Catalog,
            () = of_session => Step::Session,
            Some((subject, mark)) = changed.recv() => Step::Subject(subject, mark),
            _ = looks.tick() => Step::Look,
        }
    }

    /// What a lost notice would have told; `None`: the stream is over, with its session or with its caller's key.
    async fn looked(&mut self) -> Option<Vec<String>> {
        let exchange = &self.exchange;
        if !exchange.peer.is_welcome(&exchange.headers).await {
            return None;
        }
        if !exchange.is_stateless() && !self.reread().await {
            return None;
        }
        Some(self.all_left().await)
    }

    /// What there is to tell, and what was left to a stream that may be gone by now.
    async fn all_left(&mut self) -> Vec<String> {
        let mut texts = self.relisted().await;
        for (subject, mark) in std::mem::take(&mut self.left) {
            texts.extend(self.updated(subject, mark).await);
        }
        texts
    }

    /// What has changed of what is listed to this caller.
    async fn relisted(&mut self) -> Vec<String> {
        if self.exchange.peer.is_control() {
            return Vec::new();
        }
        let Ok(catalog) = self.exchange.engine().catalog(self.exchange.tenant()).await else { return Vec::new() };
        if catalog.generation == self.generation {
            return Vec::new();
        }
        let told = self.place.tell("", catalog.generation).await;
        if !matches!(told, Ok(Tell::Now | Tell::Before)) {
            return Vec::new();
        }
        let (before, now) = (self.seen, Lists::of(&self.exchange, &catalog));
        (self.seen, self.generation) = (now, catalog.generation);
        if !matches!(told, Ok(Tell::Now)) {
            return Vec::new();
        }
        let mut texts = Vec::new();
        let lists = [
            (self.filter.tools_list_changed && before.tools != now.tools, notification::TOOLS_CHANGED),
            (self.filter.prompts_list_changed && before.prompts != now.prompts, notification::PROMPTS_CHANGED),
            (self.filter.resources_list_changed && before.resources != now.resources, notification::RESOURCES_CHANGED),
        ];
        for (_, method) in lists.into_iter().filter(|(changed, _)| *changed) {
            texts.push(self.tell(method, Map::new()));
        }
        // Another version of a function may give something else under the same address.
        let others = self.filter.resource_subscriptions.iter().filter(|uri| !matches!(Place::of(uri), Place::Task(_)));
        texts.extend(others.map(|uri| self.tell_updated(uri)));
        texts
    }

    async fn updated(&mut self, subject: Subject, mark: i64) -> Vec<String> {
        match &subject {
            Subject::Resource(uri) => match self.place.tell(uri, mark).await {
                Ok(Tell::Now) => vec![self.tell_updated(uri)],
                Ok(Tell::Before) => Vec::new(),
                Ok(Tell::Elsewhere) | Err(_) => {
                    self.left.insert(subject, mark);
                    Vec::new()
                }
            },
            Subject::Task(id) => {
                let view = tasks::told(&self.exchange, id).await;
                view.map(|view| self.tell(notification::TASKS, view)).into_iter().collect()
            }
        }
    }

    fn tell_updated(&self, uri: &str) -> String {
        let params = Map::from_iter([("uri".to_owned(), Value::from(uri))]);
        self.tell(notification::RESOURCE_UPDATED, params)
    }

    /// What the session holds now; `false`: it is over.
    async fn reread(&mut self) -> bool {
        let peer = &self.exchange.peer;
        let Some(session) = self.exchange.session() else { return false };
        let (engine, id) = (&peer.app.engine, session.id.to_string());
        match engine.session(&peer.tenant, &peer.principal, peer.is_control(), &id).await {
            Ok(now) => {
                self.filter.resource_subscriptions.clone_from(&now.subscriptions);
                self.exchange.era = Era::Session(now);
                self.watch();
                true
            }
            Err(EngineError::SessionNotFound) => false,
            // The database is away: the session is not.
            Err(_) => true,
        }
    }

    /// Watches what is subscribed to, and nothing else.
    fn watch(&mut self) {
        let tasks = self.filter.resource_subscriptions.iter().filter_map(|uri| match Place::of(uri) {
            Place::Task(id) => Some((Subject::Resource(uri.clone()), id.to_owned())),
            _ => None,
        });
        let ids = self.filter.task_ids.iter().map(|id| (Subject::Task(id.clone()), id.clone()));
        let wanted: HashMap<Subject, String> = tasks.chain(ids).collect();
        self.watchers.retain(|subject, _| wanted.contains_key(subject));
        self.left.retain(|subject, _| wanted.contains_key(subject));
        // A session may have missed something before this stream was there.
        let first = usize::from(self.exchange.is_stateless());
        for (subject, id) in wanted {
            let peer = self.exchange.peer.clone();
            let sender = self.sender.clone();
            self.watchers.entry(subject.clone()).or_insert_with(|| {
                AbortOnDropHandle::new(tokio::spawn(async move {
                    let (engine, tenant) = (&peer.app.engine, &peer.tenant);
                    // It may be the name that its caller has given it.
                    let Ok(task) = engine.task(tenant, &peer.principal, &id).await else { return };
                    let mut changes = engine.watch_task(tenant, task.id).skip(first);
                    while let Some(mark) = changes.next().await {
                        if sender.send((subject.clone(), mark)).await.is_err() {
                            return;
                        }
                    }
                }))
            });
        }
    }

    fn tell(&self, method: &str, params: Map<String, Value>) -> String {
        let listen = self.exchange.is_stateless().then_some(&*self.exchange.request.id);
        notification::subscribed(method, params, listen)
    }

    /// The first word on a stream: what will be told.
    fn acknowledged(&self) -> String {
        let mut accepted = Map::new();
        for (name, on) in [
            ("toolsListChanged", self.filter.tools_list_changed),
            ("promptsListChanged", self.filter.prompts_list_changed),
            ("resourcesListChanged", self.filter.resources_list_changed),
        ] {
            if on {
                accepted.insert(name.to_owned(), Value::Bool(true));
            }
        }
        for (name, all) in
            [("resourceSubscriptions", &self.filter.resource_subscriptions), ("taskIds", &self.filter.task_ids)]
        {
            if !all.is_empty() {
                accepted.insert(name.to_owned(), json!(all));
            }
        }
        let params = Map::from_iter([("notifications".to_owned(), Value::Object(accepted))]);
        self.tell(notification::ACKNOWLEDGED, params)
    }

    /// The last one, where the node stops: the client listens again, at another.
    fn farewell(&self) -> String {
        let id: Value = serde_json::from_str(self.exchange.request.id.get()).unwrap_or_default();
        let meta = json!({ pleat_mcp::meta::SUBSCRIPTION: id });
        let result = Map::from_iter([("_meta".to_owned(), meta)]);
        let result = result::complete(result, self.exchange.version, &self.exchange.peer.server());
        message::response(&self.exchange.request.id, &result)
    }
}

/// The deployments that a client has seen which names this event as its last; `None` for one that was never given out.
fn seen(id: &str) -> Option<i64> {
    let (seen, event) = id.strip_prefix(CHANGES)?.split_once('.')?;
    let (stream, count) = event.split_once('.')?;
    u32::from_str_radix(stream, 16).ok()?;
    count.parse::<u32>().ok()?;
    seen.parse().ok()
}

fn frame(id: Option<String>, text: String) -> Frame {
    let frame = Frame::default().event("message").data(text);
    match id {
        Some(id) => frame.id(id),
        None => frame,
    }
}
