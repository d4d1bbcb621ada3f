//! Deploys, rollbacks, revoked keys and deleted tenants are seen everywhere within a second.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::cluster::{Cluster, Node};
use crate::harness::project::Project;
use crate::harness::{answering, read};

/// A second is what it takes on a machine that has time; this is for one that has not.
const SOON: Duration = Duration::from_secs(5);

/// What the function `one` answers at a node.
async fn answer(cluster: &Cluster, node: usize) -> Value {
    read(cluster.call(node, "one", &json!({})).await).await.1
}

async fn seen_everywhere(cluster: &Cluster, what: &str, expected: &Value) {
    for node in 0..cluster.nodes.len() {
        let ask = async || (answer(cluster, node).await == *expected).then_some(());
        let ((), took) = cluster.until(what, ask).await;
        println!("{what} is seen at node {node} after {took:?}");
        assert!(took < SOON, "{what} took {took:?}");
    }
}

#[tokio::test]
async fn what_changes_at_one_node_is_seen_at_the_others_within_a_second() {
    let mut cluster = Cluster::start(3).await;
    let manifest = json!({ "description": "Says a number" });
    cluster.deploy(0, "one.wat", answering(&manifest, "1"), "&name=one").await;
    seen_everywhere(&cluster, "a first version", &json!(1)).await;
    cluster.deploy(1, "one.wat", answering(&manifest, "2"), "&name=one").await;
    seen_everywhere(&cluster, "a second version", &json!(2)).await;
    let rollback = cluster.api(2, Method::POST, "/tenants/acme/functions/one/rollback").bearer_auth(&cluster.key);
    assert_eq!(rollback.json(&json!({})).send().await.unwrap().status(), 200);
    seen_everywhere(&cluster, "a rollback", &json!(1)).await;

    // A node on an empty disk has neither the code nor the source: both come from the database.
    cluster.nodes.push(Node::start_in(Project::new(), &cluster.database, &[]).await);
    seen_everywhere(&cluster, "a version on an empty disk", &json!(1)).await;

    revoked_keys(&cluster).await;
    deleted_tenants(&cluster).await;
}

async fn revoked_keys(cluster: &Cluster) {
    let request = cluster.api(0, Method::POST, "/tenants/acme/keys").bearer_auth(&cluster.key);
    let (status, made) = read(request.json(&json!({ "scopes": ["invoke"] })).send().await.unwrap()).await;
    assert_eq!(status, 201, "{made}");
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let call = async |node: usize| {
        let url = format!("{}/one", cluster.nodes[node].tenant_url());
        cluster.client.post(url).bearer_auth(key).json(&json!({})).send().await.unwrap().status().as_u16()
    };
    for node in 0..cluster.nodes.len() {
        assert_eq!(call(node).await, 200);
    }
    let revoke = cluster.api(1, Method::DELETE, &format!("/tenants/acme/keys/{id}")).bearer_auth(&cluster.key);
    assert!(revoke.send().await.unwrap().status().is_success());
    for node in 0..cluster.nodes.len() {
        let ((), took) = cluster.until("a refusal", async || (call(node).await == 401).then_some(())).await;
        println!("a revoked key is refused at node {node} after {took:?}");
        assert!(took < SOON, "{took:?}");
    }
}

async fn deleted_tenants(cluster: &Cluster) {
    let (id, running) = cluster.begin(2, "probe", json!({ "do": "sleep", "ms": 25_000 })).await;
    let delete = cluster.api(0, Method::DELETE, "/tenants/acme").bearer_auth(&cluster.operator);
    assert!(delete.send().await.unwrap().status().is_success());
    for node in 0..cluster.nodes.len() {
        let gone = async || (cluster.call(node, "one", &json!({})).await.status() == 404).then_some(());
        let ((), took) = cluster.until("the tenant's end", gone).await;
        println!("a deleted tenant is gone from node {node} after {took:?}");
        assert!(took < SOON, "{took:?}");
    }
    let rest = tokio::time::timeout(Duration::from_secs(20), running.all()).await.expect("what it ran is stopped");
    assert_eq!(rest.last().unwrap().data["result"]["status"]["state"], "canceled", "{id}: {rest:?}");
}
