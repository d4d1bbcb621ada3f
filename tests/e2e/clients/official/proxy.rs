//! What docs/a2a.md gives to suites that can send no key, or look for the card at the origin.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::installed;
use crate::harness::{TestServer, example, read, root};

/// The proxy before a tenant with the example, and its address.
async fn proxy(server: &TestServer) -> (Child, String) {
    let source = example("conformance/conformance.js");
    server.deploy("conformance.js", source, "&name=conformance&visibility=public").await;
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let mut command = Command::new(installed("python-1.3.0/bin/python"));
    command.arg(root().join("functions-sdk/examples/conformance/proxy.py"));
    command.args([free.to_string(), server.tenant_url(), server.invoke.clone()]);
    let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap()).lines().next_line().await.unwrap().unwrap();
    assert!(said.contains(&free.to_string()), "{said}");
    (child, format!("http://127.0.0.1:{free}"))
}

#[tokio::test]
#[ignore = "needs Python: see the module"]
async fn the_proxy_makes_a_tenant_an_origin_whose_callers_have_a_key() {
    let server = TestServer::start().await;
    let (_child, origin) = proxy(&server).await;
    let card = server.client.get(format!("{origin}/.well-known/agent-card.json")).send().await.unwrap();
    let (_, card) = read(card).await;
    let addresses: Vec<&str> =
        card["supportedInterfaces"].as_array().unwrap().iter().map(|one| one["url"].as_str().unwrap()).collect();
    assert!(addresses.iter().all(|url| url.starts_with(&origin)), "{addresses:?}");
    // At the origin, as suites for 0.3 do it, and at the address on the card.
    for url in [origin.as_str(), addresses[0]] {
        let call = async |method: &str, params: Value| {
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
            read(server.client.post(url).json(&body).send().await.unwrap()).await
        };
        let message = json!({ "kind": "message", "messageId": "text-message-id-1", "role": "user",
            "parts": [{ "kind": "text", "text": "hello" }] });
        let (_, sent) = call("message/send", json!({ "message": message })).await;
        assert_eq!(sent["result"]["status"]["state"], "input-required", "{url}: {sent}");
        let told =
            json!({ "taskId": sent["result"]["id"], "pushNotificationConfig": { "url": "https://receiver.invalid/" } });
        let (_, set) = call("tasks/pushNotificationConfig/set", told).await;
        assert!(set["result"].is_object(), "{url}: the key was added: {set}");
        let (_, listed) = call("tasks/list", json!({})).await;
        assert_eq!(listed["result"]["tasks"][0]["id"], sent["result"]["id"], "{url}: {listed}");
        let (status, _) = call("agent/getAuthenticatedExtendedCard", json!({})).await;
        assert_eq!(status, 401, "{url}");
        let (status, _) = call("GetExtendedAgentCard", json!({})).await;
        assert_eq!(status, 200, "{url}");
    }
    let body = json!({ "message": { "messageId": "tck-stream-artifact-chunked-1", "role": "ROLE_USER",
        "parts": [{ "text": "hello" }] } });
    let streamed = server.client.post(format!("{}/message:stream", addresses[1])).json(&body).send().await.unwrap();
    assert_eq!(streamed.headers()["content-type"], "text/event-stream");
    let text = streamed.text().await.unwrap();
    assert!(text.contains("chunk-2") && text.contains("TASK_STATE_COMPLETED"), "{text}");
}
