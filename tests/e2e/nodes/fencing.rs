//! A node that others take for dead and that is not: it harms nothing, says what it knows, and comes back.

use std::time::Duration;

use serde_json::json;

use super::lost::STUBBORN;
use super::sharing::numbers;
use crate::harness::cluster::{Cluster, LEASE};

const PATIENCE: Duration = Duration::from_secs(40);

#[tokio::test]
async fn a_node_that_was_stopped_for_longer_than_its_lease_is_fenced_and_recovers() {
    let cluster = Cluster::start(2).await;
    cluster.deploy(0, "stubborn.js", STUBBORN, "&name=stubborn").await;
    let (plain, caller) = cluster.begin(0, "probe", json!({ "do": "sleep", "ms": 20_000 })).await;
    let (again, follower) = cluster.begin(0, "stubborn", json!({ "hang": 1 })).await;
    let elsewhere = cluster.events(1, &plain, 0).await;
    let stopped = cluster.nodes[0].server.id();
    crate::harness::project::signal(stopped, "STOP");
    let decided = tokio::time::timeout(PATIENCE, elsewhere.all()).await.expect("it is missed");
    assert!(decided.last().unwrap().data.to_string().contains("node_lost"), "{decided:?}");
    let done = async || Some(cluster.task(1, &again).await).filter(|task| task["state"] == "completed");
    let (task, took) = cluster.until("the end of the second attempt", done).await;
    println!("run again {took:?} later, lease {LEASE:?}");
    assert_eq!(task["attempt"], 2, "{task}");
    crate::harness::project::signal(stopped, "CONT");

    // Its own callers are told what the others have decided, not what it did itself.
    let (caller, follower) =
        tokio::time::timeout(PATIENCE, async { tokio::join!(caller.all(), follower.all()) }).await.expect("they end");
    assert!(caller.last().unwrap().data.to_string().contains("node_lost"), "{caller:?}");
    assert_eq!(follower.last().unwrap().data["result"]["status"]["state"], "completed", "{follower:?}");
    let seen = numbers(&follower);
    assert_eq!(seen, (2..=u32::try_from(seen.len()).unwrap() + 1).collect::<Vec<u32>>(), "{follower:?}");
    assert_eq!(cluster.task(0, &again).await, task, "what it brought was not written over");
    let works =
        async || (cluster.call(0, "probe", &json!({ "do": "echo", "value": 1 })).await.status() == 200).then_some(());
    let ((), took) = cluster.until("service", works).await;
    println!("serves {took:?} after it was let go on");
    let log = cluster.nodes[0].server.project.log();
    assert!(log.contains("out of touch too long"), "{log}");
}
