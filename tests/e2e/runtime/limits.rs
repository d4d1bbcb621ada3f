//! Every limit, what it answers, and that it answers soon.

use std::time::{Duration, Instant};

use pleat_domain::{CallLimits, Reason};
use pleat_runtime::Entry;
use serde_json::json;

use super::{ask_with, call_with, fails, failure, handle, minimal, nothing, short};

#[tokio::test]
async fn an_endless_loop_ends_with_its_cpu_time() {
    let began = Instant::now();
    let (report, _) = ask_with(json!({"do": "spin"}), short()).await;
    assert!(report.cpu >= Duration::from_millis(100) && report.cpu < Duration::from_millis(150), "{:?}", report.cpu);
    assert!(began.elapsed() < Duration::from_secs(60));
    let failure = failure(report);
    assert_eq!(failure.reason, Reason::CpuLimit);
    assert_eq!(failure.message, "`probe` used more than 100 ms of CPU time");
}

#[tokio::test]
async fn a_loop_is_stopped_wherever_it_is() {
    let spin = "(loop (br 0)) (unreachable)";
    let rows = [
        ("functions", "(func $s (loop (br 0))) (start $s)"),
        ("describe", spin),
        ("handle", spin),
        ("realloc", spin),
        ("after", "(loop (br 0))"),
    ];
    for (place, code) in rows {
        let entry = if place == "describe" { Entry::Describe } else { handle(&nothing()) };
        let (report, _) = call_with(&crate::harness::runtime(), &minimal(place, code), entry, short()).await;
        assert_eq!(failure(report).reason, Reason::CpuLimit, "{place}");
    }
}

#[tokio::test]
async fn waiting_costs_wall_time_and_no_cpu_time() {
    let limits = CallLimits { wall_ms: 200, ..CallLimits::DEFAULT };
    let (report, _) = ask_with(json!({"do": "sleep", "ms": 60_000}), limits).await;
    assert!(report.wall >= Duration::from_millis(200) && report.wall < Duration::from_millis(900), "{:?}", report.wall);
    assert!(report.cpu < Duration::from_millis(50), "{:?}", report.cpu);
    let failure = failure(report);
    assert_eq!(failure.reason, Reason::WallLimit);
    assert_eq!(failure.message, "`probe` took longer than 200 ms");
}

#[tokio::test]
async fn memory_is_counted_over_everything() {
    let few = CallLimits { memory_bytes: 32 << 20, cpu_ms: 10_000, ..CallLimits::DEFAULT };
    for input in [json!({"do": "alloc_forever"}), json!({"do": "alloc_once", "bytes": 2_000_000_000})] {
        let failure = fails(input, few, Reason::MemoryLimit).await;
        assert_eq!(failure.message, "`probe` needed more than 32 MiB of memory");
    }
    let (report, _) = ask_with(json!({"do": "fill_memory", "bytes": 16 << 20}), few).await;
    assert!(report.result.is_ok());
    assert!((17 << 20..33 << 20).contains(&report.peak_memory), "{}", report.peak_memory);
}

#[tokio::test]
async fn several_memories_share_one_limit() {
    // Each of them alone would fit: 1 + 400 + 400 pages are 50 MiB.
    let source = minimal("memory", "(memory 400) (memory 400)");
    let run = |memory_bytes| {
        let source = source.clone();
        let limits = CallLimits { memory_bytes, ..CallLimits::DEFAULT };
        async move { call_with(&crate::harness::runtime(), &source, handle(&nothing()), limits).await.0 }
    };
    assert!(run(64 << 20).await.result.is_ok());
    assert_eq!(failure(run(32 << 20).await).reason, Reason::MemoryLimit);
}

#[tokio::test]
async fn a_table_cannot_grow_without_end() {
    let source = minimal(
        "functions",
        "(table $t 1 funcref) (func $grow (loop (br_if 0 (i32.ne (i32.const -1)
           (table.grow $t (ref.null func) (i32.const 1000))))) (unreachable)) (start $grow)",
    );
    let (report, _) = call_with(&crate::harness::runtime(), &source, handle(&nothing()), short()).await;
    let failure = failure(report);
    assert_eq!(failure.reason, Reason::MemoryLimit);
    assert!(failure.message.contains("tables of more than 20000 elements"), "{}", failure.message);
}

#[tokio::test]
async fn endless_recursion_is_told_apart_where_it_can_be() {
    let source = minimal("functions", "(func $deep (call $deep) (call $deep)) (start $deep)");
    let (report, _) = call_with(&crate::harness::runtime(), &source, handle(&nothing()), short()).await;
    assert_eq!(failure(report).reason, Reason::StackLimit);
    // Rust keeps a stack of its own in its memory and runs off the end of it.
    let failure = fails(json!({"do": "recurse"}), short(), Reason::Trap).await;
    assert!(failure.message.contains("endless recursion"), "{}", failure.message);
}

#[tokio::test]
async fn a_flood_of_output_is_cut_off() {
    let limits = CallLimits { output_bytes: 1 << 20, cpu_ms: 10_000, ..CallLimits::DEFAULT };
    let failure = fails(json!({"do": "flood_output", "bytes": 1_100_000}), limits, Reason::OutputLimit).await;
    assert_eq!(failure.message, "`probe` returned 1100002 bytes; the most is 1 MiB");
    let failure = fails(json!({"do": "flood_output", "bytes": 10_000_000}), limits, Reason::OutputLimit).await;
    assert_eq!(failure.message, "`probe` gave out more than 1 MiB at once");
}

#[tokio::test]
async fn bulk_operations_are_bounded_by_the_memory() {
    let began = Instant::now();
    let (report, _) = ask_with(json!({"do": "bulk_spin", "bytes": 32 << 20}), short()).await;
    assert_eq!(failure(report).reason, Reason::CpuLimit);
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn handles_are_counted() {
    let limits = CallLimits { cpu_ms: 10_000, ..CallLimits::DEFAULT };
    let failure = fails(json!({"do": "leak_handles", "count": 5_000}), limits, Reason::MemoryLimit).await;
    assert!(failure.message.contains("too many open handles"), "{}", failure.message);
}

#[tokio::test]
async fn a_panic_says_what_and_where() {
    let failure = fails(json!({"do": "panic"}), short(), Reason::Trap).await;
    assert!(failure.message.starts_with("`probe` stopped itself (panic or abort): boom at "), "{}", failure.message);
    assert!(failure.detail.unwrap().contains("boom"));
    fails(json!({"do": "abort"}), short(), Reason::Trap).await;
    fails(json!({"do": "wild_pointer"}), short(), Reason::Trap).await;
}

#[tokio::test]
async fn ending_the_process_is_no_way_to_return() {
    for code in [0, 3] {
        let failure = fails(json!({"do": "exit", "code": code}), short(), Reason::Exit).await;
        assert_eq!(failure.message, "`probe` ended its process instead of returning");
    }
}
