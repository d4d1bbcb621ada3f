//! What is sent to one node can be read, followed, answered and canceled at any other.

use std::time::Duration;

use serde_json::json;

use crate::harness::Frame;
use crate::harness::cluster::Cluster;

const PATIENCE: Duration = Duration::from_secs(30);

pub fn numbers(frames: &[Frame]) -> Vec<u32> {
    frames.iter().filter_map(|frame| frame.id).collect()
}

#[tokio::test]
async fn a_task_is_read_followed_answered_and_canceled_at_any_node() {
    let cluster = Cluster::start(3).await;
    sent_here_read_there(&cluster).await;
    followed_from_the_first_event_to_the_last(&cluster).await;
    answered_elsewhere(&cluster).await;
    canceled_elsewhere(&cluster).await;
    for node in cluster.nodes {
        node.server.signal("TERM");
        let (project, status, _) = node.server.ended().await;
        assert_eq!(status.code(), Some(0), "{}", project.log());
    }
}

async fn sent_here_read_there(cluster: &Cluster) {
    for value in 0..6 {
        let params = json!({ "skill": "probe", "message": { "do": "echo", "value": value } });
        let (_, sent) = cluster.rpc(cluster.next(), "tasks/send", params).await;
        assert_eq!(sent["result"]["status"]["state"], "completed", "{sent}");
        let id = sent["result"]["id"].as_str().unwrap();
        let (_, got) = cluster.rpc(cluster.next(), "tasks/get", json!({ "id": id })).await;
        assert_eq!(got["result"]["artifacts"], sent["result"]["artifacts"], "{got}");
        let events = cluster.events(cluster.next(), id, 0).await.all().await;
        assert_eq!(numbers(&events), (1..=3).collect::<Vec<u32>>(), "{events:?}");
    }
}

async fn followed_from_the_first_event_to_the_last(cluster: &Cluster) {
    let (id, here) = cluster.begin(0, "probe", json!({ "do": "emit", "chunks": 20, "delay_ms": 60 })).await;
    let (there, third) = (cluster.events(1, &id, 0).await, cluster.events(2, &id, 0).await);
    let all = async { tokio::join!(here.all(), there.all(), third.all()) };
    let (here, there, third) = tokio::time::timeout(PATIENCE, all).await.expect("the streams end");
    let all = numbers(&third);
    assert_eq!(all, (1..=u32::try_from(all.len()).unwrap()).collect::<Vec<u32>>(), "contiguous from the first");
    assert!(all.len() > 5, "it was followed while it ran: {all:?}");
    assert_eq!(numbers(&there), all);
    assert_eq!(numbers(&here), all[1..], "the first was read before");
    assert_eq!(third.last().unwrap().data["body"]["status"]["state"], "completed", "{third:?}");
    // Long after its end, from the middle, at a node that has never seen it.
    let rest = cluster.events(1, &id, 3).await.all().await;
    assert_eq!(numbers(&rest), all[3..]);
}

async fn answered_elsewhere(cluster: &Cluster) {
    let ask = json!({ "do": "need_input", "prompt": "which?", "schema": null, "state": { "kept": 7 } });
    let (_, asked) = cluster.rpc(0, "tasks/send", json!({ "skill": "probe", "message": ask })).await;
    assert_eq!(asked["result"]["status"]["state"], "input-required", "{asked}");
    let id = asked["result"]["id"].as_str().unwrap();
    let answer = json!({ "id": id, "message": { "do": "conversation" } });
    let (_, answered) = cluster.rpc(1, "tasks/send", answer).await;
    assert_eq!(answered["result"]["status"]["state"], "completed", "{answered}");
    let task = cluster.task(2, id).await;
    assert_eq!(task["artifacts"][0]["value"]["state"], json!({ "kept": 7 }), "{task}");
    assert_eq!(task["turn"], 2, "{task}");
}

async fn canceled_elsewhere(cluster: &Cluster) {
    let (id, here) = cluster.begin(0, "probe", json!({ "do": "sleep", "ms": 25_000 })).await;
    let there = cluster.events(2, &id, 0).await;
    let asked = std::time::Instant::now();
    let (_, canceled) = cluster.rpc(1, "tasks/cancel", json!({ "id": id })).await;
    println!("canceled from another node in {:?}", asked.elapsed());
    assert_eq!(canceled["result"]["status"]["state"], "canceled", "{canceled}");
    let (here, there) = tokio::time::timeout(PATIENCE, async { tokio::join!(here.all(), there.all()) }).await.unwrap();
    assert_eq!(here.last().unwrap().data["result"]["status"]["state"], "canceled", "{here:?}");
    assert_eq!(there.last().unwrap().data["body"]["status"]["state"], "canceled", "{there:?}");
    for node in 0..3 {
        let (_, again) = cluster.rpc(node, "tasks/cancel", json!({ "id": id })).await;
        assert_eq!(again["error"]["code"], -32002, "{again}");
    }
    // One that waits for its caller is held by no node at all.
    let ask = json!({ "do": "need_input", "prompt": "which?", "schema": null, "state": null });
    let (_, asked) = cluster.rpc(0, "tasks/send", json!({ "skill": "probe", "message": ask })).await;
    let id = asked["result"]["id"].as_str().unwrap();
    let (_, canceled) = cluster.rpc(1, "tasks/cancel", json!({ "id": id })).await;
    assert_eq!(canceled["result"]["status"]["state"], "canceled", "{canceled}");
}
