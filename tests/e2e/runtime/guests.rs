//! What surrounds a guest: nothing that was not given, no trace of earlier calls, no harm to neighbours.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pleat_domain::{CallLimits, Reason};
use pleat_runtime::{Call, CodeKey, Outcome, Party, PoolSize, Runtime, RuntimeConfig, Silent, Stop};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{ask, call_with, context, failure, handle, probe, short, value};

/// A runtime with one slot and one thread.
fn narrow(directory: &std::path::Path) -> Runtime {
    let mut config = RuntimeConfig::new(
        directory,
        vec![crate::harness::pleat().into(), "__compile".into()],
        CodeKey::from_bytes([0; 32]),
    );
    config.pool = PoolSize { instances: 1 };
    config.workers = 1;
    Runtime::start(config).unwrap()
}

async fn start(runtime: &Runtime, input: Value, cancel: &CancellationToken) -> Call {
    runtime.prepare(&probe(), Party::default()).await.unwrap();
    Call {
        party: Party::default(),
        function: runtime.load(&probe().version(), Party::default()).await.unwrap(),
        entry: handle(&input),
        context: context(),
        limits: CallLimits::MOST,
        memory: std::sync::Arc::new(runtime.memory().of(0).call()),
        host: Box::new(Silent),
        cancel: cancel.clone(),
    }
}

#[tokio::test]
async fn a_guest_has_nothing_that_was_not_given() {
    let seen = value(json!({"do": "surroundings"})).await;
    let nothing = json!({"environment": 0, "arguments": 0, "root": false, "file": false, "connect": false,
                         "bind": false, "resolve": false});
    assert_eq!(seen, nothing);
    let seen = value(json!({"do": "ungranted"})).await;
    assert_eq!(seen["config"], json!(null));
    for what in ["secret", "get", "set", "call"] {
        assert!(seen[what].as_str().unwrap().contains("NotGranted"), "{what}: {seen}");
    }
    assert!(seen["http"].as_str().unwrap().contains("NotGranted(\"example.com\")"), "{seen}");
}

#[tokio::test]
async fn clocks_count_whole_milliseconds() {
    let seen = value(json!({"do": "clock"})).await;
    assert_eq!((&seen["steps"], &seen["wallNanos"]), (&json!(true), &json!(0)));
    assert!(seen["unix"].as_u64().unwrap() > 1_700_000_000);
}

#[tokio::test]
async fn the_call_is_described_to_the_guest() {
    let seen = value(json!({"do": "context"})).await;
    assert_eq!((&seen["taskId"], &seen["skill"], &seen["turn"]), (&json!("task_1"), &json!("probe"), &json!(2)));
    let seen = value(json!({"do": "conversation"})).await;
    assert_eq!(seen["message"]["role"], "user");
    assert_eq!(seen["history"].as_array().unwrap().len(), 2);
    assert_eq!((&seen["state"], &seen["reply"]), (&json!({"step": 2}), &json!(null)));
}

#[tokio::test]
async fn every_call_starts_anew() {
    assert_eq!(value(json!({"do": "counter"})).await, 1);
    assert_eq!(value(json!({"do": "counter"})).await, 1);
    assert_ne!(value(json!({"do": "random"})).await, value(json!({"do": "random"})).await);
}

#[tokio::test]
async fn nothing_of_one_call_is_left_for_the_next_in_its_slot() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = narrow(directory.path());
    for bytes in [64 << 10, 1 << 20, 8 << 20, 24 << 20] {
        let stain = handle(&json!({"do": "stain", "bytes": bytes}));
        call_with(&runtime, &probe(), stain, CallLimits::MOST).await.0.result.unwrap();
        let count = handle(&json!({"do": "count_stains", "bytes": 32 << 20}));
        let (report, _) = call_with(&runtime, &probe(), count, CallLimits::MOST).await;
        assert!(matches!(report.result.unwrap(), Outcome::Value(count) if count.get() == "0"), "{bytes}");
    }
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_full_pool_is_busy_and_a_canceled_call_frees_its_slot() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = narrow(directory.path());
    let cancel = CancellationToken::new();
    let sleeper = start(&runtime, json!({"do": "sleep", "ms": 600_000}), &cancel).await;
    let sleeping = tokio::spawn({
        let runtime = runtime.clone();
        async move { runtime.call(sleeper).await }
    });
    while runtime.occupancy().running == 0 {
        tokio::task::yield_now().await;
    }
    let echo = || handle(&json!({"do": "echo", "value": 1}));
    // The sleeper counts as running a moment before it has its slot.
    let failure = loop {
        let (report, _) = call_with(&runtime, &probe(), echo(), short()).await;
        if report.result.is_err() {
            break failure(report);
        }
    };
    assert_eq!(failure.reason, Reason::Busy);
    assert!(failure.retryable);
    assert_eq!(failure.message, "no instance is free to run `probe`; try again in a moment");
    cancel.cancel();
    assert!(matches!(sleeping.await.unwrap().result, Err(Stop::Canceled)));
    assert!(call_with(&runtime, &probe(), echo(), short()).await.0.result.is_ok());
    runtime.shutdown().await;
}

#[tokio::test]
async fn cancel_stops_a_spinning_guest_at_once() {
    let mut waits = Vec::new();
    for _ in 0..5 {
        let (runtime, cancel) = (crate::harness::runtime(), CancellationToken::new());
        let call = start(&runtime, json!({"do": "spin"}), &cancel).await;
        let spinning = tokio::spawn(async move { runtime.call(call).await });
        tokio::time::sleep(Duration::from_millis(50)).await;
        let asked = Instant::now();
        cancel.cancel();
        assert!(matches!(spinning.await.unwrap().result, Err(Stop::Canceled)));
        waits.push(asked.elapsed());
    }
    // The best of them: what a busy machine adds to the others says nothing about the mechanism.
    assert!(waits.iter().min() < Some(&Duration::from_millis(100)), "{waits:?}");
}

#[tokio::test]
async fn dropping_the_call_ends_the_guest() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = narrow(directory.path());
    let call = start(&runtime, json!({"do": "spin"}), &CancellationToken::new()).await;
    let abandoned = tokio::time::timeout(Duration::from_millis(50), runtime.call(call)).await;
    assert!(abandoned.is_err());
    let began = Instant::now();
    while runtime.occupancy().running > 0 {
        assert!(began.elapsed() < Duration::from_secs(5));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_spinning_neighbour_is_not_felt() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = RuntimeConfig::new(
        directory.path(),
        vec![crate::harness::pleat().into(), "__compile".into()],
        CodeKey::from_bytes([0; 32]),
    );
    config.pool = PoolSize { instances: 8 };
    config.workers = 1;
    let runtime = Runtime::start(config).unwrap();
    let cancel = CancellationToken::new();
    for _ in 0..3 {
        let call = start(&runtime, json!({"do": "spin"}), &cancel).await;
        let runtime = runtime.clone();
        tokio::spawn(async move { runtime.call(call).await });
    }
    let mut waits = Vec::new();
    for _ in 0..50 {
        let call = start(&runtime, json!({"do": "echo", "value": 1}), &cancel).await;
        let began = Instant::now();
        assert!(runtime.call(call).await.result.is_ok());
        waits.push(began.elapsed());
    }
    waits.sort();
    // A spinner gives way after a millisecond. Were newcomers looked for only now and then, as tokio does by itself,
    // none would wait for less than thirty; the lower quartile is what a busy machine leaves alone.
    assert!(waits[12] < Duration::from_millis(10), "{waits:?}");
    cancel.cancel();
    runtime.shutdown().await;
}

#[tokio::test]
async fn parties_share_the_processor_equally_however_many_calls_they_have() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = RuntimeConfig::new(
        directory.path(),
        vec![crate::harness::pleat().into(), "__compile".into()],
        CodeKey::from_bytes([0; 32]),
    );
    config.pool = PoolSize { instances: 16 };
    config.workers = 1;
    let runtime = Runtime::start(config).unwrap();
    let ended = Arc::new(Mutex::new(Vec::new()));
    // All made before any is started: they should compete from the start.
    let mut ready = Vec::new();
    for party in [1, 1, 1, 1, 1, 1, 1, 1, 2] {
        let mut call = start(&runtime, json!({"do": "spin"}), &CancellationToken::new()).await;
        call.party = Party(party);
        call.limits.cpu_ms = 200;
        ready.push(call);
    }
    let run = |call: Call| {
        let (runtime, ended) = (runtime.clone(), Arc::clone(&ended));
        tokio::spawn(async move {
            let party = call.party;
            assert_eq!(failure(runtime.call(call).await).reason, Reason::CpuLimit);
            ended.lock().unwrap().push(party);
        })
    };
    let calls: Vec<_> = ready.into_iter().map(run).collect();
    for call in calls {
        call.await.unwrap();
    }
    // All need the same time. The one that came last has half of the processor to itself.
    let ended = ended.lock().unwrap().clone();
    assert_eq!(ended[0], Party(2), "{ended:?}");
    runtime.shutdown().await;
}

#[tokio::test]
async fn short_calls_are_metered_too() {
    let (report, _) = ask(json!({"do": "work", "ms": 30})).await;
    // How much of its 30 ms it was on a processor is the machine's affair; that it was is not.
    assert!(report.cpu > Duration::ZERO && report.cpu <= report.wall, "{report:?}");
    let (report, _) = ask(json!({"do": "echo", "value": 1})).await;
    assert!(report.cpu > Duration::ZERO);
}
