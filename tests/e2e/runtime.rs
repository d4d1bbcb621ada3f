//! The wasm runtime by itself: real guests, the real compile child, every way in which a call can end.
//!
//! `probe.wasm` does what its input says; `minimal.wat` is a function written by hand into which the hostile thing
//! under test is put.

mod deploying;
mod guests;
mod limits;
mod memory;
mod reaching;
mod results;
mod sandbox;
mod speaking;

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use pleat_domain::event::Progress;
use pleat_domain::{CallLimits, Failure, LogLevel, Reason, json};
use pleat_runtime::{
    Call, CallReport, Chunk, Entry, GuestContext, HostCalls, Language, Outcome, Party, PrepareError, Runtime, Source,
    Stop,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::harness::fixture;

/// What a guest said while it ran.
#[derive(Default)]
struct Heard {
    log: Vec<(LogLevel, String)>,
    chunks: Vec<Chunk>,
    progress: Vec<Progress>,
}

#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Heard>>);

impl Recorder {
    fn heard(&self) -> Heard {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl HostCalls for Recorder {
    fn log(&mut self, level: LogLevel, message: String) {
        self.0.lock().unwrap().log.push((level, message));
    }

    fn emit(&mut self, chunk: Chunk) -> BoxFuture<'_, ()> {
        self.0.lock().unwrap().chunks.push(chunk);
        Box::pin(std::future::ready(()))
    }

    fn progress(&mut self, progress: Progress) {
        self.0.lock().unwrap().progress.push(progress);
    }

    fn message(&mut self) -> String {
        r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#.to_owned()
    }

    fn history(&mut self) -> Vec<String> {
        vec![r#"{"role":"user"}"#.to_owned(), r#"{"role":"agent"}"#.to_owned()]
    }

    fn state(&mut self) -> Option<String> {
        Some(r#"{"step":2}"#.to_owned())
    }

    fn reply(&mut self) -> Option<String> {
        None
    }
}

fn probe() -> Source {
    Source { language: Language::Component, file_name: "probe.wasm".into(), bytes: fixture("probe.wasm").into() }
}

/// `minimal.wat` with `code` at the place of that name.
fn minimal(place: &str, code: &str) -> Source {
    let text = String::from_utf8(fixture("minimal.wat")).unwrap();
    let mark = format!(";;; {place}\n");
    assert!(place.is_empty() || text.contains(&mark), "{place}");
    let text = text.replace(&mark, &format!("{code}\n"));
    Source { language: Language::ComponentText, file_name: "minimal.wat".into(), bytes: text.into() }
}

fn context() -> GuestContext {
    GuestContext {
        task_id: "task_1".into(),
        context_id: "ctx_1".into(),
        skill: "probe".into(),
        version: "abc".into(),
        caller: "key:k1".into(),
        door: "http".into(),
        attempt: 1,
        turn: 2,
    }
}

async fn call_with(runtime: &Runtime, source: &Source, entry: Entry, limits: CallLimits) -> (CallReport, Heard) {
    runtime.prepare(source, Party::default()).await.unwrap();
    let recorder = Recorder::default();
    let call = Call {
        party: Party::default(),
        function: runtime.load(&source.version(), Party::default()).await.unwrap(),
        entry,
        context: context(),
        limits,
        memory: Arc::new(runtime.memory().of(0).call()),
        host: Box::new(recorder.clone()),
        cancel: CancellationToken::new(),
    };
    let report = runtime.call(call).await;
    (report, recorder.heard())
}

fn handle(input: &Value) -> Entry {
    Entry::Handle { input: json::raw(input) }
}

async fn ask_with(input: Value, limits: CallLimits) -> (CallReport, Heard) {
    call_with(&crate::harness::runtime(), &probe(), handle(&input), limits).await
}

async fn ask(input: Value) -> (CallReport, Heard) {
    ask_with(input, CallLimits::DEFAULT).await
}

/// The value that the probe returns.
async fn value(input: Value) -> Value {
    match ask(input).await.0.result {
        Ok(Outcome::Value(value)) => serde_json::from_str(value.get()).unwrap(),
        other => panic!("no value: {other:?}"),
    }
}

fn failure(report: CallReport) -> Failure {
    match report.result {
        Err(Stop::Failed(failure)) => failure,
        other => panic!("no failure: {other:?}"),
    }
}

async fn fails(input: Value, limits: CallLimits, reason: Reason) -> Failure {
    let failure = failure(ask_with(input, limits).await.0);
    assert_eq!(failure.reason, reason, "{failure:?}");
    failure
}

async fn refused(source: &Source) -> PrepareError {
    crate::harness::runtime().prepare(source, Party::default()).await.unwrap_err()
}

/// A budget that a test can afford to use up.
fn short() -> CallLimits {
    CallLimits { cpu_ms: 100, wall_ms: 5_000, ..CallLimits::DEFAULT }
}

fn nothing() -> Value {
    json!(null)
}
