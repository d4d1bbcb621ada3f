//! Many tenants that do nothing cost next to nothing: in memory, at a restart, and for those that do something.

mod cost;

use futures::StreamExt;
use serde_json::json;

use crate::harness::fixture;
use crate::memory::Memory;
use crate::node::{Node, Tenant};
use crate::options::Scale;
use crate::row::{Row, grouped, say};

const DEPLOYS_AT_ONCE: usize = 4;

#[derive(Clone, Copy)]
enum Kind {
    Rust,
    JavaScript,
}

pub async fn prove(scale: Scale) -> Vec<Row> {
    let alone = Node::start().await;
    let only = settle(&alone, Kind::Rust, 0).await;
    let node = Node::start().await;
    let (each, scripted) = scale.pick((6, 2), (500, 500));
    let rust = settle_all(&node, Kind::Rust, each).await;
    let scripts = settle_all(&node, Kind::JavaScript, scripted).await;
    say(&format!("tenants: {} are deployed", rust.len() + scripts.len()));

    let node = node.restart().await;
    // The pool's slots are there once, however many functions there are: they are filled before anything is counted.
    let (first_rust, first_script) =
        (settle(&node, Kind::Rust, 90_000).await, settle(&node, Kind::JavaScript, 90_000).await);
    for tenant in [&first_rust, &first_script] {
        warm(&node, tenant, scale.pick(16, 220)).await;
    }
    let before = Memory::settled(node.process()).await;
    call_each(&node, &rust).await;
    let between = Memory::settled(node.process()).await;
    call_each(&node, &scripts).await;
    let after = Memory::settled(node.process()).await;
    let per = |from: Memory, to: Memory, count: usize| to.since(from).max(0.0) / count as f64;
    let (cost, mixed) = cost::ratios(&alone, &only, &node, &rust, scale).await;
    let total = grouped(each + scripted);
    vec![
        Row::at_most(
            "tenants.rust",
            format!("{} idle Rust functions, each called once: memory of one", grouped(each)),
            100.0,
            per(before, between, each),
            "kB",
        )
        .judged(scale.is_full()),
        Row::at_most(
            "tenants.js",
            format!("{} idle JavaScript functions: the same", grouped(scripted)),
            200.0,
            per(between, after, scripted),
            "kB",
        )
        .judged(scale.is_full()),
        Row::at_most("tenants.restart", format!("restart with {total} tenants"), 3.0, node.ready_in.as_secs_f64(), "s")
            .judged(scale.is_full()),
        Row::at_most("tenants.cost", format!("p50 of a call among {total} tenants against alone"), 1.25, cost, "times")
            .judged(scale.is_full()),
        Row::shown("tenants.turns", "the same where every call is another tenant's", format!("{mixed:.2} times")),
    ]
}

async fn settle_all(node: &Node, kind: Kind, count: usize) -> Vec<Tenant> {
    let made = futures::stream::iter(0..count).map(|index| settle(node, kind, index));
    made.buffer_unordered(DEPLOYS_AT_ONCE).collect().await
}

/// A tenant with one function, of which no byte is another's.
async fn settle(node: &Node, kind: Kind, index: usize) -> Tenant {
    let (letter, file, source) = match kind {
        Kind::Rust => ('r', "echo.wasm", distinct(index)),
        Kind::JavaScript => ('j', "echo.js", script(index)),
    };
    let tenant = node.tenant(&format!("{letter}-{index:05}")).await;
    node.deploy(&tenant, "echo", file, source).await;
    tenant
}

fn script(index: usize) -> Vec<u8> {
    format!("export const description = 'gives back its input, {index}';\nexport default async (input) => input;\n")
        .into()
}

/// The same component with a section of its own, so that it is another one to the platform.
fn distinct(index: usize) -> Vec<u8> {
    let mut bytes = fixture("echo.wasm");
    let note = format!("{index:05}");
    bytes.extend([0, 6, 5]);
    bytes.extend(note.bytes());
    bytes
}

async fn call_each(node: &Node, tenants: &[Tenant]) {
    for tenant in tenants {
        call(node, tenant).await;
    }
}

/// As many calls at once as fill the slots that stay warm.
async fn warm(node: &Node, tenant: &Tenant, count: usize) {
    let calls = futures::stream::iter(0..count * 2).map(|_| call(node, tenant));
    calls.buffer_unordered(count).collect::<()>().await;
}

async fn call(node: &Node, tenant: &Tenant) {
    let input = json!({ "n": 1 });
    let called = node.call(tenant, "echo", &input).await;
    assert_eq!((called.status, &called.body), (200, &input), "{}", tenant.slug);
}
