//! An agent whose card has nothing for who has no key: whatever is asked, the answer is that a key is needed.

use serde_json::{Value, json};

use crate::harness::tongue::Answer;
use crate::harness::{TestServer, Tongue, fixture, read};

async fn closed() -> TestServer {
    let server = TestServer::start().await;
    server.deploy("probe.wasm", fixture("probe.wasm"), "&name=probe").await;
    server
}

#[tokio::test]
async fn who_has_no_key_is_asked_for_one_whatever_it_wants() {
    let server = closed().await;
    for tongue in Tongue::ALL {
        let call = tongue.call("probe", json!({ "do": "echo", "value": 1 }));
        let own = tongue.send(&server, &server.invoke, json!({ "message": call })).await.id();
        let fresh = pleat_domain::TaskId::new().to_string();
        for message in [tongue.text("hello"), call, tongue.call("nothing", json!(1)), tongue.answer(&own, json!(1))] {
            let params = json!({ "message": message });
            assert_eq!(refused(&tongue.send(&server, "", params.clone()).await), (401, -32052), "{tongue:?} {params}");
            assert_eq!(refused(&tongue.stream(&server, "", params).await.refused().await), (401, -32052));
        }
        let of_task = async |id: &str| {
            let all = [
                tongue.get(&server, "", json!({ "id": id })).await,
                tongue.cancel(&server, "", id).await,
                tongue.subscribe(&server, "", id, None).await.refused().await,
            ];
            all.map(|answer| {
                assert_eq!(refused(&answer), (401, -32052), "{tongue:?}: {answer:?}");
                answer.body
            })
        };
        assert_eq!(of_task(&own).await, of_task(&fresh).await, "{tongue:?}: there or not is nobody's business");
        assert_eq!(refused(&tongue.list(&server, "", json!({})).await), (401, -32052), "{tongue:?}");
        // What is no request is told so first.
        assert_eq!(tongue.send(&server, "", json!({ "message": {} })).await.code(), -32602, "{tongue:?}");
        assert_eq!(tongue.list(&server, "", json!({ "pageSize": 0 })).await.code(), -32602, "{tongue:?}");
        // The owner is not touched by any of it.
        assert_eq!(tongue.get(&server, &server.invoke, json!({ "id": own })).await.status, 200);
    }
}

fn refused(answer: &Answer) -> (u16, i64) {
    (answer.status, answer.code())
}

#[tokio::test]
async fn the_documented_family_asks_for_a_key_too_and_says_how() {
    let server = closed().await;
    let message = json!({ "role": "user", "parts": [{ "type": "text", "text": "hi" }] });
    for (method, params) in [
        ("tasks/send", json!({ "message": message })),
        ("tasks/send", json!({ "skill": "probe", "message": 1 })),
        ("tasks/sendSubscribe", json!({ "message": message })),
        ("tasks/get", json!({ "id": "x" })),
        ("tasks/cancel", json!({ "id": "x" })),
        ("tasks/resubscribe", json!({ "id": "x" })),
    ] {
        let response = server.rpc_response("", method, params).await;
        assert_eq!(response.headers()["www-authenticate"], "Bearer", "{method}");
        let (status, body) = read(response).await;
        assert_eq!((status, &body["error"]["code"], &body["id"]), (401, &json!(-32052), &json!(1)), "{method}");
    }
    for method in ["tasks/send", "tasks/get"] {
        let (status, body): (u16, Value) = server.rpc_as("", method, json!({})).await;
        assert_eq!((status, &body["error"]["code"]), (200, &json!(-32602)), "{method}: {body}");
    }
}

/// Of an agent with nothing on its card, nobody can tell whether there is anything.
#[tokio::test]
async fn a_card_without_skills_asks_for_no_key() {
    let server = TestServer::start().await;
    let ask = async || {
        let mut all = Vec::new();
        for tongue in Tongue::ALL {
            all.push(tongue.send(&server, "", json!({ "message": tongue.text("hello") })).await.body);
            all.push(tongue.get(&server, "", json!({ "id": "x" })).await.body);
        }
        all
    };
    let nothing = ask().await;
    assert!(nothing.iter().all(|answer| !answer.to_string().contains("needs a valid key")), "{nothing:?}");
    server.deploy("probe.wasm", fixture("probe.wasm"), "&name=probe&visibility=unlisted").await;
    assert_eq!(ask().await, nothing);
}

/// With one public skill, the door is open: tasks are then found by their ids, and lists are empty.
#[tokio::test]
async fn one_public_skill_opens_the_door() {
    let server = closed().await;
    server.deploy_echo().await;
    for tongue in Tongue::ALL {
        let fresh = pleat_domain::TaskId::new().to_string();
        assert_eq!(tongue.get(&server, "", json!({ "id": fresh })).await.code(), -32001, "{tongue:?}");
        assert_eq!(tongue.list(&server, "", json!({})).await.result()["totalSize"], 0, "{tongue:?}");
        let sent = tongue.send(&server, "", json!({ "message": tongue.text("hello") })).await;
        assert_eq!(sent.state(), "completed", "{tongue:?}: the only one that it may call");
    }
}
