//! Hostile modules and scripts: none of them ends the server, outstays its limits, keeps memory or is felt by others.

mod bombs;
mod honest;
mod loops;
mod scripts;

use futures::StreamExt;
use futures::future::join_all;
use reqwest::Method;
use serde_json::Value;

use self::honest::Honest;
use crate::harness::fixture;
use crate::memory::Memory;
use crate::node::{Called, Node, Tenant};
use crate::options::Scale;
use crate::row::{Row, say};

const MEGABYTE: f64 = 1024.0;

/// Something hostile. Where it is stopped, at deploy or when it is called, is the platform's affair.
pub struct Specimen {
    pub name: String,
    pub attack: Attack,
}

pub enum Attack {
    /// A file of its own, called once if it can be deployed.
    File { file: &'static str, source: Vec<u8>, limits: Limits },
    /// A call of a function that does what its input says.
    Call { function: &'static str, input: Value, limits: Limits },
}

/// What it may use, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub cpu: f64,
    pub wall: f64,
}

impl Limits {
    pub const DEFAULT: Self = Self { cpu: 1_000.0, wall: 30_000.0 };
    /// Of the guests and scripts that are made here.
    pub const SHORT: Self = Self { cpu: 200.0, wall: 2_000.0 };
}

/// One deploy: 60 seconds to compile, and one call of `describe`.
const DEPLOY_MILLIS: f64 = 60_000.0 + Limits::DEFAULT.cpu;

pub async fn prove(scale: Scale) -> Vec<Row> {
    let node = Node::start().await;
    let hostile = node.tenant("hostile").await;
    node.deploy(&hostile, "probe", "probe.wasm", fixture("probe.wasm")).await;
    node.deploy_granted(&hostile, "fiend", "fiend.js", scripts::FIEND.into()).await;
    let mut honest = Honest::start(&node).await;
    let specimens: Vec<Specimen> = [bombs::all(scale), loops::all(), scripts::all()].into_iter().flatten().collect();
    let times = scale.pick(1, 3);
    let quiet_seconds = scale.pick(2, 15);
    honest.undisturbed(quiet_seconds).await;
    let before = Memory::settled(node.process()).await;
    let (mut seen, mut counted) = (Seen::default(), 0);
    for specimen in &specimens {
        for run in repeated(&node, &hostile, specimen, times).await {
            seen.add(&specimen.name, run);
        }
        let (felt, calls) = honest.since(counted);
        counted = calls;
        let more = Memory::of(node.process()).since(before) / MEGABYTE;
        say(&format!("hostile: {}: memory {more:+.0} MB, {felt}", specimen.name));
        seen.faults.extend(node.faults().into_iter().map(|fault| format!("{}: {fault}", specimen.name)));
        if !seen.faults.is_empty() {
            break;
        }
    }
    let felt = honest.felt(quiet_seconds).await;
    let after = Memory::settled(node.process()).await;
    let tried = format!("{} hostile modules and scripts, {times} times each", specimens.len());
    vec![
        Row::none("hostile.crashes", format!("{tried}: ends and panics of the server"), &seen.faults),
        Row::none("hostile.internal", "the same: answers that are the platform's fault", &seen.internal),
        Row::at_most("hostile.late", format!("furthest over its limit ({})", seen.latest), 100.0, seen.late, "ms")
            .judged(scale.is_full()),
        Row::at_most(
            "hostile.memory",
            "memory of the server, more than before",
            128.0,
            after.since(before) / MEGABYTE,
            "MB",
        ),
        Row::none("hostile.refused", "calls of an honest tenant meanwhile that were not served", &felt.refused),
        Row::at_most("hostile.honest", felt.tried(), honest::ALLOWED, felt.ratio(), "times").judged(scale.is_full()),
    ]
}

#[derive(Default)]
struct Seen {
    faults: Vec<String>,
    internal: Vec<String>,
    late: f64,
    latest: String,
}

impl Seen {
    fn add(&mut self, name: &str, run: Run) {
        say(&format!("hostile: {name}: {}", run.ended));
        if run.internal {
            self.internal.push(format!("{name}: {}", run.ended));
        }
        if run.late > self.late {
            self.late = run.late;
            self.latest = name.to_owned();
        }
    }
}

struct Run {
    ended: String,
    internal: bool,
    /// Milliseconds over the limit that is over by the most.
    late: f64,
}

/// Calls all at once: that is worse for everybody else. Files one after the other: only two are compiled at a time,
/// and waiting for the turn is not what is measured.
async fn repeated(node: &Node, tenant: &Tenant, specimen: &Specimen, times: usize) -> Vec<Run> {
    let runs = (0..times).map(|time| run(node, tenant, specimen, time));
    match specimen.attack {
        Attack::Call { .. } => join_all(runs).await,
        Attack::File { .. } => futures::stream::iter(runs).then(|run| run).collect().await,
    }
}

async fn run(node: &Node, tenant: &Tenant, specimen: &Specimen, time: usize) -> Run {
    match &specimen.attack {
        Attack::Call { function, input, limits } => {
            called(node, tenant, node.call(tenant, function, input).await, *limits).await
        }
        Attack::File { file, source, limits } => {
            let name = format!("{}-{time}", specimen.name);
            let began = std::time::Instant::now();
            let (status, body) = node.try_deploy(tenant, &name, file, source.clone()).await;
            let late = (began.elapsed().as_secs_f64() * 1_000.0 - DEPLOY_MILLIS).max(0.0);
            if status != 201 && status != 200 {
                let ended = format!("refused in {:?} with {status} {}", began.elapsed(), cut(&body));
                return Run { ended, internal: !(400..500).contains(&status), late };
            }
            let run = called(node, tenant, node.call(tenant, &name, &Value::Null).await, *limits).await;
            Run { late: run.late.max(late), ..run }
        }
    }
}

/// What the platform itself has recorded of the call.
async fn called(node: &Node, tenant: &Tenant, called: Called, limits: Limits) -> Run {
    let path = format!("/tenants/{}/tasks/{}", tenant.slug, called.task.as_deref().unwrap_or("none"));
    let (_, task) = node.api(Method::GET, &path, &tenant.key, None).await;
    let used = |field: &str| task[field].as_f64().unwrap_or(0.0) / 1_000.0;
    let (cpu, wall) = (used("cpuUs"), used("wallUs"));
    let reason = called.body["reason"].as_str().unwrap_or(if called.status == 200 { "returned" } else { "none" });
    let ended = format!("{reason} after {cpu:.0} ms of CPU in {wall:.0} ms, {} {}", called.status, cut(&called.body));
    // Whoever has used up what a tenant may use is turned away before there is a task.
    let turned_away = called.task.is_none() && matches!(called.status, 429 | 503);
    let internal = called.status == 500 || reason == "internal" || (called.task.is_none() && !turned_away);
    Run { ended, internal, late: (cpu - limits.cpu).max(wall - limits.wall).max(0.0) }
}

fn cut(body: &Value) -> String {
    body.to_string().chars().take(160).collect()
}
