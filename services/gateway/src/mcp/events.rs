//! The stream that answers a call: what the function says while it runs, what its client is asked, and the result.
//!
//! The id of an event names the task and the request, and how far its progress was told, so that a client of the session
//! era that lost the stream finds the rest of it at any node. What was said in between is not said again; the result is
//! never lost.

use std::pin::Pin;
use std::sync::Arc;

use async_stream::stream;
use axum::response::Response;
use axum::response::sse::Event as Frame;
use futures::Stream;
use pleat_domain::{Task, TaskId};
use pleat_engine::{EngineError, Listening, Said};
use pleat_mcp::{client, notification};
use tokio::time::Instant;

use super::call::Leaving;
use super::exchange::{Exchange, Reply};
use super::hearing::Hearing;
use super::settle::{self, Settled};
use super::wire::Wire;
use crate::problem::Problem;
use crate::sse;

pub(super) type End = Pin<Box<dyn Future<Output = Result<Arc<Task>, EngineError>> + Send>>;

/// Everything that a stream is made of.
pub(super) struct Telling {
    pub(super) exchange: Exchange,
    pub(super) task: TaskId,
    pub(super) hearing: Option<Hearing>,
    /// When the task rests.
    pub(super) end: End,
    /// Dropped with the stream, whichever way that ends.
    pub(super) leaving: Option<Leaving>,
    /// The request was noted for this stream, and is forgotten with its end.
    pub(super) noted: bool,
    /// The last event that its client knows of, for a stream that goes on where another was lost.
    pub(super) after: Option<u32>,
}

enum Step {
    Said(Said),
    Ended(Result<Arc<Task>, EngineError>),
    /// The stream is old: its client comes back for the rest.
    Old,
    /// Whether its caller may still hear it has to be asked again.
    Look,
}

impl Telling {
    pub(super) fn response(self) -> Response {
        sse::of_frames(self.frames())
    }

    fn frames(mut self) -> impl Stream<Item = Frame> + Send {
        stream! {
            let told = self.hearing.as_ref().and_then(|hearing| hearing.told);
            let mut wire = Wire::new(&self.exchange, self.task, told, self.after);
            let listening = self.hearing.as_ref().map(|one| self.listen(one));
            if self.exchange.version.primes_streams() {
                yield wire.prime();
            }
            let age = tokio::time::sleep(self.exchange.peer.app.config.mcp_stream);
            tokio::pin!(age);
            let every = self.exchange.peer.app.config.caller_check;
            let mut looks = tokio::time::interval_at(Instant::now() + every, every);
            loop {
                let step = tokio::select! {
                    biased;
                    Some(said) = heard(&mut self.hearing) => Step::Said(said),
                    ended = &mut self.end => Step::Ended(ended),
                    () = &mut age, if self.exchange.version.primes_streams() => Step::Old,
                    _ = looks.tick() => Step::Look,
                };
                match step {
                    Step::Said(said) => {
                        if let Some(text) = wire.told(&said) {
                            yield wire.frame(text);
                        }
                    }
                    // Without a word: who has lost its key is told nothing more of the call.
                    Step::Look if !self.exchange.peer.is_welcome(&self.exchange.headers).await => break,
                    Step::Look => {}
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
                            forget(&self.exchange, self.task, self.noted).await;
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
            drop(self.leaving.take());
        }
    }

    fn listen(&self, hearing: &Hearing) -> Listening {
        self.exchange.engine().listen(self.exchange.tenant(), self.task, hearing.ear.clone())
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

async fn forget(exchange: &Exchange, task: TaskId, noted: bool) {
    if let Some(session) = exchange.session().filter(|_| noted) {
        // A session that is gone has taken its requests with it.
        let _ = exchange.engine().forget_call(exchange.tenant(), session.id, task).await;
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
        Some(hearing) => hearing.next().await,
        None => std::future::pending().await,
    }
}
