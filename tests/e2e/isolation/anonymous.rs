//! Callers without a key: they have their unguessable ids, and nothing else.

use std::collections::BTreeSet;

use futures::future::join_all;
use pleat_domain::TaskId;
use reqwest::Method;
use serde_json::{Value, json};

use super::Neighbours;
use super::indistinguishable::whole;
use crate::harness::{TestServer, fixture};

fn echo(value: &str) -> Value {
    json!({ "skill": "probe", "message": { "do": "echo", "value": value } })
}

#[tokio::test]
async fn nobody_reaches_a_task_of_nobodys_by_its_id_and_a_key_does_not() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let made = server.rpc("tasks/send", echo("mine")).await;
    let id = made["result"]["id"].as_str().unwrap();
    let again = server.rpc("tasks/get", json!({ "id": id })).await;
    assert_eq!(again["result"]["artifacts"], made["result"]["artifacts"], "{again}");
    let fresh = TaskId::new().to_string();
    for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
        let theirs = whole(server.rpc_response(&server.invoke, method, json!({ "id": id })).await, id).await;
        let unknown = whole(server.rpc_response(&server.invoke, method, json!({ "id": fresh })).await, &fresh).await;
        assert_eq!(theirs, unknown, "{method}");
    }
}

#[tokio::test]
async fn a_name_that_nobody_chose_is_nobodys_to_find() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let call = |value: &str| {
        let mut call = echo(value);
        call["id"] = json!("order-1");
        call
    };
    let first = server.rpc("tasks/send", call("first-secret")).await;
    for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
        let chosen = whole(server.rpc_response("", method, json!({ "id": "order-1" })).await, "order-1").await;
        let unknown = whole(server.rpc_response("", method, json!({ "id": "order-2" })).await, "order-2").await;
        assert_eq!(chosen, unknown, "{method}");
        assert!(unknown.contains("-32001"), "{method}: {unknown}");
    }
    let second = server.rpc("tasks/send", call("second")).await;
    assert!(!second.to_string().contains("first-secret"), "{second}");
    // Whatever becomes of the wish for a name, it is the same for the second who has it.
    assert_eq!(second["error"], first["error"], "{first} {second}");
    assert_eq!(second["result"]["status"]["state"], first["result"]["status"]["state"], "{first} {second}");
}

#[tokio::test]
async fn nobody_lists_nothing() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    server.rpc("tasks/send", echo("mine")).await;
    for path in ["/tenants/acme/tasks", "/tenants/acme/logs", "/tenants/acme/functions", "/tenants/acme/keys"] {
        assert_eq!(server.api(Method::GET, path, "", None).await.0, 401, "{path}");
    }
}

#[tokio::test]
async fn an_unlisted_skill_is_as_unknown_as_one_that_does_not_exist() {
    let server = TestServer::start().await;
    server.deploy("probe.wasm", fixture("probe.wasm"), "&name=hidden&visibility=unlisted").await;
    server.deploy_probe().await;
    let ask = async |method: Method, name: &str| {
        let request = server.client.request(method, format!("{}/{name}", server.tenant_url()));
        whole(request.json(&json!({ "do": "echo", "value": 1 })).send().await.unwrap(), name).await
    };
    let call = async |method: &str, name: &str| {
        let params = json!({ "skill": name, "message": { "do": "echo", "value": 1 } });
        whole(server.rpc_response("", method, params).await, name).await
    };
    for method in [Method::GET, Method::POST] {
        assert_eq!(ask(method.clone(), "hidden").await, ask(method.clone(), "absent").await, "{method}");
    }
    for method in ["tasks/send", "tasks/sendSubscribe"] {
        assert_eq!(call(method, "hidden").await, call(method, "absent").await, "{method}");
    }
    let card = server.client.get(format!("{}/.well-known/agent-card.json", server.tenant_url())).send().await.unwrap();
    assert!(!card.text().await.unwrap().contains("hidden"));
    let unnamed = server.rpc("tasks/send", json!({ "message": { "do": "echo", "value": 1 } })).await;
    assert!(!unnamed.to_string().contains("hidden"), "{unnamed}");
    let (status, _) = server.http(&server.invoke, "hidden", json!({ "do": "echo", "value": 1 })).await;
    assert_eq!(status, 200, "a caller with a key may call it");
}

#[tokio::test]
async fn cards_of_two_tenants_never_mix() {
    let Neighbours { server, .. } = Neighbours::start().await;
    let skills = async |slug: &'static str| {
        let url = format!("{}/t/{slug}/.well-known/agent-card.json", server.url);
        let card: Value = server.client.get(url).send().await.unwrap().json().await.unwrap();
        (slug, card["skills"].as_array().unwrap().iter().map(|skill| skill["id"].to_string()).collect::<Vec<_>>())
    };
    let slugs = ["acme", "other"].into_iter().cycle().take(200);
    let seen: BTreeSet<_> = join_all(slugs.map(skills)).await.into_iter().collect();
    let expected = [("acme", vec!["\"private\"".to_owned()]), ("other", vec!["\"treasure\"".to_owned()])];
    assert_eq!(seen, BTreeSet::from(expected));
    let third = server.other_tenant("third").await;
    assert!(!third.is_empty());
    assert!(skills("third").await.1.is_empty(), "a new tenant has nothing of its neighbours'");
}
