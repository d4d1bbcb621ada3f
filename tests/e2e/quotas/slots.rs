//! Instance slots: a share for each tenant, turns between those that wait, and an end to waiting.

use std::time::{Duration, Instant};

use futures::future::join_all;
use pleat_domain::{Plan, PlanName, Plans};
use reqwest::Response;
use serde_json::json;

use super::{FREE, PATIENCE, Refusal, call, echo, neighbour, sleeper, stop};
use crate::harness::TestServer;

fn is_busy(refusal: &Refusal) {
    assert_eq!((refusal.status, refusal.retry_after), (503, Some(1)), "{refusal:?}");
    assert_eq!(refusal.details, json!({ "limit": "instance slots", "retryAfterMs": 1_000 }));
}

#[tokio::test]
async fn sleeping_guests_of_one_tenant_hold_its_share_and_no_more() {
    let half = Plan { slot_percent: 50, ..FREE };
    // Of nine places one is for deploys.
    let (server, _runtime, _directory) = TestServer::start_alone_with(9, |config| {
        config.plans.insert(PlanName::standard(), half);
        config.slot_wait = Duration::from_millis(50);
    })
    .await;
    server.deploy_probe().await;
    let other = neighbour(&server).await;
    let mut sleepers = Vec::new();
    for _ in 0..4 {
        sleepers.push(sleeper(&server, &server.invoke).await);
    }
    let refusal = Refusal::of(call(&server, "acme", &server.invoke, "probe", &echo(1)).await).await;
    is_busy(&refusal);
    assert_eq!(refusal.code, "unavailable");
    let params = json!({ "skill": "probe", "message": echo(1) });
    let refusal = Refusal::of(server.rpc_response(&server.invoke, "tasks/send", params).await).await;
    is_busy(&refusal);
    assert_eq!(refusal.code, -32051);
    for _ in 0..20 {
        assert_eq!(call(&server, "other", &other, "probe", &echo(1)).await.status(), 200);
    }
    stop(&server, &sleepers[0].0).await;
    assert_eq!(call(&server, "acme", &server.invoke, "probe", &echo(1)).await.status(), 200);
}

/// One slot, which a sleeper of `acme` holds.
async fn narrow(queue: usize) -> (TestServer, String, impl Sized) {
    let (server, runtime, directory) = TestServer::start_alone_with(2, |config| {
        config.plans = Plans::generous();
        config.slot_wait = PATIENCE;
        config.slot_queue = queue;
    })
    .await;
    server.deploy_probe().await;
    let (task, stream) = sleeper(&server, &server.invoke).await;
    (server, task, (runtime, directory, stream))
}

/// Waits until so many calls wait for the slot.
async fn until_waiting(server: &TestServer, count: usize) {
    let began = Instant::now();
    while server.engine.slots().waiting != count {
        assert!(began.elapsed() < PATIENCE, "{:?}", server.engine.slots());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn task_of(response: &Response) -> String {
    assert_eq!(response.status(), 200);
    response.headers()["pleat-task-id"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn tenants_that_wait_take_turns() {
    let (server, task, _held) = narrow(100).await;
    let other = neighbour(&server).await;
    let crowd = join_all((0..6).map(|_| async { call(&server, "acme", &server.invoke, "probe", &echo(1)).await }));
    let late = async {
        until_waiting(&server, 6).await;
        let release = async {
            until_waiting(&server, 7).await;
            stop(&server, &task).await;
        };
        let input = echo(1);
        tokio::join!(call(&server, "other", &other, "probe", &input), release).0
    };
    let (crowd, late) = tokio::join!(crowd, late);
    // A task's id is made when it has its slot, and ids are in order.
    let (late, crowd) = (task_of(&late), crowd.iter().map(task_of));
    let before = crowd.filter(|task| *task < late).count();
    assert_eq!(before, 1, "who came last goes after the first of the crowd");
}

#[tokio::test]
async fn the_queue_has_an_end_and_no_tenant_fills_it_alone() {
    let (server, task, _held) = narrow(2).await;
    let other = neighbour(&server).await;
    // Two at once: one waits in acme's half of the queue, the other is refused at once.
    let ask = || async { call(&server, "acme", &server.invoke, "probe", &echo(1)).await };
    let (mut one, mut two) = (Box::pin(ask()), Box::pin(ask()));
    let (refused, waiting) = tokio::select! {
        refused = &mut one => (refused, two),
        refused = &mut two => (refused, one),
    };
    is_busy(&Refusal::of(refused).await);
    let input = echo(1);
    let late = call(&server, "other", &other, "probe", &input);
    let release = async {
        until_waiting(&server, 2).await;
        stop(&server, &task).await;
    };
    let (waiting, late, ()) = tokio::join!(waiting, late, release);
    assert_eq!((waiting.status(), late.status()), (reqwest::StatusCode::OK, reqwest::StatusCode::OK));
}
