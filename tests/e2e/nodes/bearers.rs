//! `kill -9` of a node under callers that have shown a token: nobody shows it again, and their tasks go on in their names.

use reqwest::Method;
use serde_json::{Value, json};

use super::lost::STUBBORN;
use crate::harness::cluster::Cluster;
use crate::harness::{Stream, read};
use crate::jwt::signer::{Signer, key_set};

/// Registers an issuer; its id.
async fn issuer(cluster: &Cluster, name: &str, key: &Signer) -> String {
    let wish = json!({ "issuer": name, "audiences": ["us"], "jwks": key_set(&[key]), "scopes": ["invoke"] });
    let request = cluster.api(0, Method::POST, "/tenants/acme/issuers").bearer_auth(&cluster.key).json(&wish);
    let (status, made) = read(request.send().await.unwrap()).await;
    assert_eq!(status, 201, "{made}");
    made["id"].as_str().unwrap().to_owned()
}

fn token(issuer: &str, key: &Signer, subject: &str) -> String {
    let end = time::OffsetDateTime::now_utc().unix_timestamp() + 300;
    key.token(&json!({ "iss": issuer, "aud": "us", "sub": subject, "exp": end, "scope": "invoke" }))
}

async fn ask(cluster: &Cluster, node: usize, token: &str, method: &str, params: Value) -> reqwest::Response {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = cluster.client.post(format!("{}/_a2a/", cluster.nodes[node].tenant_url())).bearer_auth(token);
    request.json(&body).send().await.unwrap()
}

/// A task of the bearer that hangs at the first node.
async fn begin(cluster: &Cluster, token: &str) -> String {
    let params = json!({ "skill": "stubborn", "message": { "hang": 1 } });
    let mut stream = Stream::of(ask(cluster, 0, token, "tasks/sendSubscribe", params).await);
    let first = stream.next().await.expect("a first event");
    first.data["result"]["id"].as_str().unwrap_or_else(|| panic!("{first:?}")).to_owned()
}

#[tokio::test]
async fn a_bearers_task_runs_again_in_its_name_unless_its_issuer_was_removed() {
    let mut cluster = Cluster::start(2).await;
    cluster.deploy(0, "stubborn.js", STUBBORN, "&name=stubborn").await;
    let key = Signer::edwards("one");
    let stays = issuer(&cluster, "stays", &key).await;
    let goes = issuer(&cluster, "goes", &key).await;
    let ada = token("stays", &key, "ada");
    let hers = begin(&cluster, &ada).await;
    let his = begin(&cluster, &token("goes", &key, "bob")).await;
    let removed = cluster.api(0, Method::DELETE, &format!("/tenants/acme/issuers/{goes}")).bearer_auth(&cluster.key);
    assert_eq!(removed.send().await.unwrap().status(), 204);

    cluster.nodes.remove(0).kill();
    let ended = async |id: &str| {
        let over = async || {
            let task = cluster.task(0, id).await;
            Some(task).filter(|task| ["completed", "failed"].contains(&task["state"].as_str().unwrap()))
        };
        cluster.until("the end of the task", over).await.0
    };
    let task = ended(&hers).await;
    assert_eq!((&task["state"], &task["attempt"]), (&json!("completed"), &json!(2)), "{task}");
    assert_eq!(task["caller"], format!("jwt:{stays}:ada"));
    let (_, got) = read(ask(&cluster, 0, &ada, "tasks/get", json!({ "id": hers })).await).await;
    assert_eq!(got["result"]["status"]["state"], "completed", "it is still hers: {got}");
    let task = ended(&his).await;
    assert_eq!((&task["state"], &task["failure"]["reason"]), (&json!("failed"), &json!("node_lost")), "{task}");
}
