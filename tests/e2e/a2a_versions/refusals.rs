//! What is wrong with a request is said, with the place; nothing is stored, and nothing breaks.

use reqwest::Method;
use serde_json::{Value, json};

use super::{ask, probe, started};
use crate::harness::{TestServer, Tongue};

async fn tasks_of(server: &TestServer) -> usize {
    let (_, page) = server.api(Method::GET, "/tenants/acme/tasks", &server.admin, None).await;
    page["tasks"].as_array().unwrap().len()
}

/// A good message with something done to it.
fn spoiled(tongue: Tongue, pointer: &str, value: Option<Value>) -> Value {
    let mut message = tongue.call("probe", json!({ "do": "echo", "value": 1 }));
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = message.pointer_mut(parent).unwrap();
    match value {
        Some(value) => parent[name] = value,
        None => drop(parent.as_object_mut().unwrap().remove(name)),
    }
    json!({ "message": message })
}

#[tokio::test]
async fn a_message_that_is_none_is_refused_with_the_place() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let long = "x".repeat(257);
        let cases: Vec<(Value, &str)> = vec![
            (json!({}), "message"),
            (json!({ "message": "hi" }), "message"),
            (json!({ "message": [] }), "message"),
            (spoiled(tongue, "/messageId", None), "message.messageId"),
            (spoiled(tongue, "/messageId", Some(json!(7))), "message.messageId"),
            (spoiled(tongue, "/messageId", Some(json!(""))), "message.messageId"),
            (spoiled(tongue, "/messageId", Some(json!(long))), "message.messageId"),
            (spoiled(tongue, "/role", None), "message.role"),
            (spoiled(tongue, "/role", Some(json!("ROLE_UNSPECIFIED"))), "message.role"),
            (spoiled(tongue, "/role", Some(json!("system"))), "message.role"),
            (spoiled(tongue, "/role", Some(json!(1))), "message.role"),
            (spoiled(tongue, "/parts", None), "message.parts"),
            (spoiled(tongue, "/parts", Some(json!([]))), "message.parts"),
            (spoiled(tongue, "/parts", Some(json!({}))), "message.parts"),
            (spoiled(tongue, "/parts", Some(json!(["hi"]))), "message.parts[0]"),
            (spoiled(tongue, "/parts", Some(json!([{}]))), "message.parts[0]"),
            (spoiled(tongue, "/contextId", Some(json!("a\u{0}b"))), "message.contextId"),
            (spoiled(tongue, "/contextId", Some(json!(long))), "message.contextId"),
            (spoiled(tongue, "/contextId", Some(json!({}))), "message.contextId"),
            (spoiled(tongue, "/taskId", Some(json!(["x"]))), "message.taskId"),
            (spoiled(tongue, "/metadata", Some(json!("x"))), "message.metadata"),
            (spoiled(tongue, "/referenceTaskIds", Some(json!("x"))), "message.referenceTaskIds"),
            (spoiled(tongue, "/referenceTaskIds", Some(json!([1]))), "message.referenceTaskIds"),
            (spoiled(tongue, "/extensions", Some(json!(vec!["x"; 101]))), "message.extensions"),
        ];
        for (params, field) in cases {
            let answer = tongue.send(&server, "", params.clone()).await;
            assert_eq!(answer.code(), -32602, "{tongue:?} {params}");
            let place = match tongue {
                Tongue::V03 => {
                    let pointer = answer.body["error"]["data"]["pointer"].as_str().unwrap().to_owned();
                    pointer.trim_start_matches('/').replace("/0", "[0]").replace('/', ".")
                }
                Tongue::V1 => {
                    answer.body["error"]["data"][0]["fieldViolations"][0]["field"].as_str().unwrap().to_owned()
                }
                Tongue::Rest => {
                    assert_eq!(answer.status, 400);
                    answer.body["error"]["details"][0]["fieldViolations"][0]["field"].as_str().unwrap().to_owned()
                }
            };
            assert!(place.starts_with(field), "{tongue:?} {params}: {place}");
        }
    }
    assert_eq!(tasks_of(&server).await, 0, "nothing was stored");
}

#[tokio::test]
async fn a_part_that_is_none_is_refused() {
    let server = started().await;
    let parts = [
        json!({ "raw": "not base64!" }),
        json!({ "url": "" }),
        json!({ "url": 7 }),
        json!({ "text": ["x"] }),
        json!({ "text": "x", "metadata": 3 }),
    ];
    for tongue in Tongue::ALL {
        for part in &parts {
            let mut message = tongue.message(json!([part]));
            message["metadata"] = json!({ "skill": "probe" });
            let answer = tongue.send(&server, "", json!({ "message": message })).await;
            assert_eq!(answer.code(), -32602, "{tongue:?} {part}");
        }
    }
    for part in [
        json!({ "kind": "text" }),
        json!({ "kind": "data" }),
        json!({ "kind": "file" }),
        json!({ "kind": "file", "file": {} }),
        json!({ "kind": "file", "file": { "bytes": "aGk=", "uri": "https://example.com" } }),
        json!({ "kind": "picture" }),
        json!({ "kind": 1 }),
    ] {
        let answer = Tongue::V03.send(&server, "", spoiled(Tongue::V03, "/parts", Some(json!([part])))).await;
        assert_eq!(answer.code(), -32602, "{part}");
    }
    for part in [
        json!({ "text": "x", "url": "https://example.com" }),
        json!({ "raw": "aGk=", "data": 1 }),
        json!({ "file": {} }),
    ] {
        let answer = Tongue::V1.send(&server, "", spoiled(Tongue::V1, "/parts", Some(json!([part])))).await;
        assert_eq!(answer.code(), -32602, "{part}");
    }
    assert_eq!(tasks_of(&server).await, 0, "nothing was stored");
}

#[tokio::test]
async fn wishes_that_make_no_sense_are_refused() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let mut cases = vec![
            json!("x"),
            json!({ "historyLength": -1 }),
            json!({ "historyLength": 2_147_483_648_u64 }),
            json!({ "historyLength": 99_999_999_999_u64 }),
            json!({ "historyLength": "ten" }),
            json!({ "historyLength": 1.5 }),
            json!({ "acceptedOutputModes": "text/plain" }),
            json!({ "acceptedOutputModes": [1] }),
        ];
        cases.push(match tongue {
            Tongue::V03 => json!({ "blocking": "yes" }),
            _ => json!({ "returnImmediately": 1 }),
        });
        for configuration in cases {
            let mut params = probe(tongue, json!({ "do": "echo", "value": 1 }));
            params["configuration"] = configuration.clone();
            assert_eq!(tongue.send(&server, "", params).await.code(), -32602, "{tongue:?} {configuration}");
        }
    }
    assert_eq!(tasks_of(&server).await, 0, "nothing was stored");
}

#[tokio::test]
async fn the_other_methods_look_at_their_parameters_too() {
    let server = started().await;
    let waiting = Tongue::V1.send(&server, &server.invoke, probe(Tongue::V1, ask("?"))).await.id();
    for tongue in [Tongue::V03, Tongue::V1] {
        let methods = match tongue {
            Tongue::V03 => ["tasks/get", "tasks/cancel", "tasks/resubscribe"],
            _ => ["GetTask", "CancelTask", "SubscribeToTask"],
        };
        for method in methods {
            for params in [json!({}), json!({ "id": 7 }), json!({ "id": "" }), json!({ "id": null }), json!([])] {
                let answer = tongue.read(tongue.rpc(&server, method, &params).bearer_auth(&server.invoke)).await;
                assert_eq!(answer.code(), -32602, "{method} {params}");
            }
        }
        for length in [json!(-1), json!("x"), json!(4_294_967_296_u64)] {
            let answer = tongue.get(&server, &server.invoke, json!({ "id": waiting, "historyLength": length })).await;
            assert_eq!(answer.code(), -32602, "{tongue:?} {length}");
        }
        let list = |params: Value| tongue.list(&server, &server.invoke, params);
        for params in [
            json!({ "status": "bogus" }),
            json!({ "status": 3 }),
            json!({ "statusTimestampAfter": "yesterday" }),
            json!({ "statusTimestampAfter": 17 }),
            json!({ "includeArtifacts": "yes" }),
            json!({ "historyLength": -3 }),
            json!({ "contextId": "a\nb" }),
            json!({ "pageToken": 4 }),
        ] {
            assert_eq!(list(params.clone()).await.code(), -32602, "{tongue:?} {params}");
        }
    }
    let queries = [
        "status=bogus",
        "statusTimestampAfter=yesterday",
        "includeArtifacts=yes",
        "historyLength=-3",
        "pageSize=x",
        "pageSize=1&pageSize=2",
        "contextId=a%0Ab",
        "historyLength=99999999999",
    ];
    for query in queries {
        let request =
            Tongue::Rest.request(&server, Method::GET, &format!("/tasks?{query}")).bearer_auth(&server.invoke);
        assert_eq!(Tongue::Rest.read(request).await.code(), -32602, "{query}");
    }
    let got = Tongue::V1.get(&server, &server.invoke, json!({ "id": waiting })).await;
    assert_eq!(got.result()["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "it was not touched");
}

/// Another caller's ids answer as those of nobody; those of another tenant are tried in `neighbours`.
#[tokio::test]
async fn ids_of_others_are_as_unknown_as_random_ones() {
    let server = started().await;
    let neighbour = server.other_tenant("other").await;
    let theirs = Tongue::V1.send(&server, &server.invoke, probe(Tongue::V1, ask("?"))).await.id();
    let random = pleat_domain::TaskId::new().to_string();
    for tongue in Tongue::ALL {
        let answers = async |id: &str| {
            let mut told = Vec::new();
            for key in ["", server.deploy.as_str()] {
                let send = json!({ "message": tongue.answer(id, json!({ "do": "context" })) });
                let mut send_with = send.clone();
                send_with["message"]["contextId"] = json!("x");
                send_with["message"]["messageId"] = json!("m");
                told.push(tongue.send(&server, key, send_with).await);
                told.push(tongue.get(&server, key, json!({ "id": id })).await);
                told.push(tongue.cancel(&server, key, id).await);
                told.push(tongue.subscribe(&server, key, id, None).await.refused().await);
                told.push(tongue.subscribe(&server, key, id, Some(3)).await.refused().await);
            }
            let answers: Vec<String> = told.iter().map(|answer| format!("{} {}", answer.status, answer.body)).collect();
            answers.join("\n").replace(id, "<id>")
        };
        assert_eq!(answers(&theirs).await, answers(&random).await, "{tongue:?}");
    }
    let body = |id: &str| json!({ "jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": { "id": id } });
    for id in [&theirs, &random] {
        let request = server.client.post(format!("{}/t/other/_a2a/", server.url)).bearer_auth(&neighbour);
        let answer: Value = request.json(&body(id)).send().await.unwrap().json().await.unwrap();
        assert_eq!(answer["error"]["code"], -32001, "{answer}");
    }
}

/// The tenant in the body and that of the route agree, or there is nothing.
#[tokio::test]
async fn a_tenant_that_is_not_the_routes_is_not_found() {
    let server = started().await;
    server.other_tenant("other").await;
    let call = |tenant: Option<&str>| {
        let mut params = probe(Tongue::V1, json!({ "do": "echo", "value": 1 }));
        if let Some(tenant) = tenant {
            params["tenant"] = json!(tenant);
        }
        params
    };
    for tenant in [None, Some(""), Some("acme")] {
        for tongue in [Tongue::V1, Tongue::Rest] {
            assert_eq!(tongue.send(&server, "", call(tenant)).await.state(), "completed", "{tongue:?} {tenant:?}");
        }
    }
    let stored = tasks_of(&server).await;
    for tongue in [Tongue::V1, Tongue::Rest] {
        let other = tongue.send(&server, "", call(Some("other"))).await;
        let unknown = tongue.send(&server, "", call(Some("nobody"))).await;
        assert_eq!((other.status, &other.body), (unknown.status, &unknown.body));
        assert_eq!(other.code(), -32001, "{tongue:?}");
    }
    for (method, params) in [
        ("SendStreamingMessage", call(Some("other"))),
        ("GetTask", json!({ "id": "x", "tenant": "other" })),
        ("ListTasks", json!({ "tenant": "other" })),
        ("CancelTask", json!({ "id": "x", "tenant": "other" })),
        ("SubscribeToTask", json!({ "id": "x", "tenant": "other" })),
        ("CreateTaskPushNotificationConfig", json!({ "taskId": "x", "url": "https://x.invalid/", "tenant": "other" })),
        ("GetTaskPushNotificationConfig", json!({ "taskId": "x", "id": "y", "tenant": "other" })),
        ("ListTaskPushNotificationConfigs", json!({ "taskId": "x", "tenant": "other" })),
        ("DeleteTaskPushNotificationConfig", json!({ "taskId": "x", "id": "y", "tenant": "other" })),
        ("GetExtendedAgentCard", json!({ "tenant": "other" })),
    ] {
        let answer = Tongue::V1.read(Tongue::V1.rpc(&server, method, &params).bearer_auth(&server.invoke)).await;
        assert_eq!(answer.code(), -32001, "{method}");
    }
    assert_eq!(
        Tongue::V1
            .send(&server, "", {
                let mut p = call(None);
                p["tenant"] = json!(7);
                p
            })
            .await
            .code(),
        -32602
    );
    assert_eq!(tasks_of(&server).await, stored, "nothing was stored");
}
