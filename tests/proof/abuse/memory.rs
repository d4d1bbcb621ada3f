//! Guests that take memory and sleep on it: the tenant's budget holds, and the others are served.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use serde_json::json;

use crate::guest::Guest;
use crate::harness::fixture;
use crate::memory::Memory;
use crate::node::Node;
use crate::options::Scale;
use crate::row::Row;

const MEGABYTE: f64 = 1024.0;
/// Each guest takes this many pages of 64 KiB and writes all of them.
const PAGES: usize = 3_200;
/// The plan `standard`, and a quarter of it for what the server needs beside.
const ALLOWED: f64 = 1.25 * 1024.0;

pub async fn prove(scale: Scale) -> Vec<Row> {
    let count = scale.pick(12, 60);
    let node = Node::start().await;
    let sleeper = node.tenant_with_plan("sleepers", "standard").await;
    let honest = node.tenant("honest").await;
    node.deploy(&sleeper, "hoard", "hoard.wat", hoarding()).await;
    node.deploy(&honest, "echo", "echo.wasm", fixture("echo.wasm")).await;
    let before = Memory::settled(node.process()).await;
    let input = json!(1);
    let mut calls: FuturesUnordered<_> = (0..count).map(|_| node.call(&sleeper, "hoard", &input)).collect();
    let (mut most, mut refused, mut faults, mut named) = (before, Vec::new(), Vec::new(), 0);
    let mut look = tokio::time::interval(Duration::from_millis(50));
    loop {
        tokio::select! {
            ended = calls.next() => match ended {
                None => break,
                Some(called) if called.status == 200 => {}
                Some(called) if called.body.to_string().contains("memory") => named += 1,
                Some(called) => faults.push(format!("{} {}", called.status, called.body)),
            },
            _ = look.tick() => {
                let now = Memory::of(node.process());
                if now.kilobytes > most.kilobytes { most = now; }
                let called = node.call(&honest, "echo", &json!({ "n": 1 })).await;
                if called.status != 200 { refused.push(format!("{} {}", called.status, called.body)); }
            }
        }
    }
    faults.extend(node.faults());
    let after = Memory::settled(node.process()).await;
    let tried = format!("{count} calls of one tenant that sleep on 200 MiB each ({named} refused)");
    vec![
        Row::at_most(
            "abuse.memory",
            format!("{tried}: memory, more than before"),
            ALLOWED,
            most.since(before) / MEGABYTE,
            "MB",
        ),
        Row::at_most("abuse.memory.kept", "the same: afterwards", 128.0, after.since(before) / MEGABYTE, "MB"),
        Row::none("abuse.memory.served", "the same: calls of another tenant that were not served", &refused),
        Row::none("abuse.memory.named", "the same: refusals that do not name the budget", &faults),
    ]
}

/// Writes to every page, then sleeps for three seconds.
fn hoarding() -> Vec<u8> {
    let handle = format!(
        "(if (i32.eq (memory.grow (i32.const {PAGES})) (i32.const -1)) (then unreachable)) \
         (memory.fill (i32.const 65536) (i32.const 165) (i32.const {})) \
         (call $block (call $subscribe (i64.const 3000000000)))",
        PAGES * 65_536
    );
    let limits = json!({ "cpuMs": 20_000, "wallMs": 60_000, "memoryBytes": 256 << 20 });
    Guest::limited(&handle, limits).with_clock().bytes()
}
