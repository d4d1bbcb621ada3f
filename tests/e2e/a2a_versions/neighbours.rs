//! A neighbour's ids, in every field that takes one: the answer is that for an id of nobody's, to the letter, and the
//! neighbour does not notice.

use reqwest::Method;
use serde_json::{Value, json};

use super::push::act;
use super::{ask, probe, started};
use crate::harness::{TestServer, Tongue, fixture, read};

const CONTEXT: &str = "a conversation of the neighbour's";

/// Another tenant, with a task that waits and somebody who is told of it.
struct Neighbour<'a> {
    server: &'a TestServer,
    key: String,
    task: String,
}

impl<'a> Neighbour<'a> {
    async fn beside(server: &'a TestServer) -> Self {
        let admin = server.other_tenant("other").await;
        let url = format!("{}/api/v1/tenants/other/functions?fileName=probe.wasm&name=probe", server.url);
        let deployed = server.client.post(url).bearer_auth(&admin).body(fixture("probe.wasm")).send().await.unwrap();
        assert!(deployed.status().is_success(), "{deployed:?}");
        let wish = json!({ "scopes": ["invoke"], "label": "theirs" });
        let (_, made) = server.api(Method::POST, "/tenants/other/keys", &admin, Some(wish)).await;
        let mut theirs = Self { server, key: made["key"].as_str().unwrap().to_owned(), task: String::new() };
        let mut params = probe(Tongue::V1, ask("?"));
        params["message"]["contextId"] = json!(CONTEXT);
        let answer = theirs.call("SendMessage", params).await;
        theirs.task = answer["result"]["task"]["id"].as_str().unwrap().to_owned();
        let told = json!({ "taskId": theirs.task, "id": "told", "url": "https://receiver.invalid/" });
        assert!(theirs.call("CreateTaskPushNotificationConfig", told).await["result"].is_object());
        theirs
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = self.server.client.post(format!("{}/t/other/_a2a/", self.server.url)).bearer_auth(&self.key);
        read(request.json(&body).send().await.unwrap()).await.1
    }

    async fn as_it_was(&self) -> (Value, Value) {
        let task = self.call("GetTask", json!({ "id": self.task })).await;
        (task, self.call("ListTaskPushNotificationConfigs", json!({ "taskId": self.task })).await)
    }
}

#[tokio::test]
async fn an_id_of_a_neighbours_task_is_of_no_task() {
    let server = started().await;
    let theirs = Neighbour::beside(&server).await;
    let before = theirs.as_it_was().await;
    let random = pleat_domain::TaskId::new().to_string();
    for tongue in Tongue::ALL {
        for key in ["", server.invoke.as_str()] {
            let answers = async |id: &str| {
                let mut message = tongue.answer(id, json!({ "do": "context" }));
                message["messageId"] = json!("m-1");
                let send = json!({ "message": message });
                let mut told = vec![
                    tongue.send(&server, key, send.clone()).await,
                    tongue.stream(&server, key, send).await.refused().await,
                    tongue.get(&server, key, json!({ "id": id })).await,
                    tongue.cancel(&server, key, id).await,
                    tongue.subscribe(&server, key, id, None).await.refused().await,
                    tongue.subscribe(&server, key, id, Some(0)).await.refused().await,
                ];
                let code = if key.is_empty() { -32052 } else { -32001 };
                for what in ["set", "get", "list", "delete"] {
                    let config = json!({ "id": "told", "url": "https://receiver.invalid/" });
                    let answer = act(tongue, &server, key, what, id, &config).await;
                    assert_eq!(answer.code(), code, "{tongue:?} {what}");
                    told.push(answer);
                }
                assert!(told.iter().take(6).all(|answer| answer.code() == -32001), "{tongue:?}: {told:?}");
                let lines: Vec<String> =
                    told.iter().map(|answer| format!("{} {}", answer.status, answer.body)).collect();
                lines.join("\n").replace(id, "<id>")
            };
            assert_eq!(answers(&theirs.task).await, answers(&random).await, "{tongue:?} {key}");
        }
    }
    assert_eq!(theirs.as_it_was().await, before);
}

/// A name is not an id of ours: each tenant has its own conversation under it, and may refer to whatever it wants.
#[tokio::test]
async fn a_neighbours_conversation_and_references_open_nothing() {
    let server = started().await;
    let theirs = Neighbour::beside(&server).await;
    let before = theirs.as_it_was().await;
    let mut ours = Vec::new();
    for tongue in Tongue::ALL {
        let mut params = probe(tongue, json!({ "do": "echo", "value": 1 }));
        params["message"]["contextId"] = json!(CONTEXT);
        params["message"]["referenceTaskIds"] = json!([theirs.task]);
        let sent = tongue.send(&server, &server.invoke, params).await;
        assert_eq!(sent.state(), "completed", "{tongue:?}");
        ours.insert(0, sent.id());
        let listed = tongue.list(&server, &server.invoke, json!({ "contextId": CONTEXT })).await;
        let tasks = listed.result()["tasks"].as_array().unwrap();
        let found: Vec<&str> = tasks.iter().map(|task| task["id"].as_str().unwrap()).collect();
        assert_eq!(found, ours, "{tongue:?}: its own, the latest first");
    }
    assert_eq!(theirs.as_it_was().await, before);
}
