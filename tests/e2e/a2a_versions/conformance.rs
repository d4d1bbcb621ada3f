//! The function that conformance suites are pointed at does what they ask for by the ids of their messages, in the words
//! in which they ask: texts that name no skill, and nobody's key.

use serde_json::{Value, json};

use crate::harness::{TestServer, Tongue, example};

async fn started() -> TestServer {
    let server = TestServer::start().await;
    let source = example("conformance/conformance.js");
    server.deploy("conformance.js", source, "&name=conformance&visibility=public").await;
    server
}

fn wish(tongue: Tongue, id: &str) -> Value {
    let mut message = tongue.text("whatever it says");
    message["messageId"] = json!(format!("{id}-0123abcd"));
    message
}

#[tokio::test]
async fn each_beginning_of_an_id_has_its_behaviour() {
    let server = started().await;
    let states = [
        ("tck-complete-task", "completed"),
        ("tck-nothing-that-is-known", "completed"),
        ("tck-delayed-complete", "completed"),
        ("tck-input-required", "input-required"),
        ("tck-auth-required", "auth-required"),
        ("tck-reject-task", "rejected"),
        ("tck-task-failure", "failed"),
        ("tck-stream-artifact-chunked", "completed"),
    ];
    for tongue in Tongue::ALL {
        for (id, state) in states {
            let answer = tongue.send(&server, "", json!({ "message": wish(tongue, id) })).await;
            assert_eq!(answer.state(), state, "{tongue:?} {id}");
        }
    }
}

#[tokio::test]
async fn artifacts_are_of_the_kind_that_is_asked_for() {
    let server = started().await;
    let part = async |tongue: Tongue, id: &str| {
        let answer = tongue.send(&server, "", json!({ "message": wish(tongue, id) })).await;
        answer.task()["artifacts"][0]["parts"][0].clone()
    };
    for prefix in ["tck-artifact", "tck-stream-artifact"] {
        for tongue in [Tongue::V1, Tongue::Rest] {
            assert!(part(tongue, &format!("{prefix}-text")).await["text"].is_string(), "{tongue:?} {prefix}");
            assert_eq!(part(tongue, &format!("{prefix}-data")).await["data"], json!({ "key": "value", "count": 42 }));
            let file = part(tongue, &format!("{prefix}-file")).await;
            assert!(file["raw"].is_string(), "{tongue:?}: {file}");
            assert_eq!((&file["filename"], &file["mediaType"]), (&json!("output.txt"), &json!("text/plain")));
            let link = part(tongue, &format!("{prefix}-file-url")).await;
            assert_eq!(link["url"], "https://example.com/output.txt", "{tongue:?}: {link}");
            assert_eq!((&link["filename"], &link["mediaType"]), (&json!("output.txt"), &json!("text/plain")));
        }
        let file = part(Tongue::V03, &format!("{prefix}-file")).await;
        assert!(file["file"]["bytes"].is_string(), "{file}");
        let link = part(Tongue::V03, &format!("{prefix}-file-url")).await;
        assert_eq!(link["file"]["uri"], "https://example.com/output.txt", "{link}");
    }
}

/// What suites do with such tasks.
#[tokio::test]
async fn tasks_are_waited_for_or_not_streamed_followed_and_continued() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let mut at_once = json!({ "message": wish(tongue, "tck-delayed-complete") });
        at_once["configuration"] = tongue.at_once();
        assert_eq!(tongue.send(&server, "", at_once).await.state(), "working", "{tongue:?}");

        let chunked = json!({ "message": wish(tongue, "tck-stream-artifact-chunked") });
        let told = tongue.stream(&server, "", chunked).await.all().await;
        let words: Vec<String> = told.iter().map(|told| told.word()).collect();
        let pieces = ["the first part, ", "and the last"];
        let whole = ["task:submitted", "status:working", pieces[0], pieces[1], "status:completed"];
        assert_eq!(words, whole, "{tongue:?}");
        assert_eq!((&told[2].body["append"], &told[3].body["append"]), (&json!(false), &json!(true)), "{tongue:?}");
        assert_eq!(told[3].body["lastChunk"], true, "{tongue:?}");

        let waiting = tongue.send(&server, "", json!({ "message": wish(tongue, "tck-input-required") })).await.id();
        let mut readers = Vec::new();
        for _ in 0..2 {
            let mut reader = tongue.subscribe(&server, "", &waiting, None).await;
            assert_eq!(reader.next().await.unwrap().word(), "task:input-required", "{tongue:?}");
            readers.push(reader);
        }
        let mut followup = wish(tongue, "tck-complete-task");
        followup["taskId"] = json!(waiting);
        assert_eq!(tongue.send(&server, "", json!({ "message": followup })).await.state(), "completed", "{tongue:?}");
        for reader in readers {
            assert_eq!(reader.all().await.last().unwrap().word(), "status:completed", "{tongue:?}");
        }
        let cancelable = tongue.send(&server, "", json!({ "message": wish(tongue, "tck-input-required") })).await.id();
        assert_eq!(tongue.cancel(&server, "", &cancelable).await.status, 200, "{tongue:?}");
        // Ids that are none of ours are of no task.
        for id in ["tck-nonexistent-get-002-0123abcd", "tck-nonexistent"] {
            assert_eq!(tongue.get(&server, "", json!({ "id": id })).await.code(), -32001, "{tongue:?}");
            assert_eq!(tongue.cancel(&server, "", id).await.code(), -32001, "{tongue:?}");
            let mut message = wish(tongue, "tck-multi-004");
            message["taskId"] = json!(id);
            assert_eq!(tongue.send(&server, "", json!({ "message": message })).await.code(), -32001, "{tongue:?}");
        }
    }
}
