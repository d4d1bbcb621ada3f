//! What a guest waits for outside its sandbox: where it runs, how much of it, and when it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use pleat_domain::event::Progress;
use pleat_domain::{CallLimits, LogLevel, Raw, Reason, json as raw_json};
use pleat_runtime::{
    Call, CallError, CallReport, Chunk, HostCalls, Language, Outcome, Party, Source, Stop, Unavailable, Work,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::{context, failure, handle};
use crate::harness::fixture;

/// A host whose calls end when the test lets them, and that counts them.
#[derive(Clone)]
struct Gate(Arc<Counts>);

struct Counts {
    started: AtomicUsize,
    running: AtomicUsize,
    most: AtomicUsize,
    open: Semaphore,
}

impl Gate {
    fn new(open: usize) -> Self {
        let (started, running, most) = Default::default();
        Self(Arc::new(Counts { started, running, most, open: Semaphore::new(open) }))
    }

    async fn until(&self, condition: impl Fn(&Counts) -> bool, what: &str) {
        let waiting = async {
            while !condition(&self.0) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap_or_else(|_| panic!("{what}"));
    }
}

struct Running(Arc<Counts>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, SeqCst);
    }
}

impl HostCalls for Gate {
    fn log(&mut self, _: LogLevel, _: String) {}

    fn emit(&mut self, _: Chunk) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }

    fn progress(&mut self, _: Progress) {}

    fn message(&mut self) -> String {
        "null".to_owned()
    }

    fn history(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn state(&mut self) -> Option<String> {
        None
    }

    fn reply(&mut self) -> Option<String> {
        None
    }

    fn config(&mut self, _: String) -> Work<Result<Option<String>, Unavailable>> {
        std::future::ready(Err(Unavailable)).boxed()
    }

    /// Answers with its skill's name as often as the input says.
    fn call(&mut self, skill: String, input: Raw) -> Result<Work<Result<Raw, CallError>>, CallError> {
        let counts = Arc::clone(&self.0);
        counts.started.fetch_add(1, SeqCst);
        let times: usize = serde_json::from_str(input.get()).unwrap_or(1);
        let work = async move {
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            assert!(!name.starts_with("pleat-guest"), "input and output on a guest's thread");
            let running = counts.running.fetch_add(1, SeqCst) + 1;
            counts.most.fetch_max(running, SeqCst);
            let _running = Running(Arc::clone(&counts));
            let _turn = counts.open.acquire().await;
            Ok(raw_json::raw(&skill.repeat(times)))
        };
        Ok(work.boxed())
    }
}

async fn call(gate: &Gate, input: Value, limits: CallLimits, cancel: CancellationToken) -> CallReport {
    let source =
        Source { language: Language::Component, file_name: "reach.wasm".into(), bytes: fixture("reach.wasm").into() };
    let runtime = crate::harness::runtime();
    runtime.prepare(&source, Party::default()).await.unwrap();
    let function = runtime.load(&source.version(), Party::default()).await.unwrap();
    let host = Box::new(gate.clone());
    let (party, entry) = (Party::default(), handle(&input));
    let memory = Arc::new(runtime.memory().of(0).call());
    runtime.call(Call { party, function, entry, context: context(), limits, memory, host, cancel }).await
}

fn many(count: usize, input: &Value) -> Value {
    json!({ "do": "call_all", "skill": "x", "inputs": vec![input; count] })
}

#[tokio::test]
async fn sixteen_at_once_and_the_others_in_turn() {
    let gate = Gate::new(0);
    let working = tokio::spawn({
        let gate = gate.clone();
        async move { call(&gate, many(40, &json!(1)), CallLimits::DEFAULT, CancellationToken::new()).await }
    });
    gate.until(|counts| counts.started.load(SeqCst) == 40, "all are started").await;
    gate.until(|counts| counts.running.load(SeqCst) == 16, "sixteen of them run").await;
    gate.0.open.add_permits(1_000);
    let Ok(Outcome::Value(value)) = working.await.unwrap().result else { panic!("a value") };
    assert_eq!(serde_json::from_str::<Value>(value.get()).unwrap(), json!(vec!["x"; 40]));
    assert_eq!(gate.0.most.load(SeqCst), 16);
}

#[tokio::test]
async fn what_is_pending_ends_with_the_call_however_that_ends() {
    // Out of time: waiting counts.
    let gate = Gate::new(0);
    let limits = CallLimits { wall_ms: 300, ..CallLimits::DEFAULT };
    let report = call(&gate, many(3, &json!(1)), limits, CancellationToken::new()).await;
    assert!(report.cpu < Duration::from_millis(300), "waiting is no CPU time: {:?}", report.cpu);
    assert_eq!(failure(report).reason, Reason::WallLimit);
    gate.until(|counts| counts.running.load(SeqCst) == 0, "nothing runs on").await;
    // Canceled.
    let gate = Gate::new(0);
    let cancel = CancellationToken::new();
    let working = tokio::spawn({
        let (gate, cancel) = (gate.clone(), cancel.clone());
        async move { call(&gate, many(3, &json!(1)), CallLimits::DEFAULT, cancel).await }
    });
    gate.until(|counts| counts.running.load(SeqCst) == 3, "three run").await;
    cancel.cancel();
    assert!(matches!(working.await.unwrap().result, Err(Stop::Canceled)));
    gate.until(|counts| counts.running.load(SeqCst) == 0, "nothing runs on").await;
    // Left behind.
    let gate = Gate::new(0);
    let leave = json!({ "do": "call_and_leave", "skill": "x", "input": 1 });
    assert!(call(&gate, leave, CallLimits::DEFAULT, CancellationToken::new()).await.result.is_ok());
    gate.until(|counts| counts.running.load(SeqCst) == 0, "nothing runs on").await;
}

#[tokio::test]
async fn what_crosses_is_counted_both_ways() {
    let gate = Gate::new(1_000);
    let limits = CallLimits { host_bytes: 100_000, ..CallLimits::DEFAULT };
    let answers = call(&gate, many(3, &json!(40_000)), limits, CancellationToken::new()).await;
    let Ok(Outcome::Value(value)) = answers.result else { panic!("a value") };
    let answers: Vec<Value> = serde_json::from_str(value.get()).unwrap();
    let refused = answers.iter().filter(|answer| answer["error"] == "host_call_limit").count();
    assert_eq!(refused, 1, "two of 40,000 bytes fit, the third does not: {refused}");
    let gone = json!({ "do": "call", "skill": "x".repeat(100_001), "input": 0 });
    let failed = failure(call(&gate, gone, limits, CancellationToken::new()).await);
    assert_eq!(failed.reason, Reason::HostCallLimit);
    assert_eq!(failed.message, "`probe` moved more than 100000 bytes through the platform in one call");
    let limits = CallLimits { host_calls: 2, ..CallLimits::DEFAULT };
    let failed = failure(call(&gate, many(3, &json!(1)), limits, CancellationToken::new()).await);
    assert_eq!(failed.message, "`probe` used the platform more than 2 times in one call");
}

#[tokio::test]
async fn a_setting_that_cannot_be_read_now_is_no_missing_setting() {
    let gate = Gate::new(0);
    let ask = json!({ "do": "config", "name": "REGION" });
    let failed = failure(call(&gate, ask, CallLimits::DEFAULT, CancellationToken::new()).await);
    assert_eq!((failed.reason, failed.retryable), (Reason::Busy, true), "{failed:?}");
}
