//! Receivers of notifications: each is looked after by one node, and by another one when that is lost.

use std::time::Duration;

use pleat_domain::{Dialect, TaskId, TaskState};
use pleat_store::{
    Change, DeliveryFilter, HeldPush, PushAttempt, PushBecame, PushEntry, PushFilter, Store, StoreConfig, StoreError,
    TenantStore,
};
use uuid::Uuid;

use crate::support::{Fixture, caller, plain, running, step, task};

/// The same on every node.
const LEASE: Duration = Duration::from_secs(3);

fn entry(id: &str) -> PushEntry {
    PushEntry {
        id: id.to_owned(),
        caller: caller("a"),
        dialect: Dialect::A2a03,
        destination: "https://hooks.example.com".to_owned(),
        sealed: b"sealed".to_vec(),
        delivered: 0,
    }
}

fn attempt(seq: u32, number: u32, became: PushBecame) -> PushAttempt {
    let (message, took) = (Uuid::from_u128(u128::from(seq)), Duration::from_millis(5));
    let fault = (became != PushBecame::Delivered).then(|| "the receiver answered 500".to_owned());
    PushAttempt { message, seq, number, became, status: Some(500), fault, took }
}

/// A receiver that has been told of one event: a row in both tables.
pub async fn deliver(store: &Store, handle: &TenantStore, task: TaskId) {
    handle.set_push(task, &entry("one")).await.unwrap();
    let held = claim(store).await.pop().unwrap();
    assert!(store.push_tried(&held, &attempt(1, 1, PushBecame::Delivered)).await.unwrap());
    store.rest_push(&held, 1, None).await.unwrap();
}

async fn claim(store: &Store) -> Vec<HeldPush> {
    store.claim_pushes(&[], 10).await.unwrap()
}

async fn second_node(fixture: &Fixture) -> Store {
    let config = StoreConfig { readers: 3, lease: LEASE, ..StoreConfig::new(fixture.url.as_str()) };
    Store::open(config).await.unwrap()
}

#[tokio::test]
async fn a_receiver_given_with_a_task_is_kept_with_it_or_not_at_all() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let (told, other) = (running(), task());
    let mut commit = step(&tenant, &told, Change::Insert);
    commit.push = Some(entry("one"));
    // In one batch with a task that has none.
    let writer = fixture.store.writer();
    let (first, second) =
        tokio::join!(writer.commit(commit.clone()), writer.commit(plain(&tenant, &other, Change::Insert)));
    assert!(first.is_ok() && second.is_ok());
    writer.commit(commit).await.expect("doing it twice is doing it once");
    assert_eq!(fixture.count("push_configs").await, 1);
    let row = handle.pushes(told.id).await.unwrap().remove(0);
    assert_eq!((row.id.as_str(), row.dialect, row.delivered, row.dead), ("one", Dialect::A2a03, 0, false));
    let ended = pleat_domain::Task { state: TaskState::Completed, ..running() };
    let mut late = plain(&tenant, &ended, Change::Update);
    late.push = Some(entry("two"));
    writer.commit(late).await.unwrap();
    assert_eq!(fixture.count("push_configs").await, 1, "a step that is not taken brings nobody");
}

#[tokio::test]
async fn one_node_looks_after_a_receiver_until_it_lays_it_down() {
    let fixture = Fixture::with(|config| config.lease = LEASE).await;
    let (_, handle) = fixture.tenant("acme").await;
    let id = running().id;
    handle.set_push(id, &entry("one")).await.unwrap();
    let other = second_node(&fixture).await;
    let held = claim(&fixture.store).await;
    assert_eq!((held.len(), claim(&other).await.len(), claim(&fixture.store).await.len()), (1, 0, 0));
    assert_eq!((held[0].delivered, held[0].attempts, held[0].sealed.as_slice()), (0, 0, &b"sealed"[..]));
    let later = attempt(1, 1, PushBecame::Retrying(Duration::from_secs(60)));
    assert!(fixture.store.push_tried(&held[0], &later).await.unwrap());
    assert!(claim(&other).await.is_empty(), "not before its time");
    fixture.run("UPDATE push_configs SET next_at = now()").await;
    let held = claim(&other).await;
    assert_eq!((held[0].delivered, held[0].attempts), (0, 1));
    assert!(other.push_tried(&held[0], &attempt(1, 2, PushBecame::Delivered)).await.unwrap());
    assert!(other.push_tried(&held[0], &attempt(2, 1, PushBecame::Delivered)).await.unwrap());
    other.rest_push(&held[0], 2, None).await.unwrap();
    assert!(claim(&other).await.is_empty() && claim(&fixture.store).await.is_empty(), "nothing left to do");
    let row = handle.pushes(id).await.unwrap().remove(0);
    assert_eq!((row.delivered, row.attempts, row.next_at), (2, 0, None));
    let log = handle.deliveries(&DeliveryFilter { limit: 10, ..DeliveryFilter::default() }).await.unwrap();
    let told: Vec<(u32, &str, u32)> = log.iter().map(|one| (one.seq, one.state.as_str(), one.attempts)).collect();
    assert_eq!(told, [(2, "delivered", 1), (1, "delivered", 2)]);
}

#[tokio::test]
async fn a_lost_nodes_receivers_are_taken_over_and_it_records_nothing_more() {
    let fixture = Fixture::with(|config| config.lease = LEASE).await;
    let (_, handle) = fixture.tenant("acme").await;
    handle.set_push(running().id, &entry("one")).await.unwrap();
    let lost = claim(&fixture.store).await.remove(0);
    let other = second_node(&fixture).await;
    assert!(claim(&other).await.is_empty());
    // As when its process has ended.
    let node = fixture.store.node().as_uuid();
    fixture.run(&format!("UPDATE nodes SET beat_at = now() - interval '1 hour' WHERE id = '{node}'")).await;
    let held = claim(&other).await;
    assert_eq!(held.len(), 1);
    assert!(!fixture.store.push_tried(&lost, &attempt(1, 1, PushBecame::Delivered)).await.unwrap());
    fixture.store.rest_push(&lost, 9, None).await.unwrap();
    assert!(other.push_tried(&held[0], &attempt(1, 1, PushBecame::Delivered)).await.unwrap());
}

#[tokio::test]
async fn however_many_look_at_once_each_receiver_is_claimed_by_one() {
    let fixture = Fixture::with(|config| config.lease = LEASE).await;
    let (_, handle) = fixture.tenant("acme").await;
    let (second, third) = (second_node(&fixture).await, second_node(&fixture).await);
    for _ in 0..20 {
        let id = running().id;
        for number in 0..5 {
            handle.set_push(id, &entry(&number.to_string())).await.unwrap();
        }
        let (one, two, three) = tokio::join!(claim(&fixture.store), claim(&second), claim(&third));
        assert_eq!(one.len() + two.len() + three.len(), 5, "{one:?} {two:?} {three:?}");
    }
}

#[tokio::test]
async fn a_wake_counts_also_while_somebody_looks_after_it() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("acme").await;
    let id = running().id;
    handle.set_push(id, &entry("one")).await.unwrap();
    let hour = Some(Duration::from_secs(3_600));
    let held = claim(&fixture.store).await.remove(0);
    fixture.store.rest_push(&held, 2, hour).await.unwrap();
    assert!(claim(&fixture.store).await.is_empty());
    assert!(handle.wake_pushes(id).await.unwrap());
    let held = claim(&fixture.store).await.remove(0);
    assert!(handle.wake_pushes(id).await.unwrap());
    fixture.store.rest_push(&held, 2, hour).await.unwrap();
    assert_eq!(claim(&fixture.store).await.len(), 1, "it was woken meanwhile");
    assert!(!handle.wake_pushes(running().id).await.unwrap(), "a task without receivers");
}

#[tokio::test]
async fn a_receiver_that_is_given_up_rests_until_it_is_retried_or_replaced() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("acme").await;
    let id = running().id;
    handle.set_push(id, &entry("one")).await.unwrap();
    let held = claim(&fixture.store).await.remove(0);
    assert!(fixture.store.push_tried(&held, &attempt(1, 8, PushBecame::Dead)).await.unwrap());
    let dead = PushFilter { dead: true, limit: 10, ..PushFilter::default() };
    assert_eq!(handle.list_pushes(&dead).await.unwrap().len(), 1);
    assert!(!handle.wake_pushes(id).await.unwrap() && claim(&fixture.store).await.is_empty());
    assert!(handle.retry_push(id, "one").await.unwrap() && !handle.retry_push(id, "two").await.unwrap());
    let held = claim(&fixture.store).await.remove(0);
    assert_eq!((held.delivered, held.attempts), (0, 0));
    handle.set_push(id, &PushEntry { delivered: 4, ..entry("one") }).await.unwrap();
    assert!(!fixture.store.push_tried(&held, &attempt(1, 1, PushBecame::Delivered)).await.unwrap(), "it was replaced");
    let again = claim(&fixture.store).await.remove(0);
    assert_eq!(again.delivered, 4);
    // What the same node did for the old one does not count for the new one.
    assert!(!fixture.store.push_tried(&held, &attempt(1, 1, PushBecame::Delivered)).await.unwrap());
    fixture.store.rest_push(&held, 9, None).await.unwrap();
    assert!(claim(&fixture.store).await.is_empty(), "it is still looked after");
    assert!(fixture.store.push_tried(&again, &attempt(5, 1, PushBecame::Delivered)).await.unwrap());
    assert!(handle.delete_push(id, "one").await.unwrap() && !handle.delete_push(id, "one").await.unwrap());
}

#[tokio::test]
async fn a_task_has_ten_and_a_tenant_that_has_its_share_is_left_out() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let id = running().id;
    for number in 0..10 {
        handle.set_push(id, &entry(&number.to_string())).await.unwrap();
    }
    let full = handle.set_push(id, &entry("10")).await;
    assert!(matches!(full, Err(StoreError::TooManyPushes { most: 10 })), "{full:?}");
    handle.set_push(id, &entry("9")).await.expect("one in the place of another");
    assert!(fixture.store.claim_pushes(&[tenant.id], 10).await.unwrap().is_empty());
    assert_eq!(fixture.store.claim_pushes(&[], 3).await.unwrap().len(), 3);
    fixture.store.maintain(time::OffsetDateTime::now_utc() + Duration::from_secs(26 * 3_600)).await.unwrap();
    assert_eq!(fixture.count("push_configs").await, 0, "they go with their task");
}
