//! What a guest says while it runs: log, chunks, progress, and what it prints.

use pleat_domain::{CallLimits, LogLevel, Reason};
use pleat_runtime::ChunkBody;
use serde_json::{Value, json};

use super::{ask, ask_with, fails, value};

#[tokio::test]
async fn log_lines_are_cut_and_made_safe() {
    let (_, heard) = ask(json!({"do": "log", "message": "red \u{1b}[31m alert\r\nsecond line"})).await;
    assert_eq!(heard.log, [(LogLevel::Warn, "red \\u{1b}[31m alert\\u{d}\nsecond line".to_owned())]);
    let (_, heard) = ask(json!({"do": "log", "message": "é".repeat(10_000)})).await;
    let (_, line) = &heard.log[0];
    assert!(line.starts_with("éé") && line.ends_with("… (cut: 11808 more bytes)"), "{}", &line[line.len() - 40..]);
}

#[tokio::test]
async fn a_flood_of_log_lines_ends_with_a_line_that_says_so() {
    let limits = CallLimits { cpu_ms: 10_000, ..CallLimits::DEFAULT };
    for (lines, bytes) in [(10_000, 1_000), (100_000, 0)] {
        let (report, heard) = ask_with(json!({"do": "flood_log", "lines": lines, "bytes": bytes}), limits).await;
        assert!(report.result.is_ok());
        let total: usize = heard.log.iter().map(|(_, line)| line.len()).sum();
        assert!(total < 260_000 && heard.log.len() <= 16_385, "{total} bytes in {} lines", heard.log.len());
        assert_eq!(heard.log.last().unwrap().1, "the rest of the log was dropped: a call may log 256 KiB");
    }
}

#[tokio::test]
async fn printed_lines_reach_the_log_too() {
    let (report, heard) = ask(json!({"do": "print", "lines": 2, "text": "line"})).await;
    assert!(report.result.is_ok());
    assert_eq!(heard.log, [(LogLevel::Info, "line 0".to_owned()), (LogLevel::Info, "line 1".to_owned())]);
    let (_, heard) = ask(json!({"do": "print_error", "text": "careful"})).await;
    assert_eq!(heard.log, [(LogLevel::Warn, "careful".to_owned())]);
    let limits = CallLimits { cpu_ms: 10_000, ..CallLimits::DEFAULT };
    let (report, heard) = ask_with(json!({"do": "print", "lines": 20_000, "text": "x".repeat(100)}), limits).await;
    assert!(report.result.is_ok());
    assert_eq!(heard.log.last().unwrap().1, "the rest of the log was dropped: a call may log 256 KiB");
}

#[tokio::test]
async fn chunks_and_progress_come_in_order() {
    let (_, heard) = ask(json!({"do": "emit", "chunks": 3, "delay_ms": 1, "artifact": "story"})).await;
    let texts: Vec<_> = heard
        .chunks
        .iter()
        .map(|chunk| match &chunk.body {
            ChunkBody::Text(text) => (text.as_str(), chunk.artifact.as_deref(), chunk.last),
            other => panic!("{other:?}"),
        })
        .collect();
    let name = Some("story");
    assert_eq!(texts, [("chunk 1", name, false), ("chunk 2", name, false), ("chunk 3", name, true)]);
    assert_eq!(heard.progress.iter().map(|progress| progress.done).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
}

#[tokio::test]
async fn a_bad_chunk_is_an_answer_and_not_a_failure() {
    let emit = |kind: &str, text: String, artifact: Value| {
        value(json!({"do": "emit_raw", "kind": kind, "text": text, "artifact": artifact}))
    };
    assert_eq!(emit("data", r#"{"a":1}"#.into(), json!(null)).await, "Ok(())");
    assert_eq!(emit("text", "x".repeat((256 << 10) + 1), json!(null)).await, "Err(EmitError::TooLarge)");
    for (kind, text, artifact) in [("data", "{", json!(null)), ("blocks", "{}", json!(null)), ("text", "x", json!(""))]
    {
        let answer = emit(kind, text.into(), artifact).await;
        assert!(answer.as_str().unwrap().contains("Invalid"), "{answer}");
    }
}

#[tokio::test]
async fn events_are_counted_and_the_stubborn_are_stopped() {
    let limits = CallLimits { events: 100, cpu_ms: 10_000, ..CallLimits::DEFAULT };
    let (_, heard) = ask_with(json!({"do": "flood_events", "count": 5_000}), limits).await;
    assert_eq!(heard.chunks.len(), 100);
    let (_, heard) = ask_with(json!({"do": "flood_progress", "count": 5_000}), limits).await;
    assert_eq!(heard.progress.len(), 100);
    let failure = fails(json!({"do": "flood_events", "count": 20_000}), limits, Reason::OutputLimit).await;
    assert_eq!(failure.message, "`probe` kept emitting after its 100 events were used up");
}
