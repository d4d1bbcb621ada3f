//! Which version is spoken: the method's name says it, and the version that is asked for may object.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::started;
use crate::harness::{TestServer, Tongue, read};

fn rpc(server: &TestServer, method: &str, params: Value) -> RequestBuilder {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    server.client.post(format!("{}/_a2a/", server.tenant_url())).json(&body)
}

fn message(tongue: Tongue) -> Value {
    json!({ "message": tongue.call("probe", json!({ "do": "echo", "value": 1 })) })
}

#[tokio::test]
async fn the_method_decides_where_no_version_is_asked_for() {
    let server = started().await;
    for version in [None, Some(""), Some(" ")] {
        let asking = |request: RequestBuilder| match version {
            Some(version) => request.header("a2a-version", version),
            None => request,
        };
        let (_, new) = read(asking(rpc(&server, "SendMessage", message(Tongue::V1))).send().await.unwrap()).await;
        assert_eq!(new["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{new}");
        let (_, old) = read(asking(rpc(&server, "message/send", message(Tongue::V03))).send().await.unwrap()).await;
        assert_eq!(old["result"]["status"]["state"], "completed", "{old}");
        let legacy = json!({ "skill": "probe", "message": { "do": "echo", "value": 1 } });
        let (_, oldest) = read(asking(rpc(&server, "tasks/send", legacy)).send().await.unwrap()).await;
        assert_eq!(oldest["result"]["status"]["state"], "completed", "{oldest}");
    }
}

#[tokio::test]
async fn a_version_that_is_asked_for_has_its_own_methods() {
    let server = started().await;
    let legacy = json!({ "skill": "probe", "message": { "do": "echo", "value": 1 } });
    let calls = [
        ("SendMessage", message(Tongue::V1), ["1.0", "1.0.1"].as_slice()),
        ("message/send", message(Tongue::V03), ["0.3", "0.3.0"].as_slice()),
        ("tasks/send", legacy, ["0.1"].as_slice()),
        ("tasks/get", json!({ "id": "task_00000000000000000000000000000000" }), ["0.1", "0.3", "0.3.0"].as_slice()),
    ];
    for (method, params, own) in calls {
        for version in ["1.0", "1.0.1", "0.3", "0.3.0", "0.1"] {
            let request = rpc(&server, method, params.clone()).header("a2a-version", version);
            let (status, answer) = read(request.send().await.unwrap()).await;
            assert_eq!(status, 200);
            let known = answer["error"]["code"] != -32601;
            assert_eq!(known, own.contains(&version), "{method} in {version}: {answer}");
        }
    }
    for (query, known) in [("?A2A-Version=1.0", true), ("?a2a-version=0.3", false), ("?x=1&A2A-Version=1.0", true)] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": message(Tongue::V1) });
        let url = format!("{}/_a2a/{query}", server.tenant_url());
        let (_, answer) = read(server.client.post(url).json(&body).send().await.unwrap()).await;
        assert_eq!(answer.get("result").is_some(), known, "{query}: {answer}");
    }
}

#[tokio::test]
async fn a_version_that_is_not_served_is_named_with_those_that_are() {
    let server = started().await;
    for version in ["0.5", "1.1", "2.0", "99.0", "0.2", "one", "1.0, 0.3"] {
        for (method, tongue) in [("SendMessage", Tongue::V1), ("message/send", Tongue::V03)] {
            let request = rpc(&server, method, message(tongue)).header("a2a-version", version);
            let (status, answer) = read(request.send().await.unwrap()).await;
            assert_eq!((status, &answer["error"]["code"]), (200, &json!(-32009)), "{version}: {answer}");
            assert_eq!(
                answer["error"]["data"][0],
                json!({
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "VERSION_NOT_SUPPORTED",
                    "domain": "a2a-protocol.org",
                    "metadata": { "requested": version, "supported": "1.0, 0.3, 0.1" }
                })
            );
        }
    }
    let twice =
        rpc(&server, "SendMessage", message(Tongue::V1)).header("a2a-version", "1.0").header("a2a-version", "0.3");
    assert_eq!(read(twice.send().await.unwrap()).await.1["error"]["code"], -32009);
}

#[tokio::test]
async fn extensions_that_are_known_are_named_again() {
    let server = started().await;
    let known = "urn:pleat:a2a:task-list:v1";
    for name in ["a2a-extensions", "x-a2a-extensions"] {
        let asked = format!("https://example.com/x, {known}");
        let request = rpc(&server, "SendMessage", message(Tongue::V1)).header(name, asked);
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()[name], known);
        assert_eq!(read(response).await.1["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    }
    let request = rpc(&server, "SendMessage", message(Tongue::V1)).header("a2a-extensions", "https://example.com/x");
    let response = request.send().await.unwrap();
    assert!(!response.headers().contains_key("a2a-extensions"));
    assert_eq!(response.status(), 200);
}
