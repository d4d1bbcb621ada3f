//! Guests that do not end, wherever they are entered, and that use up whatever they are given.

use serde_json::{Value, json};

use super::{Attack, Limits, Specimen};
use crate::guest::Guest;

const SPIN: &str = "(loop (br 0))";

pub fn all() -> Vec<Specimen> {
    let mut all = vec![
        guest("loop-start", Guest::new("").put("functions", "(func $s (loop (br 0))) (start $s)")),
        guest("loop-handle", Guest::new(SPIN)),
        guest("loop-realloc", Guest::new("").put("realloc", "(loop (br 0)) (unreachable)")),
        guest("loop-post-return", Guest::new("").put("after", SPIN)),
        guest("loop-destructor", Guest::new("(call $unmake (call $make (i32.const 1)))").with_trapdoor()),
        guest("recursion", Guest::new("(call $deep)").put("functions", "(func $deep (call $deep) (call $deep))")),
        guest("recursion-mutual", Guest::new("(call $a)").put("functions", "(func $a (call $b)) (func $b (call $a))")),
        guest("memory-grow", Guest::new("(loop (br_if 0 (i32.ne (i32.const -1) (memory.grow (i32.const 16)))))")),
        guest("memory-grow-touch", Guest::new(GROW_AND_TOUCH)),
        guest("memory-many", Guest::new("").put("table", "(memory 400) (memory 400) (memory 400)")),
        guest("memory-declared", Guest::new("").put("table", "(memory 65536)")),
        guest("memory-fill", Guest::new(FILL)),
        guest("memory-copy", Guest::new(COPY)),
        guest("table-grow", Guest::new(TABLE_GROW).put("table", "(table $t 1 funcref)")),
        guest("table-declared", Guest::new("").put("table", "(table 10000000 funcref)")),
        guest("table-many", Guest::new("").put("table", &"(table 2000 funcref) ".repeat(15))),
        guest("sleep-long", Guest::new("(call $block (call $subscribe (i64.const 86400000000000)))").with_clock()),
        guest("sleep-flood", Guest::new(SLEEP_FLOOD).with_clock()),
        guest("handles-leaked", Guest::new("(loop (drop (call $subscribe (i64.const 1))) (br 0))").with_clock()),
        guest("clock-flood", Guest::new("(loop (drop (call $now)) (br 0))").with_clock()),
        guest("result-nowhere", Guest::new("(return (i32.const -8))")),
        guest("result-endless", Guest::new(ENDLESS_RESULT)),
        guest(
            "realloc-nowhere",
            Guest::new("").put("realloc", "(if (i32.gt_u (local.get 3) (i32.const 0)) (then (return (i32.const -4))))"),
        ),
    ];
    all.push(Specimen {
        name: "loop-describe".to_owned(),
        attack: Attack::File {
            file: "minimal.wat",
            source: String::from_utf8(crate::harness::fixture("minimal.wat"))
                .expect("UTF-8")
                .replace(";;; describe", "(loop (br 0))")
                .into_bytes(),
            limits: Limits::DEFAULT,
        },
    });
    all.extend(probe());
    all
}

const GROW_AND_TOUCH: &str = "(local $at i32)
    (loop $more
      (local.set $at (i32.shl (memory.grow (i32.const 16)) (i32.const 16)))
      (if (i32.ne (local.get $at) (i32.const -65536))
        (then (memory.fill (local.get $at) (i32.const 165) (i32.const 1048576)) (br $more))))";
const FILL: &str = "(drop (memory.grow (i32.const 900)))
    (loop (memory.fill (i32.const 65536) (i32.const 165) (i32.const 58000000)) (br 0))";
const COPY: &str = "(drop (memory.grow (i32.const 900)))
    (loop (memory.copy (i32.const 65536) (i32.const 65537) (i32.const 58000000)) (br 0))";
const TABLE_GROW: &str = "(loop (br_if 0 (i32.ne (i32.const -1) (table.grow $t (ref.null func) (i32.const 1000)))))";
const SLEEP_FLOOD: &str = "(local $p i32)
    (loop (local.set $p (call $subscribe (i64.const 1))) (call $block (local.get $p)) (call $drop (local.get $p)) (br 0))";
/// `ok` with a value of 4 GiB.
const ENDLESS_RESULT: &str = "(i32.store (i32.const 0x88) (i32.const 64)) (i32.store (i32.const 140) (i32.const -1))
    (i32.store8 (i32.const 128) (i32.const 0)) (i32.store8 (i32.const 132) (i32.const 0)) (return (i32.const 128))";

fn guest(name: &str, guest: Guest) -> Specimen {
    let attack = Attack::File { file: "hostile.wat", source: guest.bytes(), limits: Limits::SHORT };
    Specimen { name: name.to_owned(), attack }
}

/// What tests/fixtures/probe can do.
fn probe() -> Vec<Specimen> {
    let rows = [
        ("rust-spin", json!({ "do": "spin" })),
        ("rust-alloc", json!({ "do": "alloc_forever" })),
        ("rust-alloc-once", json!({ "do": "alloc_once", "bytes": 2_000_000_000 })),
        ("rust-recurse", json!({ "do": "recurse" })),
        ("rust-wild-pointer", json!({ "do": "wild_pointer" })),
        ("rust-panic", json!({ "do": "panic" })),
        ("rust-abort", json!({ "do": "abort" })),
        ("rust-exit", json!({ "do": "exit", "code": 0 })),
        ("output-flood", json!({ "do": "flood_output", "bytes": 30_000_000 })),
        ("log-flood", json!({ "do": "flood_log", "lines": 1_000_000, "bytes": 1_000 })),
        ("log-line", json!({ "do": "flood_log", "lines": 3, "bytes": 20_000_000 })),
        ("event-flood", json!({ "do": "flood_events", "count": 1_000_000 })),
        ("progress-flood", json!({ "do": "flood_progress", "count": 10_000_000 })),
        ("handle-flood", json!({ "do": "leak_handles", "count": 1_000_000 })),
        ("print-flood", json!({ "do": "print", "lines": 1_000_000, "text": "x".repeat(100) })),
    ];
    let call = |(name, input): (&str, Value)| Specimen {
        name: name.to_owned(),
        attack: Attack::Call { function: "probe", input, limits: Limits::DEFAULT },
    };
    rows.into_iter().map(call).collect()
}
