//! Which skill a message is for.

use serde_json::{Value, json};

use super::{result_json, result_text};
use crate::harness::{TestServer, answering};

async fn deploy(server: &TestServer, name: &str, visibility: &str) {
    let guest = answering(&json!({ "description": name }), &json!(name).to_string());
    server.deploy("guest.wat", guest, &format!("&name={name}&visibility={visibility}")).await;
}

/// Every hint names another skill: the answer says which was followed.
fn hints(params: &mut Value, from: usize) {
    let hints: [(&str, &str); 4] = [
        ("/skill", "first"),
        ("/metadata/skill", "second"),
        ("/message/metadata/skill", "third"),
        ("/message/parts/0/data/skill", "fourth"),
    ];
    for (pointer, name) in &hints[from..] {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        params.pointer_mut(parent).unwrap()[key] = json!(name);
    }
}

#[tokio::test]
async fn the_first_hint_that_is_there_chooses() {
    let server = TestServer::start().await;
    for name in ["first", "second", "third", "fourth"] {
        deploy(&server, name, "public").await;
    }
    for (from, expected) in ["first", "second", "third", "fourth"].into_iter().enumerate() {
        let message = json!({ "role": "user", "metadata": {}, "parts": [{ "type": "data", "data": {} }] });
        let mut params = json!({ "metadata": {}, "message": message });
        hints(&mut params, from);
        let answer = server.rpc("tasks/send", params).await;
        assert_eq!(result_text(&answer), expected);
    }
    let text = json!({ "role": "user", "parts": [{ "type": "text", "text": "hi" }] });
    for params in [
        json!({ "skillId": "second", "message": text }),
        json!({ "skill": "second", "skillId": "second", "message": text }),
        json!({ "metadata": { "skillId": "second" }, "message": text }),
        json!({ "metadata": { "skill": "second" }, "message": "the input itself" }),
    ] {
        assert_eq!(result_text(&server.rpc("tasks/send", params).await), "second");
    }
    let disagree = json!({ "skill": "first", "skillId": "second", "message": 1 });
    let error = json!({ "code": -32602, "message": "`skillId` must be the same as `skill` when both are given",
                        "data": { "pointer": "/skillId" } });
    assert_eq!(server.rpc("tasks/send", disagree).await["error"], error);
}

#[tokio::test]
async fn a_data_part_that_names_the_skill_carries_the_input_too() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    deploy(&server, "other", "public").await;
    for (data, input) in [
        (json!({ "skill": "echo", "input": { "x": 1 } }), json!({ "x": 1 })),
        (json!({ "skill": "echo", "input": null }), json!(null)),
        (json!({ "skill": "echo", "x": 1, "input": 2 }), json!({ "x": 1, "input": 2 })),
        (json!({ "skillId": "echo" }), json!({})),
    ] {
        let message = json!({ "role": "user", "parts": [{ "type": "data", "data": data }] });
        let answer = server.rpc("tasks/send", json!({ "message": message })).await;
        assert_eq!(result_json(&answer), input, "{data}");
    }
    // Once the skill is named outside, the part is the input as it is.
    let data = json!({ "skill": "other", "x": 1 });
    let message = json!({ "role": "user", "parts": [{ "type": "data", "data": data }] });
    let answer = server.rpc("tasks/send", json!({ "skill": "echo", "message": message })).await;
    assert_eq!(result_json(&answer), data);
}

#[tokio::test]
async fn without_a_name_it_is_the_only_skill_that_the_caller_may_call() {
    let server = TestServer::start().await;
    let hello = json!({ "message": { "role": "user", "parts": [{ "type": "text", "text": "hi" }] } });
    let nothing = server.rpc("tasks/send", hello.clone()).await;
    let text = "name a skill: this agent has none deployed yet";
    assert_eq!(nothing["error"], json!({ "code": -32602, "message": text }));

    deploy(&server, "open", "public").await;
    deploy(&server, "closed", "listed").await;
    deploy(&server, "hidden", "unlisted").await;
    assert_eq!(result_text(&server.rpc("tasks/send", hello.clone()).await), "open");
    // Where there are several, a message is asked which one it is for; an input alone cannot be.
    let (_, asked) = server.rpc_as(&server.invoke, "tasks/send", hello).await;
    assert_eq!(asked["result"]["status"]["state"], "input-required");
    assert!(!asked.to_string().contains("hidden"), "the hidden one is not given away");
    let bare = json!({ "message": { "city": "Rome" } });
    let (_, refused) = server.rpc_as(&server.invoke, "tasks/send", bare.clone()).await;
    let text = "name a skill: this agent has `closed`, `open`";
    assert_eq!(refused["error"], json!({ "code": -32602, "message": text }), "the hidden one is not given away");

    deploy(&server, "open2", "public").await;
    let refused = server.rpc("tasks/send", bare).await;
    let text = "name a skill: this agent has `closed`, `open`, `open2`";
    assert_eq!(refused["error"], json!({ "code": -32602, "message": text }));
}

#[tokio::test]
async fn an_unknown_skill_and_one_that_is_hidden_answer_alike() {
    let server = TestServer::start().await;
    deploy(&server, "hidden", "unlisted").await;
    deploy(&server, "closed", "listed").await;
    deploy(&server, "open", "public").await;
    for name in ["hidden", "absent", "UPPER", "a/b", "", &"x".repeat(200)] {
        let (status, answer) = server.rpc_as("", "tasks/send", json!({ "skill": name, "message": 1 })).await;
        let shown: String = name.chars().take(80).collect();
        let text = format!("unknown skill `{shown}`; the agent card lists what there is");
        assert_eq!((status, &answer["error"]), (200, &json!({ "code": -32602, "message": text })));
    }
    let (status, answer) = server.rpc_as("", "tasks/send", json!({ "skill": "closed", "message": 1 })).await;
    assert_eq!((status, &answer["error"]["code"]), (401, &json!(-32052)));
    for name in ["hidden", "closed"] {
        let (_, answer) = server.rpc_as(&server.invoke, "tasks/send", json!({ "skill": name, "message": 1 })).await;
        assert_eq!(result_text(&answer), name);
    }
}
