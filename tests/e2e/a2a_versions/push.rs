//! Push configurations in the words of each version, and what a receiver is told in them.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::{ask, probe};
use crate::harness::tongue::{Answer, decode};
use crate::harness::{TestServer, Tongue};
use crate::push::{Receiver, platform};

/// The four methods, in the parameters of 1.0.
pub(super) async fn act(
    tongue: Tongue,
    server: &TestServer,
    key: &str,
    what: &str,
    task: &str,
    config: &Value,
) -> Answer {
    let request: RequestBuilder = match tongue {
        Tongue::Rest => {
            let path = format!("/tasks/{task}/pushNotificationConfigs");
            let one = format!("{path}/{}", config["id"].as_str().unwrap_or_default());
            match what {
                "set" => tongue.request(server, Method::POST, &path).json(config),
                "get" => tongue.request(server, Method::GET, &one),
                "list" => tongue.request(server, Method::GET, &path),
                _ => tongue.request(server, Method::DELETE, &one),
            }
        }
        Tongue::V1 => {
            let (method, mut params) = match what {
                "set" => ("CreateTaskPushNotificationConfig", config.clone()),
                "get" => ("GetTaskPushNotificationConfig", json!({ "id": config["id"] })),
                "list" => ("ListTaskPushNotificationConfigs", json!({})),
                _ => ("DeleteTaskPushNotificationConfig", json!({ "id": config["id"] })),
            };
            params["taskId"] = json!(task);
            tongue.rpc(server, method, &params)
        }
        Tongue::V03 => {
            let params = match what {
                "set" => json!({ "taskId": task, "pushNotificationConfig": earlier(config) }),
                "list" => json!({ "id": task }),
                _ => json!({ "id": task, "pushNotificationConfigId": config["id"] }),
            };
            tongue.rpc(server, &format!("tasks/pushNotificationConfig/{what}"), &params)
        }
    };
    let request = if key.is_empty() { request } else { request.bearer_auth(key) };
    tongue.read(request).await
}

fn earlier(config: &Value) -> Value {
    let mut config = config.clone();
    if let Some(auth) = config.get("authentication").cloned() {
        config["authentication"] = json!({ "schemes": [auth["scheme"]], "credentials": auth["credentials"] });
    }
    config
}

#[tokio::test]
async fn configurations_are_set_read_listed_and_deleted() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    let key = server.invoke.clone();
    for tongue in Tongue::ALL {
        let task = tongue.send(&server, &key, probe(tongue, ask("?"))).await.id();
        let auth = json!({ "scheme": "Bearer", "credentials": "c" });
        let config = json!({ "id": "mine", "url": receiver.url("/x"), "token": "t", "authentication": auth });
        let set = act(tongue, &server, &key, "set", &task, &config).await;
        let expected = match tongue {
            Tongue::V03 => json!({ "taskId": task, "pushNotificationConfig": earlier(&config) }),
            _ => {
                let mut expected = config.clone();
                expected["taskId"] = json!(task);
                decode::<a2a::TaskPushNotificationConfig>(set.result());
                expected
            }
        };
        assert_eq!(*set.result(), expected, "{tongue:?}");
        let got = act(tongue, &server, &key, "get", &task, &config).await;
        assert_eq!(*got.result(), expected, "{tongue:?}");
        let unnamed = json!({ "url": receiver.url("/y") });
        let second = act(tongue, &server, &key, "set", &task, &unnamed).await;
        let listed = act(tongue, &server, &key, "list", &task, &json!({})).await;
        let all = match tongue {
            Tongue::V03 => listed.result().as_array().unwrap().clone(),
            _ => {
                decode::<a2a::ListTaskPushNotificationConfigsResponse>(listed.result());
                listed.result()["configs"].as_array().unwrap().clone()
            }
        };
        assert_eq!(all, [expected, second.result().clone()], "{tongue:?}");
        for _ in 0..2 {
            let deleted = act(tongue, &server, &key, "delete", &task, &config).await;
            assert_eq!(deleted.status, 200, "{tongue:?}: deleting what is not there is no fault: {deleted:?}");
            assert!(deleted.body.get("error").is_none(), "{deleted:?}");
        }
        assert_eq!(act(tongue, &server, &key, "get", &task, &config).await.code(), -32001, "{tongue:?}");
    }
}

#[tokio::test]
async fn a_receiver_is_told_in_the_words_that_it_was_registered_in() {
    let server = platform().await;
    for tongue in Tongue::ALL {
        let receiver = Receiver::start([]).await;
        let config = json!({ "url": receiver.url("/x"), "token": "t" });
        let mut params = probe(tongue, json!({ "do": "echo", "value": "hi" }));
        params["configuration"] = match tongue {
            Tongue::V03 => json!({ "pushNotificationConfig": config }),
            _ => json!({ "taskPushNotificationConfig": config }),
        };
        let sent = tongue.send(&server, &server.invoke, params).await;
        let mut told = Vec::new();
        loop {
            let heard = receiver.next().await;
            assert_eq!(heard.header("x-a2a-notification-token"), "t");
            let last = heard.body.to_string().to_lowercase().contains("completed");
            told.push(heard);
            if last {
                break;
            }
        }
        let last = told.last().unwrap();
        match tongue {
            Tongue::V03 => {
                assert_eq!(last.header("content-type"), "application/json");
                assert_eq!((&last.body["kind"], &last.body["id"]), (&json!("task"), &json!(sent.id())));
                assert_eq!(last.body["artifacts"], sent.task()["artifacts"]);
            }
            _ => {
                assert_eq!(last.header("content-type"), "application/a2a+json");
                for heard in &told {
                    decode::<a2a::StreamResponse>(&heard.body);
                }
                assert_eq!(last.body["statusUpdate"]["taskId"], sent.id());
            }
        }
    }
}

#[tokio::test]
async fn a_configuration_that_cannot_be_used_is_refused_and_nothing_is_stored() {
    let server = platform().await;
    let key = server.invoke.clone();
    for tongue in Tongue::ALL {
        let task = tongue.send(&server, &key, probe(tongue, ask("?"))).await.id();
        for config in [
            json!({ "url": "http://10.0.0.1/" }),
            json!({ "url": "ftp://example.com/" }),
            json!({ "url": "" }),
            json!({ "url": 7 }),
            json!({}),
            json!({ "url": "https://example.com/", "token": "a\r\nX-Admin: 1" }),
            json!({ "url": "https://example.com/", "token": 7 }),
            json!({ "url": "https://example.com/", "authentication": { "scheme": "Bearer x", "credentials": "c" } }),
            json!({ "url": "https://example.com/", "authentication": { "scheme": "Bearer", "credentials": "c\nd" } }),
            json!({ "id": "x".repeat(500), "url": "https://example.com/" }),
        ] {
            let refused = act(tongue, &server, &key, "set", &task, &config).await;
            assert_eq!(refused.code(), -32602, "{tongue:?} {config}");
            let mut params = probe(tongue, json!({ "do": "echo", "value": 1 }));
            params["configuration"] = match tongue {
                Tongue::V03 => json!({ "pushNotificationConfig": earlier(&config) }),
                _ => json!({ "taskPushNotificationConfig": config }),
            };
            assert_eq!(tongue.send(&server, &key, params).await.code(), -32602, "{tongue:?} {config}");
        }
        let listed = act(tongue, &server, &key, "list", &task, &json!({})).await.body.to_string();
        assert!(!listed.contains("example.com"), "{tongue:?}: {listed}");
        assert_eq!(act(tongue, &server, "", "list", &task, &json!({})).await.status, 401, "{tongue:?}");
        let fresh = pleat_domain::TaskId::new().to_string();
        for what in ["set", "get", "list", "delete"] {
            let config = json!({ "id": "x", "url": "http://127.0.0.1:1/" });
            assert_eq!(act(tongue, &server, &key, what, &fresh, &config).await.code(), -32001, "{tongue:?} {what}");
        }
    }
}

/// The question which skill is meant tells its receiver too, and happens once.
#[tokio::test]
async fn a_question_has_receivers_and_happens_once() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    server.deploy_echo().await;
    let mut params = json!({ "message": Tongue::V1.text("hello") });
    params["configuration"] = json!({ "taskPushNotificationConfig": { "url": receiver.url("/x") } });
    let send = async || {
        let request = Tongue::V1.rpc(&server, "SendMessage", &params).bearer_auth(&server.invoke);
        Tongue::V1.read(request.header("idempotency-key", "order-1")).await
    };
    let (first, second) = (send().await, send().await);
    assert_eq!((first.state().as_str(), first.id()), ("input-required", second.id()));
    while !receiver.next().await.body.to_string().contains("TASK_STATE_INPUT_REQUIRED") {}
    let mut answer = Tongue::V1.text("echo");
    answer["taskId"] = json!(first.id());
    Tongue::V1.send(&server, &server.invoke, json!({ "message": answer })).await;
    while !receiver.next().await.body.to_string().contains("TASK_STATE_COMPLETED") {}
}
