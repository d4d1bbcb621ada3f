//! Streams are guarded as they flow.

use serde_json::{Value, json};

use super::{checks, set};
use crate::harness::{TestServer, Tongue};

const PIECES: &str = "export const description = 'Puts out pieces';
    const pause = (ms) => new Promise((go) => setTimeout(go, ms));
    export default async function (input, ctx) {
      for (const piece of input.pieces) { ctx.emit(piece); await pause(input.pause ?? 0); }
      return null;
    }";

async fn streaming(policy: Value) -> TestServer {
    let server = TestServer::start().await;
    server.deploy("pieces.js", PIECES, "&visibility=public").await;
    set(&server, "", policy).await;
    server
}

/// All that is streamed, and the artifact that is kept.
async fn streamed(server: &TestServer, input: Value) -> (Vec<Value>, String, String) {
    let message = json!({ "skill": "pieces", "message": input });
    let frames = server.rpc_stream("", "tasks/sendSubscribe", message, None).await.all().await;
    let bodies: Vec<Value> = frames.into_iter().map(|frame| frame.data["result"].clone()).collect();
    let text = |event: &Value| event["artifact"]["parts"][0]["text"].as_str().unwrap_or_default().to_owned();
    let flowed: String = bodies.iter().map(text).collect();
    let id = bodies[0]["id"].as_str().unwrap().to_owned();
    let kept = server.rpc("tasks/get", json!({ "id": id })).await;
    let kept = kept["result"]["artifacts"][0]["parts"][0]["text"].as_str().unwrap_or_default().to_owned();
    (bodies, flowed, kept)
}

#[tokio::test]
async fn what_is_cut_between_chunks_is_redacted_all_the_same() {
    let server = streaming(checks(json!([{ "type": "pii", "action": "redact", "target": "output" }]))).await;
    let text = "Dear jane.doe@example.com, your card 4111 1111 1111 1111 was charged. Yours, max@example.org";
    let expected = "Dear [EMAIL_1], your card [CARD_1] was charged. Yours, [EMAIL_2]";
    for size in [1, 3, 7, 20, 200] {
        let characters: Vec<char> = text.chars().collect();
        let pieces: Vec<String> = characters.chunks(size).map(|piece| piece.iter().collect()).collect();
        let (_, flowed, kept) = streamed(&server, json!({ "pieces": pieces, "pause": 2 })).await;
        assert_eq!((flowed.as_str(), kept.as_str()), (expected, expected), "in pieces of {size}");
    }
}

#[tokio::test]
async fn a_check_that_blocks_holds_the_stream_to_its_end() {
    let server = streaming(checks(json!([{ "type": "secrets", "action": "block", "target": "output" }]))).await;
    let key = format!("AKIA{}", "IOSFODNN7EXAMPLQ");
    let (bodies, flowed, kept) = streamed(&server, json!({ "pieces": ["all ", "is ", "well"], "pause": 60 })).await;
    assert_eq!((flowed.as_str(), kept.as_str()), ("all is well", "all is well"), "{bodies:?}");
    let artifacts = bodies.iter().filter(|body| body.get("artifact").is_some()).count();
    assert_eq!(artifacts, 1, "at the end, in one: {bodies:?}");

    let pieces = json!({ "pieces": ["the key is ", key[..9], key[9..], " - keep it"], "pause": 60 });
    let (bodies, flowed, kept) = streamed(&server, pieces).await;
    assert_eq!((flowed.as_str(), kept.as_str()), ("", ""), "nothing partial leaves: {bodies:?}");
    let last = bodies.last().unwrap();
    assert_eq!((&last["status"]["state"], &last["final"]), (&json!("failed"), &json!(true)), "{last}");
}

/// A stream that nothing looks at, or that is only warned of, is not delayed: its first chunk is there while it runs.
#[tokio::test]
async fn streams_that_no_check_changes_are_not_held() {
    for policy in [json!({ "checks": [] }), checks(json!([{ "type": "pii", "action": "warn", "target": "output" }]))] {
        let server = streaming(policy).await;
        let message = Tongue::V1.call("pieces", json!({ "pieces": ["jane.doe@exam", "ple.com"], "pause": 1_500 }));
        let mut events = Tongue::V1.stream(&server, "", json!({ "message": message })).await;
        let begun = std::time::Instant::now();
        while let Some(told) = events.next().await {
            if told.kind == "artifact" {
                assert!(told.body.to_string().contains("jane.doe@exam"), "{}", told.body);
                assert!(begun.elapsed() < std::time::Duration::from_millis(2_500), "while it still runs");
                break;
            }
        }
    }
}

/// Blocks that say more than their text are redacted like plain ones, however they are cut.
#[tokio::test]
async fn annotated_texts_are_part_of_the_stream() {
    let server = TestServer::start().await;
    let source = "export const description = 'Puts out blocks';
        export default (input, ctx) => {
          for (const text of input.pieces) ctx.emitBlocks([{ type: 'text', text, annotations: { audience: ['user'] } }]);
          return null;
        };";
    server.deploy("pieces.js", source, "&visibility=public").await;
    set(&server, "", checks(json!([{ "type": "pii", "action": "redact", "target": "output" }]))).await;
    for pieces in [json!(["to jane.doe@exa", "mple.com, now"]), json!(["to jane.doe@example.com, now"])] {
        let (status, body) = server.http("", "pieces", json!({ "pieces": pieces })).await;
        assert_eq!(status, 200, "{body}");
        let (_, page) = server.api(reqwest::Method::GET, "/tenants/acme/tasks?limit=1", &server.read, None).await;
        let id = page["tasks"][0]["id"].as_str().unwrap_or_else(|| panic!("{page}")).to_owned();
        let task = server.task(&id).await;
        let blocks = task["artifacts"][0]["blocks"].as_array().unwrap_or_else(|| panic!("{task}")).clone();
        let text: String = blocks.iter().map(|block| block["text"].as_str().unwrap()).collect();
        assert_eq!(text, "to [EMAIL_1], now", "{task}");
        assert_eq!(blocks[0]["annotations"], json!({ "audience": ["user"] }), "{task}");
    }
}
