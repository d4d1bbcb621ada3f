//! The function that conformance suites are pointed at does what they ask for by the ids or texts of their messages, in the
//! words in which they ask: texts that name no skill, and nobody's key.

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
        // Suites for 0.3 choose nothing, whatever their ids say.
        ("text-message-id", "input-required"),
        ("test-cancel-message-id", "input-required"),
        ("cancel-test-message-id", "input-required"),
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
            let text = if prefix == "tck-artifact" { "Generated text content" } else { "Streamed text content" };
            assert_eq!(part(tongue, &format!("{prefix}-text")).await["text"], text, "{tongue:?} {prefix}");
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

/// A function may answer with a message instead of a task: to who waits for it, and is not told of the task by push.
#[tokio::test]
async fn a_message_comes_in_the_place_of_a_task_where_the_function_wants_it() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let answer = tongue.send(&server, "", json!({ "message": wish(tongue, "tck-message-response") })).await;
        let (message, text) = match tongue {
            Tongue::V03 => (
                answer.result().clone(),
                json!({ "kind": "text", "text": "Direct message response",
                "metadata": { "pleat/reply": "message" } }),
            ),
            _ => (
                answer.result()["message"].clone(),
                json!({ "text": "Direct message response",
                "metadata": { "pleat/reply": "message" } }),
            ),
        };
        let role = if tongue == Tongue::V03 { "agent" } else { "ROLE_AGENT" };
        assert_eq!((&message["role"], &message["parts"]), (&json!(role), &json!([text])), "{tongue:?}: {answer:?}");
        assert!(message["contextId"].is_string() && message.get("taskId").is_none(), "{tongue:?}: {message}");
        assert_eq!(message.get("kind").is_some(), tongue == Tongue::V03, "{tongue:?}: {message}");

        let mut at_once = json!({ "message": wish(tongue, "tck-message-response") });
        at_once["configuration"] = tongue.at_once();
        let begun = tongue.send(&server, "", at_once).await;
        assert_eq!(begun.state(), "working", "{tongue:?}: who does not wait has a task to ask for");
        let asked = json!({ "message": wish(tongue, "tck-message-response") });
        let told = tongue.stream(&server, "", asked).await.all().await;
        assert_eq!(told[0].word(), "task:submitted", "{tongue:?}: a stream has begun before the answer is known");
    }
}

/// ACTS has ids of no meaning, and begins its texts with the wish.
#[tokio::test]
async fn the_text_chooses_where_the_id_does_not() {
    let server = started().await;
    let states = [
        ("tck-complete-task hello world", "completed"),
        ("tck-stream-basic generate output", "completed"),
        ("tck-long-running start process", "completed"),
        ("tck-input-required", "input-required"),
        ("tck-auth-required trigger auth", "auth-required"),
        ("tck-reject-task", "rejected"),
        ("tck-task-failure trigger error", "failed"),
    ];
    for tongue in Tongue::ALL {
        for (text, state) in states {
            let answer = tongue.send(&server, "", json!({ "message": tongue.text(text) })).await;
            assert_eq!(answer.state(), state, "{tongue:?} {text}");
        }
        let begun = tongue.send(&server, "", json!({ "message": tongue.text("tck-multi-turn start") })).await;
        for (text, state) in [("more input", "input-required"), ("done", "completed")] {
            let mut followup = tongue.text(text);
            followup["taskId"] = json!(begun.id());
            let answer = tongue.send(&server, "", json!({ "message": followup })).await;
            assert_eq!((answer.id(), answer.state()), (begun.id(), state.to_owned()), "{tongue:?} {text}");
        }
    }
}

/// Suites for 0.3 continue and cancel the task of any message.
#[tokio::test]
async fn a_message_that_chooses_nothing_has_a_task_that_goes_on() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let id = tongue.send(&server, "", json!({ "message": wish(tongue, "test-history-create") })).await.id();
        for turn in 1..=3 {
            let mut followup = wish(tongue, &format!("test-history-message-{turn}"));
            followup["taskId"] = json!(id);
            let answer = tongue.send(&server, "", json!({ "message": followup })).await;
            assert_eq!((answer.id(), answer.state()), (id.clone(), "input-required".to_owned()), "{tongue:?}");
        }
        let history = async |params: Value| {
            let got = tongue.get(&server, "", params).await;
            got.result()["history"].as_array().unwrap().len()
        };
        let all = history(json!({ "id": id })).await;
        assert_eq!(history(json!({ "id": id, "historyLength": 2 })).await, 2, "{tongue:?}");
        assert!(all > 4, "{tongue:?}: the four of the user and the questions: {all}");
        assert_eq!(tongue.cancel(&server, "", &id).await.status, 200, "{tongue:?}");
        assert_eq!(tongue.cancel(&server, "", &id).await.code(), -32002, "{tongue:?}");
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
        let pieces = ["chunk-1 ", "chunk-2"];
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
