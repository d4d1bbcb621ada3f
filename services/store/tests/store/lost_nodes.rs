//! A node that is gone does not leave its tasks running for ever: another one claims them.

use std::time::Duration;

use pleat_domain::task::Ask;
use pleat_domain::{Task, TaskId, TaskState, Tenant};
use pleat_store::{Change, Standing, Store, StoreConfig, Wake, Written};

use crate::support::{Fixture, plain, raw, running, step, then, told};

/// As after a kill: the last beat is older than any lease. The node's own next beat starts another epoch.
async fn silence(fixture: &Fixture) {
    fixture.run("UPDATE nodes SET beat_at = now() - interval '1 minute'").await;
}

async fn second(fixture: &Fixture) -> Store {
    Store::open(StoreConfig::new(fixture.url.as_str())).await.unwrap()
}

async fn begin(fixture: &Fixture, tenant: &Tenant) -> Task {
    let task = running();
    fixture.store.writer().commit(step(tenant, &task, Change::Insert)).await.unwrap();
    task
}

#[tokio::test]
async fn a_lost_nodes_tasks_are_claimed_with_the_place_of_their_last_event_and_the_node_is_fenced() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let writer = fixture.store.writer();
    let streamed = begin(&fixture, &tenant).await;
    let chunk = then(&streamed, TaskState::Working);
    let silent = Task { last_seq: 0, ..running() };
    writer.commit(step(&tenant, &chunk, Change::Append)).await.unwrap();
    writer.commit(plain(&tenant, &silent, Change::Insert)).await.unwrap();
    silence(&fixture).await;
    let second = second(&fixture).await;

    let mut claimed = second.claim_lost().await.unwrap();
    claimed.sort_by_key(|claimed| claimed.task.last_seq);
    let seen: Vec<_> = claimed.iter().map(|claimed| (claimed.task.id, claimed.task.last_seq)).collect();
    assert_eq!(seen, [(silent.id, 0), (streamed.id, 2)]);
    assert!(claimed.iter().all(|claimed| claimed.tenant == tenant.id && !claimed.canceled));
    assert!(second.claim_lost().await.unwrap().is_empty(), "what is claimed has an owner");

    let late = then(&chunk, TaskState::Completed);
    assert_eq!(writer.commit(step(&tenant, &late, Change::Update)).await.unwrap(), Written::Fenced);
    assert_eq!(writer.commit(step(&tenant, &late, Change::Append)).await.unwrap(), Written::Fenced);
    assert_eq!(told(&handle, streamed.id).await.len(), 2);
    assert_eq!(second.writer().commit(step(&tenant, &late, Change::Update)).await.unwrap(), Written::Done);
    second.close().await;
}

#[tokio::test]
async fn a_living_nodes_tasks_are_left_alone_and_a_closed_ones_are_not() {
    let fixture = Fixture::new().await;
    let (tenant, _) = fixture.tenant("acme").await;
    let task = begin(&fixture, &tenant).await;
    assert!(fixture.store.lease_is_fresh());
    let second = second(&fixture).await;
    assert!(second.claim_lost().await.unwrap().is_empty());
    assert_eq!(second.other_nodes(), 1);
    let mut heard = second.heard();
    while heard.try_recv().is_ok() {}
    fixture.store.close().await;
    // It says so when it leaves, so that nobody has to wait for the next look. Who begins to listen later looks then.
    until(&mut heard, |wake| matches!(wake, Wake::Sweep | Wake::Look)).await;
    assert_eq!(second.claim_lost().await.unwrap().first().unwrap().task.id, task.id);
    second.close().await;
}

#[tokio::test]
async fn two_nodes_that_sweep_at_once_share_what_there_is() {
    let fixture = Fixture::new().await;
    let (tenant, _) = fixture.tenant("acme").await;
    let mut all: Vec<TaskId> = Vec::new();
    for _ in 0..40 {
        all.push(begin(&fixture, &tenant).await.id);
    }
    let (one, other) = (second(&fixture).await, second(&fixture).await);
    for _ in 0..5 {
        fixture.run("UPDATE tasks SET lease_owner = '00000000-0000-0000-0000-000000000000'").await;
        let (first, rest) = tokio::join!(one.claim_lost(), other.claim_lost());
        let mut claimed: Vec<TaskId> =
            first.unwrap().into_iter().chain(rest.unwrap()).map(|each| each.task.id).collect();
        claimed.extend(one.claim_lost().await.unwrap().into_iter().map(|each| each.task.id));
        claimed.sort();
        assert_eq!(claimed, all, "each is claimed once");
    }
    one.close().await;
    other.close().await;
}

#[tokio::test]
async fn what_one_node_cannot_read_is_left_to_others_and_holds_nothing_up() {
    let fixture = Fixture::new().await;
    let (tenant, _) = fixture.tenant("acme").await;
    // More than one statement claims.
    for _ in 0..105 {
        begin(&fixture, &tenant).await;
    }
    fixture.run("UPDATE tasks SET door = 'of-a-later-version'").await;
    let good = begin(&fixture, &tenant).await;
    silence(&fixture).await;
    let (one, other) = (second(&fixture).await, second(&fixture).await);
    let claimed: Vec<TaskId> = one.claim_lost().await.unwrap().iter().map(|claimed| claimed.task.id).collect();
    assert_eq!(claimed, [good.id]);
    assert!(one.claim_lost().await.unwrap().is_empty());
    let nobody = "tasks WHERE lease_owner = '00000000-0000-0000-0000-000000000000'";
    assert_eq!(fixture.count(nobody).await, 105, "what it cannot read it does not hold");
    fixture.run("UPDATE tasks SET door = 'a2a/0.1'").await;
    assert_eq!(other.claim_lost().await.unwrap().len(), 100, "a node that can read them takes them");
    one.close().await;
    other.close().await;
}

#[tokio::test]
async fn a_released_task_is_claimed_at_once_and_a_wish_to_cancel_goes_with_it() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let task = begin(&fixture, &tenant).await;
    let other = second(&fixture).await;
    let mut heard = fixture.store.heard();
    other.tenant(tenant.id).request_cancel(task.id).await.unwrap();
    until(&mut heard, |wake| *wake == Wake::Cancels(vec![task.id])).await;
    assert_eq!(fixture.store.canceled_among(&[TaskId::new(), task.id]).await.unwrap(), [task.id]);
    // Another node cannot give away what is not its own.
    other.release(tenant.id, task.id).await.unwrap();
    assert!(other.claim_lost().await.unwrap().is_empty());
    fixture.store.release(tenant.id, task.id).await.unwrap();
    let claimed = other.claim_lost().await.unwrap();
    assert!(claimed.first().unwrap().canceled);
    assert!(other.claim_again(tenant.id, task.id).await.unwrap().is_some());
    assert!(fixture.store.claim_again(tenant.id, task.id).await.unwrap().is_none());
    assert_eq!(handle.task(task.id, None).await.unwrap().unwrap().state, TaskState::Working);
    other.close().await;
}

#[tokio::test]
async fn what_a_function_kept_outlives_the_node_that_ran_its_next_turn() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let writer = fixture.store.writer();
    let task = begin(&fixture, &tenant).await;
    let ask = Ask { state: Some(raw(r#"{"step":2}"#)), ..Ask::new("which?") };
    let waiting = Task { ask: Some(ask), ..then(&task, TaskState::InputRequired) };
    writer.commit(step(&tenant, &waiting, Change::Update)).await.unwrap();
    let resumed = Task { turn: 2, ask: None, ..then(&waiting, TaskState::Working) };
    writer.commit(step(&tenant, &resumed, Change::Resume)).await.unwrap();
    assert!(handle.task(task.id, None).await.unwrap().unwrap().ask.is_none(), "nothing is asked while it runs");
    fixture.store.release(tenant.id, task.id).await.unwrap();
    let claimed = fixture.store.claim_lost().await.unwrap().remove(0);
    assert_eq!(claimed.kept.unwrap().get(), r#"{"step":2}"#);
    let done = Task { turn: 2, ask: None, ..then(&claimed.task, TaskState::Completed) };
    assert_eq!(writer.commit(step(&tenant, &done, Change::Update)).await.unwrap(), Written::Done);
    assert_eq!(fixture.count("tasks WHERE ask IS NOT NULL").await, 0);
}

#[tokio::test]
async fn a_node_that_cannot_prove_its_life_knows_it_and_begins_another_epoch() {
    // Long enough that a busy machine can connect anew within half of it.
    let fixture = Fixture::with(|config| config.lease = Duration::from_secs(2)).await;
    let (tenant, _) = fixture.tenant("acme").await;
    let mut standing = fixture.store.standing();
    assert_eq!(*standing.borrow_and_update(), Standing::Held { epoch: 1 });
    let task = begin(&fixture, &tenant).await;
    let mut outside = fixture.outside().await;
    sqlx::raw_sql("BEGIN; LOCK TABLE nodes").execute(&mut outside).await.unwrap();
    tokio::time::timeout(Duration::from_secs(10), standing.wait_for(|now| *now == Standing::Lapsed))
        .await
        .expect("it notices by itself")
        .unwrap();
    assert!(!fixture.store.lease_is_fresh());
    sqlx::raw_sql("COMMIT").execute(&mut outside).await.unwrap();
    let back = standing.wait_for(|now| matches!(now, Standing::Held { epoch } if *epoch > 1));
    tokio::time::timeout(Duration::from_secs(30), back).await.expect("it comes back").unwrap();
    let late = then(&task, TaskState::Completed);
    let written = fixture.store.writer().commit(step(&tenant, &late, Change::Update)).await.unwrap();
    assert_eq!(written, Written::Fenced, "what it held before is no longer its own");
}

async fn until(heard: &mut tokio::sync::broadcast::Receiver<Wake>, found: impl Fn(&Wake) -> bool) {
    let wait = async { while !found(&heard.recv().await.unwrap()) {} };
    assert!(tokio::time::timeout(Duration::from_secs(20), wait).await.is_ok(), "the other node is told");
}
