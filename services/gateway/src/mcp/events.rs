//! The stream that answers a call: what the function says while it runs, what its client is asked, and the result.
//!
//! The id of an event names the task and the request, so that a client of the session era that lost the stream finds the
//! rest of it at any node. What was said in between is not said again; the result is never lost.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_stream::stream;
use axum::response::Response;
use axum::response::sse::Event as Frame;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::Stream;
use pleat_domain::{Raw, Task, TaskId, json};
use pleat_engine::{Ear, EngineError, Said};
use pleat_mcp::{Level, client, notification};
use tokio::sync::mpsc;

use super::exchange::{Exchange, Reply};
use super::settle::{self, Settled};
use crate::problem::Problem;
use crate::sse;

/// When a client should come back.
const RETRY: Duration = Duration::from_millis(500);

pub(super) type End = Pin<Box<dyn Future<Output = Result<Arc<Task>, EngineError>> + Send>>;

/// Hears what is said during a call.
pub(super) struct Hearing {
    pub(super) ear: Ear,
    pub(super) said: mpsc::Receiver<Said>,
}

/// Everything that a stream is made of.
pub(super) struct Telling {
    pub(super) exchange: Exchange,
    pub(super) task: TaskId,
    pub(super) hearing: Option<Hearing>,
    /// When the task rests.
    pub(super) end: End,
    /// Dropped with the stream, whichever way that ends.
    pub(super) guard: Option<Box<dyn Send>>,
}

enum Step {
    Said(Said),
    Ended(Result<Arc<Task>, EngineError>),
    /// The stream is old: its client comes back for the rest.
    Old,
}

impl Telling {
    pub(super) fn response(self) -> Response {
        sse::of_frames(self.frames())
    }

    fn frames(mut self) -> impl Stream<Item = Frame> + Send {
        stream! {
            let mut wire = Wire::new(&self.exchange, self.task);
            let listening = self.hearing.as_ref().map(|one| self.exchange.engine().listen(self.task, one.ear.clone()));
            if self.exchange.version.primes_streams() {
                yield wire.prime();
            }
            let age = tokio::time::sleep(self.exchange.peer.app.config.mcp_stream);
            tokio::pin!(age);
            loop {
                let step = tokio::select! {
                    biased;
                    Some(said) = heard(&mut self.hearing) => Step::Said(said),
                    ended = &mut self.end => Step::Ended(ended),
                    () = &mut age, if self.exchange.version.primes_streams() => Step::Old,
                };
                match step {
                    Step::Said(said) => {
                        if let Some(text) = wire.told(&said) {
                            yield wire.frame(text);
                        }
                    }
                    Step::Old => {
                        yield wire.farewell();
                        break;
                    }
                    Step::Ended(Ok(task)) => {
                        for text in self.leftover(&mut wire) {
                            yield wire.frame(text);
                        }
                        let rest = rests(&self.exchange, &task).await;
                        let done = rest.done;
                        for text in rest.texts {
                            yield wire.frame(text);
                        }
                        if done {
                            break;
                        }
                        self.end = self.later(&task);
                    }
                    Step::Ended(Err(error)) => {
                        // Another node takes the task over, and the client comes back for its end.
                        if matches!(error, EngineError::ShuttingDown) && self.exchange.version.primes_streams() {
                            yield wire.farewell();
                        } else {
                            yield wire.frame(Problem::from(error).mcp_text(&self.exchange.request.id));
                        }
                        break;
                    }
                }
            }
            drop(listening);
            drop(self.guard.take());
        }
    }

    /// What was said just before the end.
    fn leftover(&mut self, wire: &mut Wire) -> Vec<String> {
        let Some(hearing) = &mut self.hearing else { return Vec::new() };
        std::iter::from_fn(|| hearing.said.try_recv().ok()).filter_map(|said| wire.told(&said)).collect()
    }

    /// The end of the turn that an answer begins.
    fn later(&self, task: &Arc<Task>) -> End {
        let (engine, tenant) = (self.exchange.engine().clone(), Arc::clone(self.exchange.tenant()));
        let (id, turn) = (task.id, task.turn);
        Box::pin(async move { engine.next_end(&tenant, id, turn).await })
    }
}

/// What is to be said of a task that rests, and whether that is all.
async fn rests(exchange: &Exchange, task: &Arc<Task>) -> Rest {
    match settle::settled(exchange, task) {
        Settled::Asks(requests) if !exchange.is_stateless() => {
            let texts = requests.iter().map(|request| {
                let id = client::request_id(task.id, task.turn, &request.key);
                notification::request(&id, client::method(request.kind), &request.params)
            });
            Rest { texts: texts.collect(), done: false }
        }
        _ => Rest { texts: vec![last(exchange, task).await], done: true },
    }
}

async fn last(exchange: &Exchange, task: &Arc<Task>) -> String {
    match settle::reply(exchange, task).await {
        Ok(Reply::Json(text) | Reply::Warned(text, _)) => text,
        Ok(Reply::Stream(_)) => String::new(),
        Err(problem) => problem.mcp_text(&exchange.request.id),
    }
}

struct Rest {
    texts: Vec<String>,
    done: bool,
}

async fn heard(hearing: &mut Option<Hearing>) -> Option<Said> {
    match hearing {
        Some(hearing) => hearing.said.recv().await,
        None => std::future::pending().await,
    }
}

/// Numbers events, and decides what of what is said goes to this client.
struct Wire {
    stream: Option<String>,
    count: u32,
    skill: String,
    level: Option<Level>,
    token: Option<Raw>,
    progress: Option<f64>,
}

impl Wire {
    fn new(exchange: &Exchange, task: TaskId) -> Self {
        let skill = exchange.listed.as_ref();
        Self {
            stream: (!exchange.is_stateless()).then(|| stream_id(task, &exchange.request.id)),
            count: 0,
            skill: skill.map(|skill| skill.name.to_string()).unwrap_or_default(),
            level: exchange.level.filter(|_| skill.is_some_and(|skill| exchange.may_hear(skill))),
            token: exchange.progress_token.clone(),
            progress: None,
        }
    }

    fn told(&mut self, said: &Said) -> Option<String> {
        match said {
            Said::Log(line) => {
                let loud = self.level.is_some_and(|least| Level::of(line.level) >= least);
                loud.then(|| notification::log(&self.skill, line))
            }
            Said::Progress(progress) => {
                let token = self.token.as_ref()?;
                // The protocol wants it to go up.
                if self.progress.is_some_and(|last| progress.done <= last) {
                    return None;
                }
                self.progress = Some(progress.done);
                Some(notification::progress(token, progress))
            }
        }
    }

    fn frame(&mut self, text: String) -> Frame {
        let frame = Frame::default().event("message").data(text);
        match self.next_id() {
            Some(id) => frame.id(id),
            None => frame,
        }
    }

    /// Nothing but an id, so that a client that loses the stream at once has a place to come back to.
    fn prime(&mut self) -> Frame {
        let id = self.next_id().unwrap_or_default();
        Frame::default().id(id).retry(RETRY).data("")
    }

    fn farewell(&mut self) -> Frame {
        Frame::default().retry(RETRY).comment("come back for the rest")
    }

    fn next_id(&mut self) -> Option<String> {
        let stream = self.stream.as_ref()?;
        self.count += 1;
        Some(format!("{stream}.{}", self.count))
    }
}

fn stream_id(task: TaskId, request: &Raw) -> String {
    format!("{task}.{}", URL_SAFE_NO_PAD.encode(request.get()))
}

/// The task and the request that an event's id names; `None` for one that was never given out.
pub(super) fn parse_id(text: &str) -> Option<(TaskId, Raw)> {
    let mut parts = text.split('.');
    let (task, request, count) = (parts.next()?, parts.next()?, parts.next()?);
    count.parse::<u32>().ok().filter(|_| parts.next().is_none())?;
    let request = String::from_utf8(URL_SAFE_NO_PAD.decode(request).ok()?).ok()?;
    let request = json::checked(request).ok()?;
    let scalar = matches!(request.get().as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'));
    Some((task.parse().ok()?, request)).filter(|_| scalar)
}
