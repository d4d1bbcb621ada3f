//! Tasks that ask, are answered, and end.

use serde_json::{Value, json};

use super::{ask, probe, started};
use crate::harness::Tongue;
use crate::harness::tongue::state_of;

#[tokio::test]
async fn a_message_is_answered_with_its_task() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let answer = tongue.send(&server, "", probe(tongue, json!({ "do": "echo", "value": "hi" }))).await;
        assert_eq!(answer.state(), "completed", "{tongue:?}");
        let [artifact] = answer.task()["artifacts"].as_array().unwrap().as_slice() else { panic!("{answer:?}") };
        assert_eq!(artifact["artifactId"], "probe-result");
        assert_eq!(artifact["parts"][0]["text"], "hi");
        let got = tongue.get(&server, "", json!({ "id": answer.id() })).await;
        assert_eq!(got.result(), answer.task(), "{tongue:?}");
    }
}

#[tokio::test]
async fn a_task_that_asks_goes_on_with_the_answer_and_keeps_what_was_said() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let asked = tongue.send(&server, "", probe(tongue, ask("what now?"))).await;
        assert_eq!(asked.state(), "input-required", "{tongue:?}");
        let status = &asked.task()["status"];
        assert_eq!(status["message"]["parts"][0]["text"], "what now?");
        assert_eq!(asked.task()["metadata"]["schema"], json!({ "type": "object" }));
        let told = format!("{status} {}", asked.task()["metadata"]);
        assert!(!told.contains("kept"), "the function's state is not the caller's: {told}");

        let answer = tongue.answer(&asked.id(), json!({ "do": "conversation" }));
        let done = tongue.send(&server, "", json!({ "message": answer })).await;
        assert_eq!((done.state().as_str(), done.id()), ("completed", asked.id()));
        let seen = &done.task()["artifacts"][0]["parts"][0]["data"];
        assert_eq!(seen["state"], json!({ "kept": "what now?" }), "{tongue:?}");
        assert_eq!(seen["history"].as_array().unwrap().len(), 2);
        assert_eq!(seen["message"]["messageId"], answer["messageId"]);
        let history = done.task()["history"].as_array().unwrap();
        assert_eq!(history.len(), 3, "{tongue:?}");
        assert_eq!(history[1]["parts"][0]["text"], "what now?");
        assert_eq!(history[2]["messageId"], answer["messageId"], "messages of later turns are in it");
        assert_eq!(history[2]["taskId"], done.id());
        assert_eq!(history[2]["contextId"], done.task()["contextId"]);
    }
}

#[tokio::test]
async fn every_way_to_end_a_turn_has_its_state() {
    let server = started().await;
    let ways = [
        (json!({ "do": "need_auth", "prompt": "log in" }), "auth-required", "log in"),
        (json!({ "do": "reject", "reason": "not today" }), "rejected", "not today"),
        (json!({ "do": "fail", "code": "no", "message": "it broke" }), "failed", "it broke"),
    ];
    for tongue in Tongue::ALL {
        for (input, state, text) in &ways {
            let answer = tongue.send(&server, "", probe(tongue, input.clone())).await;
            assert_eq!(answer.state(), *state, "{tongue:?}");
            assert_eq!(answer.task()["status"]["message"]["parts"][0]["text"], *text);
        }
        let asked = tongue.send(&server, "", probe(tongue, json!({ "do": "need_auth", "prompt": "log in" }))).await;
        let answer = tongue.answer(&asked.id(), json!({ "do": "echo", "value": "in" }));
        assert_eq!(tongue.send(&server, "", json!({ "message": answer })).await.state(), "completed");
    }
}

#[tokio::test]
async fn a_task_that_is_over_or_runs_takes_no_message() {
    let server = started().await;
    for tongue in Tongue::ALL {
        for input in [json!({ "do": "echo", "value": 1 }), json!({ "do": "reject", "reason": "no" })] {
            let done = tongue.send(&server, "", probe(tongue, input)).await;
            let again = json!({ "message": tongue.answer(&done.id(), json!({ "do": "echo", "value": 2 })) });
            assert_eq!(tongue.send(&server, "", again.clone()).await.code(), -32004, "{tongue:?}");
            assert_eq!(tongue.stream(&server, "", again).await.refused().await.code(), -32004, "{tongue:?}");
        }
        let mut slow = probe(tongue, json!({ "do": "sleep", "ms": 20_000 }));
        slow["configuration"] = tongue.at_once();
        let running = tongue.send(&server, "", slow).await;
        assert_eq!(running.state(), "working", "{tongue:?}");
        let again = json!({ "message": tongue.answer(&running.id(), json!({ "do": "echo", "value": 2 })) });
        assert_eq!(tongue.send(&server, "", again).await.code(), -32004, "{tongue:?}");
        let canceled = tongue.cancel(&server, "", &running.id()).await;
        assert_eq!(state_of(canceled.result()), "canceled");
        assert_eq!(tongue.cancel(&server, "", &running.id()).await.code(), -32002, "{tongue:?}");
    }
}

#[tokio::test]
async fn a_send_that_does_not_wait_is_found_again() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let mut params = probe(tongue, json!({ "do": "emit", "chunks": 2, "delay_ms": 150 }));
        params["configuration"] = tongue.at_once();
        let started = std::time::Instant::now();
        let sent = tongue.send(&server, "", params).await;
        assert_eq!(sent.state(), "working", "{tongue:?}");
        assert!(started.elapsed() < std::time::Duration::from_millis(300), "{tongue:?}");
        let told = tongue.subscribe(&server, "", &sent.id(), None).await.all().await;
        assert_eq!(told.last().unwrap().word(), "status:completed", "{told:?}");
        let got = tongue.get(&server, "", json!({ "id": sent.id() })).await;
        assert_eq!(state_of(got.result()), "completed");
        // Saying the default changes nothing.
        let mut params = probe(tongue, json!({ "do": "sleep", "ms": 30 }));
        params["configuration"] = match tongue {
            Tongue::V03 => json!({ "blocking": true }),
            _ => json!({ "returnImmediately": false }),
        };
        assert_eq!(tongue.send(&server, "", params).await.state(), "completed");
    }
}

#[tokio::test]
async fn a_conversation_keeps_its_id_and_a_task_its_conversation() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let in_context = |mut message: Value, context: &str| {
            message["contextId"] = json!(context);
            json!({ "message": message })
        };
        let call = tongue.call("probe", ask("more?"));
        let first = tongue.send(&server, "", in_context(call, "talk one; of mine")).await;
        assert_eq!(first.task()["contextId"], "talk one; of mine", "{tongue:?}");
        let second = tongue.send(&server, "", in_context(tongue.call("probe", ask("?")), "talk one; of mine")).await;
        assert_ne!(second.id(), first.id());
        assert_eq!(second.task()["contextId"], first.task()["contextId"]);

        let answer = || tongue.answer(&first.id(), json!({ "do": "context" }));
        let wrong = tongue.send(&server, "", in_context(answer(), "another talk")).await;
        assert_eq!(wrong.code(), -32602, "{tongue:?}");
        let done = tongue.send(&server, "", in_context(answer(), "talk one; of mine")).await;
        assert_eq!(done.state(), "completed", "{done:?}");
        assert_eq!(done.task()["artifacts"][0]["parts"][0]["data"]["contextId"], "talk one; of mine");
        let inferred =
            tongue.send(&server, "", json!({ "message": tongue.answer(&second.id(), json!({ "do": "context" })) }));
        assert_eq!(inferred.await.task()["contextId"], "talk one; of mine", "{tongue:?}");
    }
}

#[tokio::test]
async fn history_is_as_long_as_it_was_asked_for() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let asked = tongue.send(&server, "", probe(tongue, ask("one?"))).await;
        let mut answer = json!({ "message": tongue.answer(&asked.id(), ask("two?")) });
        answer["configuration"] = json!({ "historyLength": 2 });
        let again = tongue.send(&server, "", answer).await;
        assert_eq!(again.task()["history"].as_array().unwrap().len(), 2, "{tongue:?}");
        let history = async |length: Option<u32>| {
            let mut params = json!({ "id": asked.id() });
            if let Some(length) = length {
                params["historyLength"] = json!(length);
            }
            tongue.get(&server, "", params).await.result().get("history").map(|all| all.as_array().unwrap().len())
        };
        assert_eq!(history(None).await, Some(4), "{tongue:?}: all of it");
        assert_eq!(history(Some(0)).await, None, "{tongue:?}");
        assert_eq!(history(Some(1)).await, Some(1), "{tongue:?}");
        assert_eq!(history(Some(2_147_483_647)).await, Some(4), "{tongue:?}");
        let mut none = probe(tongue, json!({ "do": "echo", "value": 1 }));
        none["configuration"] = json!({ "historyLength": 0 });
        assert_eq!(tongue.send(&server, "", none).await.task().get("history"), None, "{tongue:?}");
    }
}

#[tokio::test]
async fn references_extensions_and_metadata_stay_with_the_message() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let mut message = tongue.call("probe", json!({ "do": "conversation" }));
        message["referenceTaskIds"] = json!(["task_00000000000000000000000000000000", "anything"]);
        message["extensions"] = json!(["https://example.com/x"]);
        message["metadata"]["mine"] = json!({ "a": [1, null] });
        let answer = tongue.send(&server, "", json!({ "message": message })).await;
        let kept = &answer.task()["history"][0];
        for name in ["messageId", "referenceTaskIds", "extensions", "metadata", "role"] {
            assert_eq!(kept[name], message[name], "{tongue:?} {name}");
        }
        let seen = &answer.task()["artifacts"][0]["parts"][0]["data"]["message"];
        assert_eq!(seen["referenceTaskIds"], message["referenceTaskIds"]);
        assert_eq!(seen["source"], "a2a-external");
    }
}

/// What the request says beside the message is the function's to read, and stays out of what callers see.
#[tokio::test]
async fn wishes_and_metadata_of_the_request_reach_the_function() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let mut params = probe(tongue, json!({ "do": "conversation" }));
        params["metadata"] = json!({ "trace": "t-1" });
        params["configuration"] = json!({ "acceptedOutputModes": ["text/plain", "image/png"] });
        let answer = tongue.send(&server, "", params).await;
        let seen = &answer.task()["artifacts"][0]["parts"][0]["data"]["message"];
        let said = json!({ "metadata": { "trace": "t-1" }, "acceptedOutputModes": ["text/plain", "image/png"] });
        assert_eq!(seen["request"], said, "{tongue:?}");
        assert_eq!(answer.task()["history"][0].get("request"), None, "{tongue:?}");
        let plain = tongue.send(&server, "", probe(tongue, json!({ "do": "conversation" }))).await;
        let seen = &plain.task()["artifacts"][0]["parts"][0]["data"]["message"];
        assert_eq!(seen.get("request"), None, "{tongue:?}: nothing was said");
        // The next turn has its own.
        let asked = tongue.send(&server, "", probe(tongue, ask("more?"))).await;
        let mut params = json!({ "message": tongue.answer(&asked.id(), json!({ "do": "conversation" })) });
        params["metadata"] = json!({ "trace": "t-2" });
        let done = tongue.send(&server, "", params).await;
        let seen = &done.task()["artifacts"][0]["parts"][0]["data"];
        assert_eq!(seen["message"]["request"], json!({ "metadata": { "trace": "t-2" } }), "{tongue:?}");
        assert_eq!(seen["history"][0].get("request"), None, "{tongue:?}");
    }
    let message = json!({ "role": "user", "parts": [{ "type": "data", "data": { "do": "conversation" } }] });
    let params = json!({ "skill": "probe", "message": message, "metadata": { "trace": "t-3" } });
    let answer = server.rpc("tasks/send", params).await;
    let seen = answer["result"]["artifacts"][0]["parts"][0]["text"].as_str().unwrap();
    let seen: Value = serde_json::from_str(seen).unwrap();
    assert_eq!(seen["message"]["request"], json!({ "metadata": { "trace": "t-3" } }), "{answer}");
}
