//! `kill -9` of a node: its tasks end as lost, or run again elsewhere, and whoever follows them misses nothing.

use std::time::Duration;

use serde_json::{Value, json};

use super::sharing::numbers;
use crate::harness::cluster::Cluster;
use crate::harness::{Frame, Stream};

const PATIENCE: Duration = Duration::from_secs(40);

/// Says which attempt it is, and hangs in the first ones.
pub const STUBBORN: &str = r#"
export const description = "Hangs in its first attempts";
export const annotations = { idempotentHint: true };
export const limits = { cpuMs: 30000, wallMs: 120000 };
export default function (input, ctx) {
  if (ctx.turn === 1 && input.ask) return ctx.needInput("which?", { state: { kept: 7 } });
  ctx.log(`attempt ${ctx.attempt}`);
  ctx.emit(`attempt ${ctx.attempt}`);
  while (ctx.attempt <= input.hang);
  return { attempt: ctx.attempt, state: ctx.state };
}
"#;

/// Until the stream has shown what the running attempt emits; all that was shown.
async fn until_emitted(stream: &mut Stream, attempt: u32) -> Vec<Frame> {
    let mut seen = Vec::new();
    loop {
        let frame = tokio::time::timeout(PATIENCE, stream.next()).await.expect("in time").expect("not the end");
        let text = frame.data.to_string();
        seen.push(frame);
        if text.contains(&format!("attempt {attempt}")) {
            return seen;
        }
    }
}

async fn to_the_end(stream: Stream) -> Vec<Frame> {
    tokio::time::timeout(PATIENCE, stream.all()).await.expect("the stream ends")
}

#[tokio::test]
async fn a_killed_nodes_tasks_are_lost_or_run_again_and_no_follower_misses_an_event() {
    let mut cluster = Cluster::start(3).await;
    cluster.deploy(0, "stubborn.js", STUBBORN, "&name=stubborn").await;
    let (plain, _) = cluster.begin(0, "probe", json!({ "do": "sleep", "ms": 29_000 })).await;
    let (again, _) = cluster.begin(0, "stubborn", json!({ "hang": 1 })).await;
    let (canceled, _) = cluster.begin(0, "stubborn", json!({ "hang": 1 })).await;
    let asked = json!({ "skill": "stubborn", "message": { "ask": true } });
    let (_, asked) = cluster.rpc(0, "tasks/send", asked).await;
    let turned = asked["result"]["id"].as_str().unwrap().to_owned();
    let answer = json!({ "id": turned, "message": { "hang": 1 } });
    let mut answered = Stream::of(cluster.request(0, "tasks/sendSubscribe", answer).send().await.unwrap());
    until_emitted(&mut answered, 1).await;
    let lost = cluster.events(1, &plain, 0).await;
    let mut followed = cluster.events(1, &again, 0).await;
    let mut seen = until_emitted(&mut followed, 1).await;

    cluster.nodes.remove(0).kill();
    let asked = json!({ "id": canceled });
    let (_, canceled) = cluster.rpc(1, "tasks/cancel", asked).await;
    assert_eq!(canceled["result"]["status"]["state"], "canceled", "a dead owner cancels nothing: {canceled}");
    let lost = to_the_end(lost).await;
    assert_eq!(numbers(&lost), [1, 2], "{lost:?}");
    assert!(lost[1].data.to_string().contains("node_lost"), "{lost:?}");

    // One reader stays where it is, another comes back with the last number it has seen, to another node.
    let last = seen.last().unwrap().id.unwrap();
    let resumed = to_the_end(cluster.events(0, &again, last).await).await;
    seen.extend(to_the_end(followed).await);
    let whole = numbers(&seen);
    assert_eq!(whole, (1..=u32::try_from(whole.len()).unwrap()).collect::<Vec<u32>>(), "nothing lost or repeated");
    assert_eq!(numbers(&resumed), whole[last as usize..], "{resumed:?}");
    let states: Vec<&Value> = seen.iter().map(|frame| &frame.data["body"]["status"]["state"]).collect();
    assert!(!states.contains(&&json!("failed")), "{states:?}");
    let task = cluster.task(1, &again).await;
    assert_eq!((&task["state"], &task["attempt"]), (&json!("completed"), &json!(2)), "{task}");
    let value = task["artifacts"].as_array().unwrap().last().unwrap()["value"].clone();
    assert_eq!(value["attempt"], 2, "the function is told: {task}");
    turn_two_ran_again(&cluster, &turned).await;
}

/// With what the function kept before it.
async fn turn_two_ran_again(cluster: &Cluster, id: &str) {
    let done = async || Some(cluster.task(0, id).await).filter(|task| task["state"] == "completed");
    let (task, _) = cluster.until("the end of the second turn", done).await;
    let value = task["artifacts"].as_array().unwrap().last().unwrap()["value"].clone();
    assert_eq!(value, json!({ "attempt": 2, "state": { "kept": 7 } }), "{task}");
}

#[tokio::test]
async fn a_function_that_takes_every_node_with_it_is_given_up_after_three_attempts() {
    let mut cluster = Cluster::start(2).await;
    cluster.deploy(0, "stubborn.js", STUBBORN, "&name=stubborn").await;
    let (id, _) = cluster.begin(0, "stubborn", json!({ "hang": 9 })).await;
    for attempt in 2..=3 {
        cluster.nodes.remove(0).kill();
        cluster.nodes.push(crate::harness::cluster::Node::start(&cluster.database).await);
        let running = async || Some(cluster.task(0, &id).await).filter(|task| task["attempt"] == attempt);
        cluster.until("another attempt", running).await;
        // Whichever node runs it is the one to go next.
        let owner = owner_of(&cluster, &id).await;
        cluster.nodes.swap(0, owner);
    }
    cluster.nodes.remove(0).kill();
    let rest = to_the_end(cluster.events(0, &id, 0).await).await;
    assert!(rest.last().unwrap().data.to_string().contains("node_lost"), "{rest:?}");
    let all = numbers(&rest);
    assert_eq!(all, (1..=u32::try_from(all.len()).unwrap()).collect::<Vec<u32>>());
    assert_eq!(cluster.task(0, &id).await["attempt"], 3);
}

/// The place of the node whose log says that it runs the task again.
async fn owner_of(cluster: &Cluster, id: &str) -> usize {
    let says = |node: &crate::harness::cluster::Node| {
        node.server.project.log().lines().any(|line| line.contains("running a task again") && line.contains(id))
    };
    let (found, _) = cluster.until("an owner", async || cluster.nodes.iter().rposition(says)).await;
    found
}
