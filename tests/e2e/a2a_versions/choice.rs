//! A message that names no skill, where there are several: the agent asks, and the answer goes on.

use serde_json::json;

use crate::harness::tongue::state_of;
use crate::harness::{TestServer, Tongue, answering, redacted};

async fn with_skills() -> TestServer {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    server.deploy_probe().await;
    let guest = answering(&json!({ "description": "Closed to nobody\nSecond line" }), "\"closed\"");
    server.deploy("guest.wat", guest.clone(), "&name=closed&visibility=listed").await;
    server.deploy("guest.wat", guest, "&name=hidden&visibility=unlisted").await;
    server
}

#[tokio::test]
async fn the_question_lists_what_the_caller_may_call() {
    let server = with_skills().await;
    for tongue in Tongue::ALL {
        let asked = tongue.send(&server, "", json!({ "message": tongue.text("hello") })).await;
        assert_eq!(asked.state(), "input-required", "{asked:?}");
        let text = asked.task()["status"]["message"]["parts"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("Which skill is this for? Answer with its name.\n- echo"), "{text}");
        assert!(text.contains("\n- probe: Does what its input says"), "{text}");
        assert!(!text.contains("closed") && !text.contains("hidden"), "{text}");
        let names = &asked.task()["metadata"]["schema"]["properties"]["skill"]["enum"];
        assert_eq!(*names, json!(["echo", "probe"]), "{tongue:?}");
        let asked = tongue.send(&server, &server.invoke, json!({ "message": tongue.text("hello") })).await;
        let names = &asked.task()["metadata"]["schema"]["properties"]["skill"]["enum"];
        assert_eq!(*names, json!(["closed", "echo", "probe"]), "{tongue:?}: unlisted ones are called by name");
    }
}

#[tokio::test]
async fn the_only_skill_on_the_card_is_meant_whatever_else_the_caller_may_call() {
    let server = TestServer::start().await;
    let guest = |word: &str| answering(&json!({ "description": "d" }), &format!("{word:?}"));
    let deploy = async |name: &str, visibility: &str| {
        server.deploy("guest.wat", guest(name), &format!("&name={name}&visibility={visibility}")).await;
    };
    let sent =
        async |tongue: Tongue| tongue.send(&server, &server.invoke, json!({ "message": tongue.text("x") })).await;
    deploy("hidden", "unlisted").await;
    for tongue in Tongue::ALL {
        assert_eq!(sent(tongue).await.task()["artifacts"][0]["name"], "hidden-result", "{tongue:?}: there is no other");
    }
    deploy("deep", "unlisted").await;
    for tongue in Tongue::ALL {
        assert_eq!(sent(tongue).await.code(), -32602, "{tongue:?}: there is nothing to list");
    }
    deploy("shown", "listed").await;
    for tongue in Tongue::ALL {
        assert_eq!(sent(tongue).await.task()["artifacts"][0]["name"], "shown-result", "{tongue:?}");
    }
    deploy("second", "listed").await;
    for tongue in Tongue::ALL {
        assert_eq!(sent(tongue).await.state(), "input-required", "{tongue:?}");
    }
}

#[tokio::test]
async fn the_answer_names_the_skill_and_what_was_asked_first_is_the_input() {
    let server = with_skills().await;
    for tongue in Tongue::ALL {
        let answers = [
            tongue.message(json!([{ "text": " `Echo`. " }])),
            tongue.message(json!([{ "data": { "skill": "echo" } }])),
            {
                let mut message = tongue.text("that one");
                message["metadata"] = json!({ "skillId": "echo" });
                message
            },
        ];
        for mut answer in answers {
            let asked = tongue.send(&server, "", json!({ "message": tongue.text("hello") })).await;
            answer["taskId"] = json!(asked.id());
            let done = tongue.send(&server, "", json!({ "message": answer })).await;
            assert_eq!((done.state().as_str(), done.id()), ("completed", asked.id()), "{done:?}");
            assert_eq!(done.task()["artifacts"][0]["artifactId"], "echo-result");
            assert_eq!(done.task()["artifacts"][0]["parts"][0]["text"], "hello");
            assert_eq!(done.task()["history"].as_array().unwrap().len(), 3);
        }
        let asked = tongue.send(&server, "", json!({ "message": tongue.text("hello") })).await;
        let mut answer = tongue.message(json!([{ "data": { "skill": "probe", "input": { "do": "context" } } }]));
        answer["taskId"] = json!(asked.id());
        let done = tongue.send(&server, "", json!({ "message": answer })).await;
        let told = &done.task()["artifacts"][0]["parts"][0]["data"];
        assert_eq!(
            (&told["turn"], &told["skill"]),
            (&json!(1), &json!("probe")),
            "it is the function's first: {done:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_that_names_no_skill_leaves_the_question_open() {
    let server = with_skills().await;
    for tongue in Tongue::ALL {
        let asked = tongue.send(&server, "", json!({ "message": tongue.text("hello") })).await;
        for parts in [
            json!([{ "text": "whatever" }]),
            json!([{ "text": "hidden" }]),
            json!([{ "data": { "x": 1 } }]),
            json!([{ "data": { "skill": "nothing" } }]),
            // The probe takes no text.
            json!([{ "text": "" }, { "text": "probe" }]),
        ] {
            let mut answer = tongue.message(parts);
            answer["taskId"] = json!(asked.id());
            let refused = tongue.send(&server, "", json!({ "message": answer })).await;
            assert_eq!(refused.code(), -32602, "{refused:?}");
        }
        let mut closed = tongue.text("closed");
        closed["taskId"] = json!(asked.id());
        assert_eq!(tongue.send(&server, "", json!({ "message": closed })).await.status, 401);
        let got = tongue.get(&server, "", json!({ "id": asked.id() })).await;
        assert_eq!(got.result(), asked.task(), "{tongue:?}");
        let canceled = tongue.cancel(&server, "", &asked.id()).await;
        assert_eq!(state_of(canceled.result()), "canceled");
    }
}

#[tokio::test]
async fn the_question_is_streamed_and_followed_like_any_other() {
    let server = with_skills().await;
    for tongue in Tongue::ALL {
        let told = tongue.stream(&server, "", json!({ "message": tongue.text("hello") })).await.all().await;
        let words: Vec<String> = told.iter().map(|told| told.word()).collect();
        assert_eq!(words, ["task:submitted", "status:working", "status:input-required"], "{tongue:?}");
        let id = told[0].body["id"].as_str().unwrap();
        let mut reader = tongue.subscribe(&server, "", id, None).await;
        assert_eq!(reader.next().await.unwrap().word(), "task:input-required");
        let mut answer = tongue.text("echo");
        answer["taskId"] = json!(id);
        let told = tongue.stream(&server, "", json!({ "message": answer })).await.all().await;
        let words: Vec<String> = told.iter().map(|told| told.word()).collect();
        assert_eq!(words, ["task:working", "status:working", "hello", "status:completed"], "{tongue:?}");
        let followed: Vec<String> = reader.all().await.iter().map(|told| told.word()).collect();
        assert_eq!(followed, words[1..], "{tongue:?}");
    }
}

#[tokio::test]
async fn a_message_of_01_is_asked_too_and_the_owner_sees_a_task_without_a_skill() {
    let server = with_skills().await;
    let message = json!({ "role": "user", "parts": [{ "type": "text", "text": "hello" }] });
    let asked = server.rpc("tasks/send", json!({ "message": message })).await;
    assert_eq!(asked["result"]["status"]["state"], "input-required", "{asked}");
    let id = asked["result"]["id"].as_str().unwrap();
    let task = server.task(id).await;
    assert_eq!((&task["skill"], &task["version"], &task["turn"]), (&json!(null), &json!(null), &json!(0)));
    let answer = json!({ "role": "user", "parts": [{ "type": "text", "text": "echo" }] });
    let done = server.rpc("tasks/send", json!({ "id": id, "message": answer })).await;
    assert_eq!(done["result"]["artifacts"][0]["parts"][0]["text"], "hello", "{done}");
    let task = server.task(id).await;
    assert_eq!((&task["skill"], &task["version"], &task["turn"]), (&json!("echo"), &json!(1), &json!(1)));
    // The documented shape has no conversation: it must say what it wants.
    let refused = server.rpc("tasks/send", json!({ "message": "hello" })).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let by_name = server.rpc("tasks/send", json!({ "message": message })).await;
    let id = by_name["result"]["id"].clone();
    let done = server.rpc("tasks/send", json!({ "id": id, "message": "echo" })).await;
    assert_eq!(done["result"]["status"]["state"], "completed", "{}", redacted(done.clone()));
}

/// Somebody else can neither see nor answer the question.
#[tokio::test]
async fn only_its_caller_answers_the_question() {
    let server = with_skills().await;
    for tongue in Tongue::ALL {
        let asked = tongue.send(&server, &server.invoke, json!({ "message": tongue.text("hello") })).await;
        let mut answer = tongue.text("echo");
        answer["taskId"] = json!(asked.id());
        assert_eq!(tongue.send(&server, "", json!({ "message": answer })).await.code(), -32001, "{tongue:?}");
        let own = tongue.send(&server, &server.invoke, json!({ "message": answer })).await;
        assert_eq!(own.state(), "completed");
    }
}
