//! `kill -9` of a node between a notification and its record: another node goes on, and no receiver misses anything.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::cluster::{Cluster, Node};
use crate::harness::database;
use crate::push::{Answer, Receiver};

const MORE: &[(&str, &str)] = &[("PLEAT_EGRESS_ALLOW", "127.0.0.1:*"), ("PLEAT_PUSH_TIMEOUT_SECONDS", "20")];

fn told(input: Value, url: &str) -> Value {
    json!({ "skill": "probe", "message": input, "pushNotification": { "url": url } })
}

#[tokio::test]
async fn what_a_killed_node_was_about_to_tell_is_told_by_another() {
    let mut cluster = Cluster::start_with(database().await, 2, MORE).await;
    let receiver = Receiver::start([]).await;
    for restarts in [false, true] {
        // Takes the first notification and answers nothing, so that it is under way when the node dies.
        receiver.answers([Answer::Nothing]);
        let params = told(json!({ "do": "echo", "value": 1 }), &receiver.url("/"));
        let (_, sent) = cluster.rpc(0, "tasks/send", params).await;
        let id = sent["result"]["id"].as_str().unwrap_or_else(|| panic!("{sent}")).to_owned();
        let first = receiver.next().await;
        assert_eq!(first.state(), "working");
        cluster.nodes.remove(0).kill();
        if restarts {
            cluster.nodes.push(Node::start_with(&cluster.database, MORE).await);
        }
        let heard = receiver.some(2).await;
        assert_eq!([heard[0].state(), heard[1].state()], ["working", "completed"], "in order, from where it was");
        assert_eq!(heard[0].header("webhook-id"), first.header("webhook-id"), "a repetition is known by its name");
        let done = async || {
            let request = cluster.api(0, reqwest::Method::GET, &format!("/tenants/acme/pushes?task={id}"));
            let page: Value = request.bearer_auth(&cluster.key).send().await.unwrap().json().await.unwrap();
            Some(()).filter(|()| page["pushes"][0]["state"] == "done")
        };
        cluster.until("the end", done).await;
        assert!(receiver.is_quiet().await);
    }
}

#[tokio::test]
async fn several_nodes_share_receivers_and_none_is_told_twice() {
    let cluster = Cluster::start_with(database().await, 3, MORE).await;
    let receiver = Receiver::start([]).await;
    let sends = (0..60).map(|_| {
        let params = told(json!({ "do": "echo", "value": 1 }), &receiver.url("/"));
        async { cluster.rpc(cluster.next(), "tasks/send", params).await.1 }
    });
    let sent = futures::future::join_all(sends).await;
    let heard = receiver.some(120).await;
    for answer in &sent {
        let own: Vec<&str> =
            heard.iter().filter(|one| one.body["id"] == answer["result"]["id"]).map(|one| one.state()).collect();
        assert_eq!(own, ["working", "completed"], "{answer}");
    }
    // A task that one node runs is told of by whichever node was asked to.
    let (id, _stream) = cluster.begin(0, "probe", json!({ "do": "sleep", "ms": 1_500 })).await;
    let config = json!({ "id": id, "pushNotificationConfig": { "url": receiver.url("/") } });
    let (_, set) = cluster.rpc(1, "tasks/pushNotification/set", config).await;
    assert!(set["result"].is_object(), "{set}");
    assert_eq!(receiver.next().await.state(), "completed");
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    assert!(receiver.is_quiet().await, "nothing twice while nobody dies");
}
