//! A fresh instance and a call: what one costs on one thread, and what a second thread adds.
//!
//! The measured loops run on the guests' own threads, so that nothing but the call is timed; beside it stands the
//! same call made from another thread, as the platform makes it, with two thread switches in it.

mod bare;
mod guests;

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use bytes::Bytes;
use pleat_domain::{CallLimits, json};
use pleat_runtime::{Call, CallReport, Entry, Function, GuestContext, HostCalls, Language, Outcome, Party};
use pleat_runtime::{Runtime, Silent, Source};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::options::Options;
use crate::platform::{echo, runtime_config, temporary};
use crate::stats::{Series, micros, percentile};
use crate::table::{Demand, Row, say};

const SCRIPT: &str = "export const description = 'gives back its input';\nexport default async (input) => input;\n";
const INPUT: &str = r#"{"text":"hello","numbers":[1,2,3]}"#;
/// Calls that each thread works on in turn while throughput is measured.
const IN_FLIGHT: usize = 8;

pub async fn measure(options: &Options) -> anyhow::Result<Vec<Row>> {
    let directory = temporary(options.data_dir.as_deref())?;
    let one = Bench::start(directory.path(), 1).await?;
    let two = Bench::start(directory.path(), 2).await?;
    let mut rows = Vec::new();
    let rust = Source { language: Language::Component, file_name: "echo.wasm".to_owned(), bytes: echo()?.into() };
    let script = Bytes::from_static(SCRIPT.as_bytes());
    let script = Source { language: Language::JavaScript, file_name: "echo.js".to_owned(), bytes: script };
    for (guest, source) in [(&RUST, rust), (&JAVASCRIPT, script)] {
        say(&format!("calls of {}", guest.title));
        rows.extend(compare(guest, &source, &one, &two, options).await?);
    }
    rows.push(bare(options)?);
    one.runtime.shutdown().await;
    two.runtime.shutdown().await;
    Ok(rows)
}

/// A kind of guest, the names of its rows and what is demanded of it.
struct Guest {
    title: &'static str,
    names: [&'static str; 6],
    p50: f64,
    p99: f64,
}

const RUST: Guest = Guest {
    title: "Rust",
    names: ["call.rust.p50", "call.rust.p99", "call.rust.inside", "call.rust.hop", "call.rust.rate", "call.rust.two"],
    p50: 20.0,
    p99: 60.0,
};

const JAVASCRIPT: Guest = Guest {
    title: "JavaScript",
    names: ["call.js.p50", "call.js.p99", "call.js.inside", "call.js.hop", "call.js.rate", "call.js.two"],
    p50: 50.0,
    p99: 150.0,
};

/// One runtime with a number of threads, and the way onto them.
struct Bench {
    runtime: Runtime,
    guests: Handle,
    workers: usize,
}

impl Bench {
    async fn start(directory: &std::path::Path, workers: usize) -> anyhow::Result<Self> {
        let mut config = runtime_config(directory)?;
        config.workers = workers;
        let runtime = Runtime::start(config)?;
        let echo = Source { language: Language::Component, file_name: "echo.wasm".to_owned(), bytes: echo()?.into() };
        let subject = Subject::prepare(&runtime, &echo).await?;
        let guests = guests::handle(&subject).await?;
        Ok(Self { runtime, guests, workers })
    }
}

/// What is called.
#[derive(Clone)]
struct Subject {
    runtime: Runtime,
    function: Arc<Function>,
}

impl Subject {
    async fn prepare(runtime: &Runtime, source: &Source) -> anyhow::Result<Self> {
        runtime.prepare(source, Party::default()).await?;
        let function = runtime.load(&source.version(), Party::default()).await?;
        let subject = Self { runtime: runtime.clone(), function };
        // A figure for a guest that fails would be worth nothing.
        match subject.call(Box::new(Silent)).await.result {
            Ok(Outcome::Value(value)) if value.get() == INPUT => Ok(subject),
            other => anyhow::bail!("`{}` did not give back its input: {other:?}", source.file_name),
        }
    }

    async fn call(&self, host: Box<dyn HostCalls>) -> CallReport {
        let input = json::checked(INPUT.to_owned()).unwrap_or_default();
        let text = str::to_owned;
        let context = GuestContext {
            task_id: text("task_01890a5d00007000800000000000000a"),
            context_id: text("ctx_01890a5d00007000800000000000000a"),
            skill: text("echo"),
            version: text("1"),
            caller: text("key:bench"),
            door: text("http"),
            attempt: 1,
            turn: 1,
        };
        let (function, entry) = (Arc::clone(&self.function), Entry::Handle { input });
        let (limits, cancel) = (CallLimits::DEFAULT, CancellationToken::new());
        let (party, memory) = (Party::default(), Arc::new(self.runtime.memory().of(0).call()));
        self.runtime.call(Call { party, function, entry, context, limits, memory, host, cancel }).await
    }
}

async fn compare(
    guest: &Guest,
    source: &Source,
    one: &Bench,
    two: &Bench,
    options: &Options,
) -> anyhow::Result<Vec<Row>> {
    let alone = Subject::prepare(&one.runtime, source).await?;
    let shared = Subject::prepare(&two.runtime, source).await?;
    let calls = if options.quick { 5_000 } else { 40_000 };
    let [mut p50, mut p99, mut inside, mut hop, mut rate, mut ratio] = [(); 6].map(|()| Series::default());
    for _ in 0..options.rounds() {
        let mut near = one.guests.spawn(back_to_back(alone.clone(), calls)).await?;
        p50.push(percentile(&mut near.whole, 0.5));
        p99.push(percentile(&mut near.whole, 0.99));
        inside.push(percentile(&mut near.inside, 0.5));
        let mut far = tokio::spawn(back_to_back(alone.clone(), calls / 4)).await?;
        hop.push(percentile(&mut far.whole, 0.5));
        let single = throughput(one, &alone, options).await?;
        let double = throughput(two, &shared, options).await?;
        rate.push(single);
        ratio.push(double / single);
    }
    let [n50, n99, n_inside, n_hop, n_rate, n_two] = guest.names;
    let title = guest.title;
    Ok(vec![
        Row::shown(n50, format!("{title}: fresh instance and call, one thread, p50"), "µs", p50)
            .demanded(Demand::AtMost(guest.p50)),
        Row::shown(n99, format!("{title}: the same, p99"), "µs", p99).demanded(Demand::AtMost(guest.p99)),
        Row::shown(n_inside, format!("{title}: of that, until the result is there, p50"), "µs", inside),
        Row::shown(n_hop, format!("{title}: the same call from another thread, p50"), "µs", hop),
        Row::shown(n_rate, format!("{title}: calls on one thread"), "/s", rate),
        Row::shown(n_two, format!("{title}: two threads against one"), "×", ratio).demanded(Demand::AtLeast(1.5)),
    ])
}

fn bare(options: &Options) -> anyhow::Result<Row> {
    say("instances of bare wasmtime");
    let (component, mut p50) = (echo()?, Series::default());
    for _ in 0..options.rounds() {
        p50.push(percentile(&mut bare::instances(&component, if options.quick { 5_000 } else { 40_000 })?, 0.5));
    }
    Ok(Row::shown("call.bare", "bare wasmtime: the Rust instance made and dropped, p50", "µs", p50))
}

/// Microseconds of every call: all of it, and what the runtime itself reports.
struct Took {
    whole: Vec<f64>,
    inside: Vec<f64>,
}

async fn back_to_back(subject: Subject, calls: usize) -> Took {
    let mut took = Took { whole: Vec::with_capacity(calls), inside: Vec::with_capacity(calls) };
    for index in 0..calls + calls / 10 {
        let began = Instant::now();
        let report = subject.call(Box::new(Silent)).await;
        let whole = began.elapsed();
        if index >= calls / 10 {
            took.whole.push(micros(whole));
            took.inside.push(micros(report.wall));
        }
    }
    took
}

/// Calls per second with every thread busy.
async fn throughput(bench: &Bench, subject: &Subject, options: &Options) -> anyhow::Result<f64> {
    let lasting = options.round() / 4;
    let began = Instant::now();
    let loops: Vec<_> = (0..bench.workers * IN_FLIGHT)
        .map(|_| {
            let subject = subject.clone();
            bench.guests.spawn(async move {
                let mut calls = 0_u32;
                while began.elapsed() < lasting {
                    subject.call(Box::new(Silent)).await;
                    calls += 1;
                }
                calls
            })
        })
        .collect();
    let mut total = 0.0;
    for calls in loops {
        total += f64::from(calls.await.context("a loop of calls ended early")?);
    }
    Ok(total / began.elapsed().as_secs_f64())
}
