//! Events as they are streamed.

use insta::assert_snapshot;
use pleat_domain::content::Block;
use pleat_domain::failure::{Failure, Reason};
use pleat_domain::json;
use pleat_domain::task::{Artifact, Ask};
use serde_json::{Value, json};
use time::macros::datetime;

use super::*;
use crate::legacy::task::tests::id;

fn stream() -> EventStream {
    EventStream::new(TaskHeader::new(id(), Some("t-1".to_owned()), ContextId::try_from("s-1".to_owned()).unwrap()))
}

fn event(seq: u32, body: EventBody) -> Event {
    Event { seq, at: datetime!(2026-11-16 10:00 UTC), body }
}

fn status(state: TaskState) -> EventBody {
    EventBody::Status(StatusChange::to(state))
}

fn chunk(name: &str, text: &str, append: bool, last: bool) -> EventBody {
    EventBody::Artifact(ArtifactChunk { artifact: Artifact::of_blocks(name, vec![Block::text(text)]), append, last })
}

fn render(stream: &mut EventStream, body: EventBody) -> Option<Value> {
    stream.event_json(&event(4, body)).map(|view| serde_json::to_value(view).unwrap())
}

/// One line of JSON for each.
fn lines<T: serde::Serialize>(items: &[T]) -> String {
    items.iter().map(|item| serde_json::to_string(item).unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_turn_is_streamed_in_both_shapes() {
    let bodies = [
        status(TaskState::Working),
        EventBody::Progress(Progress { done: 1.0, total: Some(2.0), note: Some("half".to_owned()) }),
        chunk("hello-stream", "hel", false, false),
        chunk("hello-stream", "lo", true, true),
        status(TaskState::Completed),
    ];
    let mut stream = stream();
    let results: Vec<Value> = bodies.into_iter().filter_map(|body| render(&mut stream, body)).collect();
    assert_snapshot!(lines(&results), @r#"
    {"id":"t-1","taskId":"t-1","contextId":"s-1","kind":"status-update","status":{"state":"working","timestamp":"2026-11-16T10:00:00.000Z"},"final":false}
    {"id":"t-1","taskId":"t-1","contextId":"s-1","kind":"status-update","status":{"state":"working","timestamp":"2026-11-16T10:00:00.000Z","message":{"kind":"message","messageId":"t-1-progress-4","role":"agent","parts":[{"type":"text","kind":"text","text":"half"}],"taskId":"t-1","contextId":"s-1"}},"final":false,"metadata":{"progress":{"done":1.0,"total":2.0,"note":"half"}}}
    {"id":"t-1","taskId":"t-1","contextId":"s-1","kind":"artifact-update","artifact":{"artifactId":"hello-stream","name":"hello-stream","index":0,"parts":[{"type":"text","kind":"text","text":"hel"}],"append":false,"lastChunk":false},"append":false,"lastChunk":false}
    {"id":"t-1","taskId":"t-1","contextId":"s-1","kind":"artifact-update","artifact":{"artifactId":"hello-stream","name":"hello-stream","index":0,"parts":[{"type":"text","kind":"text","text":"lo"}],"append":true,"lastChunk":true},"append":true,"lastChunk":true}
    {"id":"t-1","taskId":"t-1","contextId":"s-1","kind":"status-update","status":{"state":"completed","timestamp":"2026-11-16T10:00:00.000Z"},"final":true}
    "#);
}

#[test]
fn final_is_said_on_the_last_event_of_a_turn_only() {
    for state in TaskState::ALL {
        let last = state.is_terminal() || state.is_interrupted();
        assert_eq!(render(&mut stream(), status(state)).unwrap()["final"], json!(last), "{state:?}");
    }
    let progress = EventBody::Progress(Progress { done: 1.0, total: None, note: None });
    let progress = render(&mut stream(), progress).unwrap();
    assert_eq!(progress["final"], json!(false));
    assert_eq!(progress["status"].get("message"), None);
}

#[test]
fn failures_and_prompts_are_said_without_what_is_private() {
    let failure = Failure::new(Reason::CpuLimit, "`hello` used more than 1000 ms of CPU").with_detail("stack");
    let failed = StatusChange { failure: Some(failure), ..StatusChange::to(TaskState::Failed) };
    let failed = render(&mut stream(), EventBody::Status(failed)).unwrap();
    assert_eq!(failed["metadata"], json!({"failure": {"reason": "cpu_limit", "retryable": false}}));
    assert_eq!(failed["status"]["message"]["parts"][0]["text"], "`hello` used more than 1000 ms of CPU");
    assert!(!failed.to_string().contains("stack"));

    let ask = Ask { state: Some(json::raw("hidden")), ..Ask::new("Name?") };
    let waits = StatusChange { ask: Some(ask), ..StatusChange::to(TaskState::InputRequired) };
    let waits = render(&mut stream(), EventBody::Status(waits)).unwrap();
    assert_eq!(waits["status"]["message"]["parts"][0]["text"], "Name?");
    assert!(waits.get("metadata").is_none() && !waits.to_string().contains("hidden"));
}

#[test]
fn artifacts_keep_their_index_also_after_a_resume() {
    let index = |stream: &mut EventStream, name: &str| {
        render(stream, chunk(name, "x", true, false)).unwrap()["artifact"]["index"].as_u64().unwrap()
    };
    let mut first = stream();
    assert_eq!(["a", "b", "a"].map(|name| index(&mut first, name)), [0, 1, 0]);
    let mut resumed = stream();
    resumed.skip(&event(1, status(TaskState::Working)));
    resumed.skip(&event(2, chunk("a", "x", false, false)));
    assert_eq!(index(&mut resumed, "b"), 1);
}

#[test]
fn traces_are_not_streamed_but_the_end_of_their_artifact_is() {
    let thinking: Block = serde_json::from_value(json!({"type": "thinking", "thinking": "hm"})).unwrap();
    let chunk = |last| {
        let artifact = Artifact::of_blocks("a", vec![thinking.clone()]);
        EventBody::Artifact(ArtifactChunk { artifact, append: false, last })
    };
    assert_eq!(render(&mut stream(), chunk(false)), None);
    assert_eq!(render(&mut stream(), chunk(true)).unwrap()["artifact"]["parts"], json!([]));
}
