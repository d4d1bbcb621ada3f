//! Tasks that ask their caller and go on with the answer.

use serde_json::{Value, json};

use super::{code, result_json, result_text};
use crate::harness::{Frame, TestServer, redacted};

fn ask(prompt: &str) -> Value {
    json!({ "do": "need_input", "prompt": prompt, "schema": { "type": "object" }, "state": { "kept": prompt } })
}

async fn begin(server: &TestServer, key: &str) -> String {
    let params = json!({ "skill": "probe", "message": ask("what now?") });
    let (_, answer) = server.rpc_as(key, "tasks/send", params).await;
    assert_eq!(answer["result"]["status"]["state"], "input-required", "{answer}");
    answer["result"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_task_that_asks_says_what_it_waits_for() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let sent = server.rpc("tasks/send", json!({ "skill": "probe", "message": ask("what now?") })).await;
    assert!(!sent.to_string().contains("kept"), "the function's state is not the caller's");
    let found = server.rpc("tasks/get", json!({ "id": sent["result"]["id"] })).await;
    assert_eq!(found["result"], sent["result"]);
    assert_eq!(
        redacted(sent)["result"],
        json!({
            "id": "task_#",
            "sessionId": "ctx_#",
            "contextId": "ctx_#",
            "kind": "task",
            "status": {
                "state": "input-required",
                "timestamp": "#",
                "message": {
                    "kind": "message",
                    "messageId": "task_#-#",
                    "role": "agent",
                    "parts": [{ "type": "text", "kind": "text", "text": "what now?" }],
                    "taskId": "task_#",
                    "contextId": "ctx_#"
                }
            },
            "artifacts": [],
            "metadata": { "schema": { "type": "object" } }
        })
    );
    let auth = server
        .rpc("tasks/send", json!({ "skill": "probe", "message": { "do": "need_auth", "prompt": "log in" } }))
        .await;
    assert_eq!(auth["result"]["status"]["state"], "auth-required");
    assert_eq!(auth["result"]["status"]["message"]["parts"][0]["text"], "log in");
}

#[tokio::test]
async fn the_answer_goes_to_the_function_with_what_it_kept() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let id = begin(&server, "").await;
    let answer = json!({ "role": "user", "parts": [{ "type": "data", "data": { "do": "conversation" } }] });
    let (_, done) = server.rpc_as("", "tasks/send", json!({ "id": id, "message": answer, "historyLength": 9 })).await;
    assert_eq!(done["result"]["id"], id);
    let seen = result_json(&done);
    assert_eq!(seen["state"], json!({ "kept": "what now?" }));
    let texts: Vec<&Value> = seen["history"].as_array().unwrap().iter().map(|message| &message["content"]).collect();
    let asked = json!([{ "type": "data", "data": ask("what now?") }]);
    assert_eq!(texts, [&asked, &json!([{ "type": "text", "text": "what now?" }])]);
    assert_eq!(seen["message"]["content"], json!([{ "type": "data", "data": { "do": "conversation" } }]));
    let roles: Vec<&Value> =
        done["result"]["history"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "agent", "user"]);
    let latest = server.rpc("tasks/get", json!({ "id": id, "historyLength": 1 })).await;
    assert_eq!(latest["result"]["history"][0]["parts"][0]["data"], json!({ "do": "conversation" }));
}

#[tokio::test]
async fn a_task_goes_on_under_either_id_and_in_either_shape() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let context = json!({ "do": "context" });
    let as_message = json!({ "role": "user", "parts": [{ "type": "text", "text": context.to_string() }] });
    for message in [context, as_message] {
        let name = format!("mine-{}", message.get("role").is_some());
        let params = json!({ "id": name, "skill": "probe", "message": ask("what now?") });
        let (_, asked) = server.rpc_as(&server.invoke, "tasks/send", params).await;
        assert_eq!(asked["result"]["id"], name);
        let (_, done) = server.rpc_as(&server.invoke, "tasks/send", json!({ "id": name, "message": message })).await;
        assert_eq!(done["result"]["id"], name);
        let told = result_json(&done);
        assert_eq!((&told["turn"], &told["attempt"]), (&json!(2), &json!(1)));
        assert_eq!(told["contextId"], done["result"]["contextId"]);
    }
}

#[tokio::test]
async fn only_a_waiting_task_takes_a_message() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let id = begin(&server, "").await;
    let again = json!({ "id": id, "message": { "do": "echo", "value": "x" } });
    assert_eq!(result_text(&server.rpc("tasks/send", again.clone()).await), "x");
    for method in ["tasks/send", "tasks/sendSubscribe"] {
        let refused = server.rpc(method, again.clone()).await;
        let error = json!({ "code": -32004, "message": "the task is completed and takes no further message" });
        assert_eq!(refused["error"], error);
    }
    let slow = json!({ "skill": "probe", "message": { "do": "sleep", "ms": 30_000 } });
    let mut running = server.rpc_stream("", "tasks/sendSubscribe", slow, None).await;
    let id = running.next().await.unwrap().data["result"]["id"].clone();
    let refused = server.rpc("tasks/send", json!({ "id": id, "message": { "do": "echo", "value": "x" } })).await;
    let error = json!({ "code": -32004, "message": "the task is working and takes no further message" });
    assert_eq!(refused["error"], error);
    server.rpc("tasks/cancel", json!({ "id": id })).await;
}

#[tokio::test]
async fn two_answers_at_once_continue_it_once() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let id = begin(&server, "").await;
    let answers = (0..6).map(|_| {
        let params = json!({ "id": id, "message": { "do": "sleep", "ms": 20 } });
        server.rpc("tasks/send", params)
    });
    let answers = futures::future::join_all(answers).await;
    let accepted = answers.iter().filter(|answer| answer.get("result").is_some()).count();
    assert_eq!(accepted, 1, "{answers:?}");
    assert!(answers.iter().filter(|answer| answer.get("error").is_some()).all(|answer| code(answer) == -32004));
    assert_eq!(server.task(&id).await["turn"], 2);
}

#[tokio::test]
async fn a_waiting_task_is_continued_by_its_caller_only() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let id = begin(&server, &server.invoke).await;
    let (_, stranger) = {
        let (_, key) = server
            .api(
                reqwest::Method::POST,
                "/tenants/acme/keys",
                &server.admin,
                Some(json!({ "scopes": ["invoke"], "label": "x" })),
            )
            .await;
        let key = key["key"].as_str().unwrap_or_else(|| panic!("{key}")).to_owned();
        server.rpc_as(&key, "tasks/send", json!({ "id": id, "message": { "do": "context" } })).await
    };
    assert_eq!(stranger["error"], json!({ "code": -32001, "message": "task not found" }));
    assert_eq!(code(&server.rpc("tasks/send", json!({ "id": id, "message": { "do": "context" } })).await), -32001);
    let (_, own) =
        server.rpc_as(&server.invoke, "tasks/send", json!({ "id": id, "message": { "do": "context" } })).await;
    assert_eq!(result_json(&own)["turn"], 2);
}

/// Numbers go on over the turns; each stream of a turn ends with its own final event.
#[tokio::test]
async fn the_events_of_all_turns_are_one_sequence() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let id = begin(&server, "").await;
    let states = |frames: &[Frame]| -> Vec<(u32, String)> {
        frames
            .iter()
            .map(|frame| {
                let result = &frame.data["result"];
                let state = result["status"]["state"].as_str().unwrap_or("artifact");
                (frame.id.unwrap(), format!("{state}{}", if result["final"] == true { "!" } else { "" }))
            })
            .collect()
    };
    let turn = json!({ "id": id, "message": ask("and now?") });
    let second = server.rpc_stream("", "tasks/sendSubscribe", turn, None).await.all().await;
    let first_seq = second[0].id.unwrap();
    let number = |from: u32, names: &[&str]| -> Vec<(u32, String)> {
        (from..).zip(names.iter().map(|name| (*name).to_owned())).collect()
    };
    assert_eq!(states(&second), number(first_seq, &["working", "input-required!"]));
    let turn = json!({ "id": id, "message": { "do": "echo", "value": 1 } });
    let third = server.rpc_stream("", "tasks/sendSubscribe", turn, None).await.all().await;
    assert_eq!(states(&third), number(first_seq + 2, &["working", "artifact", "completed!"]));
    let whole = server.rpc_stream("", "tasks/resubscribe", json!({ "id": id }), None).await.all().await;
    let names = ["working", "input-required!", "working", "input-required!", "working", "artifact", "completed!"];
    assert_eq!(states(&whole), number(1, &names));
    assert_eq!(whole[whole.len() - 5..], [second, third].concat());
}

/// What a later turn puts out does not push out or double what an earlier one did.
#[tokio::test]
async fn artifacts_of_several_turns_stand_side_by_side() {
    let server = TestServer::start().await;
    let script = r#"
        export const description = "Talks and asks";
        export default function (input, ctx) {
          ctx.emit(`part ${ctx.turn} `, { artifact: "talk" });
          ctx.emit(`notes of turn ${ctx.turn}`, { artifact: `notes-${ctx.turn}` });
          return ctx.turn < 3 ? ctx.needInput("more?") : "done";
        }"#;
    server.deploy("talker.js", script, "&visibility=public").await;
    let first = server.rpc("tasks/send", json!({ "skill": "talker", "message": 1 })).await;
    let id = first["result"]["id"].clone();
    for _ in 0..2 {
        server.rpc("tasks/send", json!({ "id": id, "message": "yes" })).await;
    }
    let task = server.rpc("tasks/get", json!({ "id": id })).await;
    let mut names: Vec<&str> = task["result"]["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|artifact| artifact["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["notes-1", "notes-2", "notes-3", "talk", "talker-result"], "{task}");
    // A client that puts the chunks of the stream together comes to the same artifacts.
    let frames = server.rpc_stream("", "tasks/resubscribe", json!({ "id": id }), None).await.all().await;
    let mut built = std::collections::BTreeMap::<String, String>::new();
    for update in frames.iter().map(|frame| &frame.data["result"]).filter(|result| result["kind"] == "artifact-update")
    {
        let text = built.entry(update["artifact"]["name"].as_str().unwrap().to_owned()).or_default();
        if update["append"] == false {
            text.clear();
        }
        update["artifact"]["parts"]
            .as_array()
            .unwrap()
            .iter()
            .for_each(|part| text.push_str(part["text"].as_str().unwrap()));
    }
    for artifact in task["result"]["artifacts"].as_array().unwrap() {
        let texts = artifact["parts"].as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap());
        assert_eq!(built[artifact["name"].as_str().unwrap()], texts.collect::<String>(), "{task}");
    }
    assert_eq!(built.len(), 5);
}
