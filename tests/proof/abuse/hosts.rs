//! Requests with hosts that a stranger makes up: caches keyed by them must not grow.

use crate::harness::fixture;
use crate::memory::Memory;
use crate::node::Node;
use crate::options::Scale;
use crate::raw;
use crate::row::{Row, grouped};

const MEGABYTE: f64 = 1024.0;

pub async fn prove(scale: Scale) -> Vec<Row> {
    let node = Node::start().await;
    let tenant = node.tenant("hosts").await;
    node.deploy(&tenant, "echo", "echo.wasm", fixture("echo.wasm")).await;
    let path = format!("/t/{}/.well-known/agent-card.json", tenant.slug);
    let count = scale.pick(300, 20_000);
    for index in 0..50 {
        raw::exchange(node.address, &raw::request("GET", &path, &made_up(index), "", &[], "")).await;
    }
    let before = Memory::settled(node.process()).await;
    let mut faults = Vec::new();
    for index in 50..50 + count {
        let host = made_up(index);
        let answer = raw::exchange(node.address, &raw::request("GET", &path, &host, "", &[], "")).await;
        if !matches!(answer.status(), Some(200 | 421 | 429)) {
            faults.push(format!("{host}: {:?}", answer.status()));
        }
        if !answer.text.to_ascii_lowercase().contains("x-content-type-options: nosniff") {
            faults.push(format!("{host}: no nosniff"));
        }
    }
    let kept = Memory::settled(node.process()).await.since(before) / MEGABYTE;
    let tried = format!("{} cards asked for under hosts that were made up", grouped(count));
    vec![
        Row::at_most("abuse.hosts", format!("{tried}: memory kept"), 24.0, kept, "MB"),
        Row::none("abuse.hosts.answers", "the same: other answers than a card, 421 or 429, with `nosniff`", &faults),
    ]
}

/// Addresses are taken for the control host, whichever they are.
fn made_up(index: usize) -> String {
    let [_, _, high, low] = u32::try_from(index).unwrap_or(u32::MAX).to_be_bytes();
    format!("10.7.{high}.{low}:{}", 1_000 + index % 60_000)
}
