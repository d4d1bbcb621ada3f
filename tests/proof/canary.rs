//! What one tenant's call leaves in memory is never found by another's.
//!
//! Both tenants deploy the same component, so that their calls take turns in slots that hold the same image: that is
//! where memory is reset by the page instead of being mapped anew. A second component is mixed in now and then.

use serde_json::{Value, json};

use crate::guest::Guest;
use crate::node::{Node, Tenant};
use crate::options::Scale;
use crate::row::{Row, grouped};

/// Takes a number of two digits. The second says how far the memory grows; with 1 as the first, all of it is painted,
/// else all of it is searched. What it answers itself lies below byte 256 and at 57344.
const HANDLE: &str = "(local $at i32) (local $end i32)
    (drop (memory.grow (i32.shl (i32.const 1)
      (i32.sub (i32.load8_u (i32.add (local.get 0) (i32.const 1))) (i32.const 48)))))
    (local.set $end (i32.shl (memory.size) (i32.const 16)))
    (if (i32.eq (i32.load8_u (local.get 0)) (i32.const 49))
      (then
        (memory.fill (i32.const 256) (i32.const 0xA5) (i32.sub (i32.const 57344) (i32.const 256)))
        (memory.fill (i32.const 57352) (i32.const 0xA5) (i32.sub (local.get $end) (i32.const 57352))))
      (else
        (local.set $at (i32.const 256))
        (loop $look
          (if (i64.eq (i64.load (local.get $at)) (i64.const 0xA5A5A5A5A5A5A5A5)) (then (return (call $found))))
          (local.set $at (i32.add (local.get $at) (i32.const 8)))
          (br_if $look (i32.lt_u (local.get $at) (local.get $end))))))";

/// `\"found\"` instead of `null`.
const FOUND: &str = "(data (i32.const 96) \"\\\"found\\\"\")
    (func $found (result i32)
      (i32.store8 (i32.const 128) (i32.const 0)) (i32.store8 (i32.const 132) (i32.const 0))
      (i32.store (i32.const 136) (i32.const 96)) (i32.store (i32.const 140) (i32.const 7))
      (i32.const 128))";

/// As powers of two, in pages: below, around and above the two megabytes that a slot keeps.
const SIZES: [u32; 6] = [0, 3, 4, 5, 6, 8];

pub async fn prove(scale: Scale) -> Vec<Row> {
    let node = Node::start().await;
    let (painter, seeker) = (node.tenant("painter").await, node.tenant("seeker").await);
    for tenant in [&painter, &seeker] {
        node.deploy(tenant, "canary", "canary.wat", guest("")).await;
    }
    node.deploy(&seeker, "other", "canary.wat", guest(";; another component")).await;
    let count = scale.pick(400, 10_000);
    let mut found = Vec::new();
    for turn in 0..count / 2 {
        let size = SIZES[turn % SIZES.len()];
        expect(&node, &painter, "canary", 10 + size, &mut found).await;
        let function = if turn % 10 == 9 { "other" } else { "canary" };
        expect(&node, &seeker, function, 20 + size, &mut found).await;
    }
    found.extend(node.faults());
    // A search that could find nothing would prove nothing.
    let blind =
        if sees_its_own(&node, &seeker).await { vec![] } else { vec!["a canary that is there is not seen".to_owned()] };
    let tried =
        format!("{} calls that paint all their memory, or search all of it for another tenant's", grouped(count));
    vec![
        Row::none("canary.found", format!("{tried}: paint found"), &found),
        Row::none("canary.blind", "the same search where there is something to find: nothing found", &blind),
    ]
}

fn guest(note: &str) -> Vec<u8> {
    Guest::limited(HANDLE, json!({ "cpuMs": 10_000 })).put("functions", &format!("{note}\n    {FOUND}")).bytes()
}

async fn expect(node: &Node, tenant: &Tenant, function: &str, input: u32, found: &mut Vec<String>) {
    let called = node.call(tenant, function, &json!(input)).await;
    if (called.status, &called.body) != (200, &Value::Null) {
        found.push(format!("{function} with {input} in {}: {} {}", tenant.slug, called.status, called.body));
    }
}

async fn sees_its_own(node: &Node, tenant: &Tenant) -> bool {
    let paint = "(memory.fill (i32.const 30000) (i32.const 0xA5) (i32.const 64))";
    let painted = HANDLE.replace("(local $end i32)", &format!("(local $end i32) {paint}"));
    let source = Guest::new(&painted).put("functions", FOUND).bytes();
    node.deploy(tenant, "painted", "painted.wat", source).await;
    node.call(tenant, "painted", &json!(23)).await.body == json!("found")
}
