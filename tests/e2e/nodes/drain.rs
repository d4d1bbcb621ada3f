//! `SIGTERM`: running work is finished, handed back, or ended, and nobody is left waiting.

use std::time::Duration;

use serde_json::json;

use super::lost::STUBBORN;
use super::sharing::numbers;
use crate::harness::cluster::{Cluster, Node};
use crate::harness::database;

const PATIENCE: Duration = Duration::from_secs(40);
/// As outside of tests: on a busy machine a node with the short one of the suites may lose it meanwhile, and then it has
/// nothing to finish.
const LEASE: (&str, &str) = ("PLEAT_LEASE_MS", "10000");

#[tokio::test]
async fn a_node_that_is_told_to_stop_finishes_hands_back_and_says_so() {
    let mut cluster = Cluster::start_with(database().await, 1, &[LEASE]).await;
    cluster.deploy(0, "stubborn.js", STUBBORN, "&name=stubborn").await;
    let leaving = Node::start_with(&cluster.database, &[LEASE, ("PLEAT_DRAIN_SECONDS", "3")]).await;
    let leaving_url = leaving.url.clone();
    cluster.nodes.push(leaving);
    let (short, finished) = cluster.begin(1, "probe", json!({ "do": "sleep", "ms": 2_000 })).await;
    let (long, ended) = cluster.begin(1, "probe", json!({ "do": "sleep", "ms": 29_000 })).await;
    let (again, moved) = cluster.begin(1, "stubborn", json!({ "hang": 1 })).await;
    let elsewhere = cluster.events(0, &again, 0).await;
    let (remote, _) = cluster.begin(0, "probe", json!({ "do": "sleep", "ms": 12_000 })).await;
    let followed = cluster.events_response(1, &remote, 0).await;

    cluster.nodes[1].server.signal("TERM");
    let unready = async || {
        let answer = cluster.client.get(format!("{leaving_url}/readyz")).send().await.ok()?;
        (answer.status() == 503).then_some(answer.text().await.ok()?)
    };
    let (text, took) = cluster.until("unreadiness", unready).await;
    println!("not ready {took:?} after SIGTERM: {text}");
    let refused = cluster.call(1, "probe", &json!({ "do": "echo", "value": 1 })).await;
    assert_eq!(refused.status(), 503);
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(cluster.task(1, &short).await["skill"], "probe", "reading goes on");

    // What is followed here and runs elsewhere is followed better elsewhere: a comment, and the end.
    let text = tokio::time::timeout(PATIENCE, followed.text()).await.expect("the stream is closed").unwrap();
    assert!(text.contains("id: 1") && text.trim_end().ends_with(": this node stops; resume at another"), "{text}");
    let streams = async { tokio::join!(finished.all(), ended.all(), moved.all()) };
    let (finished, ended, moved) = tokio::time::timeout(PATIENCE, streams).await.expect("streams end");
    assert_eq!(finished.last().unwrap().data["result"]["status"]["state"], "completed", "{finished:?}");
    assert!(ended.last().unwrap().data.to_string().contains("node_lost"), "{ended:?}");
    // It ends at the other node, which may be soon enough to be told of here.
    let mut ends = moved.iter().map(|frame| &frame.data["result"]).filter(|event| event["final"] == true);
    assert!(ends.all(|event| event["status"]["state"] == "completed"), "it has not ended here: {moved:?}");
    let (project, status, _) = cluster.nodes.remove(1).server.ended().await;
    assert_eq!(status.code(), Some(0), "{}", project.log());

    let elsewhere = tokio::time::timeout(PATIENCE, elsewhere.all()).await.expect("it goes on elsewhere");
    let all = numbers(&elsewhere);
    assert_eq!(all, (1..=u32::try_from(all.len()).unwrap()).collect::<Vec<u32>>(), "{elsewhere:?}");
    let task = cluster.task(0, &again).await;
    assert_eq!((&task["state"], &task["attempt"]), (&json!("completed"), &json!(2)), "{task}");
    assert_eq!(cluster.task(0, &long).await["failure"]["reason"], "node_lost");
}
