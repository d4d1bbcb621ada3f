//! Receivers that were set with a key which is not valid any more: nothing is sent, and the tenant sees why.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Receiver, logged, platform, shown, until};
use crate::harness::TestServer;

/// A key that may invoke, and its id.
async fn key(server: &TestServer) -> (String, String) {
    let wish = json!({ "scopes": ["invoke"], "label": "short-lived" });
    let (status, made) = server.api(Method::POST, "/tenants/acme/keys", &server.admin, Some(wish)).await;
    assert_eq!(status, 201, "{made}");
    (made["key"].as_str().unwrap().to_owned(), made["id"].as_str().unwrap().to_owned())
}

async fn revoke(server: &TestServer, id: &str) {
    let (status, body) = server.api(Method::DELETE, &format!("/tenants/acme/keys/{id}"), &server.admin, None).await;
    assert_eq!(status, 204, "{body}");
}

/// A task that asks something, with a receiver that has heard so; whoever set it, and the task.
async fn waiting(server: &TestServer, receiver: &Receiver) -> (String, String) {
    let (key, id) = key(server).await;
    let input = json!({ "do": "need_input", "prompt": "?", "schema": {} });
    let params = json!({ "skill": "probe", "message": input, "pushNotification": { "url": receiver.url("/") } });
    let (_, answer) = server.rpc_as(&key, "tasks/send", params).await;
    let task = answer["result"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    assert_eq!(receiver.states(2).await, ["working", "input-required"]);
    (id, task)
}

async fn cancel(server: &TestServer, task: &str) {
    let path = format!("/tenants/acme/tasks/{task}/cancel");
    let (status, body) = server.api(Method::POST, &path, &server.admin, None).await;
    assert_eq!(status, 200, "{body}");
}

async fn dead(server: &TestServer, task: &str) -> Value {
    until("the end", async || Some(shown(server, task).await).filter(|push| push["state"] == "dead")).await
}

#[tokio::test]
async fn receiver_of_a_revoked_key_hears_nothing_more_and_the_listing_says_why() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    let (key, task) = waiting(&server, &receiver).await;
    revoke(&server, &key).await;
    cancel(&server, &task).await;
    let ended = dead(&server, &task).await;
    assert!(ended["ended"].as_str().unwrap().contains("revoked, expired"), "{ended}");
    let delivery = logged(&server, &task, "dead").await;
    assert_eq!((&delivery["fault"], delivery.get("status")), (&ended["ended"], None), "{delivery}");
    assert!(receiver.is_quiet().await);

    // Somebody else cannot bring it back: it was set in the name of a key that is gone.
    let path = format!("/tenants/acme/tasks/{task}/pushes/default/retry");
    assert_eq!(server.api(Method::POST, &path, &server.deploy, None).await.0, 202);
    dead(&server, &task).await;
    assert!(receiver.is_quiet().await);
}

#[tokio::test]
async fn receiver_of_a_valid_key_is_told_on() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    let (_, task) = waiting(&server, &receiver).await;
    let (other, _) = waiting(&server, &receiver).await;
    revoke(&server, &other).await;
    cancel(&server, &task).await;
    assert_eq!(receiver.states(1).await, ["canceled"]);
    assert_eq!(shown(&server, &task).await.get("ended"), None);
}
