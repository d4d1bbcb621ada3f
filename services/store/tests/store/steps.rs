//! The steps of a run are written by the node that holds the run, and by no other.

use std::time::Duration;

use futures::future::join_all;
use pleat_domain::{Door, SkillName, Task, TaskId, TaskState, Tenant};
use pleat_store::{Change, Store, StoreConfig, Written};
use sqlx::Executor;
use uuid::Uuid;

use crate::support::{Fixture, plain, running, step, task, then, told};

async fn begin(store: &Store, tenant: &Tenant) -> Task {
    let run = Task { skill: SkillName::parse_skill("pipeline:report").ok(), ..running() };
    assert_eq!(store.writer().commit(step(tenant, &run, Change::Insert)).await.unwrap(), Written::Done);
    run
}

/// A finished step of a run.
fn below(run: TaskId, label: &str) -> Task {
    Task { parent: Some(run), step: Some(label.to_owned()), door: Door::Pipeline, ..task() }
}

#[tokio::test]
async fn a_node_that_has_lost_a_run_adds_no_step_to_it() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let writer = fixture.store.writer();
    let run = begin(&fixture.store, &tenant).await;
    let written = |task: Task| writer.commit(plain(&tenant, &task, Change::Step));
    assert_eq!(written(below(run.id, "a#1")).await.unwrap(), Written::Done);

    fixture.run("UPDATE nodes SET beat_at = now() - interval '1 minute'").await;
    let other = Store::open(StoreConfig::new(fixture.url.as_str())).await.unwrap();
    assert_eq!(other.claim_lost().await.unwrap().len(), 1);
    let finished = below(run.id, "b#1");
    assert_eq!(written(finished.clone()).await.unwrap(), Written::Fenced);
    let working = Task { parent: Some(run.id), step: finished.step.clone(), door: Door::Pipeline, ..running() };
    assert_eq!(writer.commit(step(&tenant, &working, Change::Step)).await.unwrap(), Written::Fenced);
    assert!(told(&handle, working.id).await.is_empty(), "nothing of it is written");
    assert_eq!(handle.steps_of(run.id).await.unwrap().len(), 1);

    assert_eq!(other.writer().commit(plain(&tenant, &finished, Change::Step)).await.unwrap(), Written::Done);
    let end = then(&Task { last_seq: 1, ..run.clone() }, TaskState::Completed);
    assert_eq!(other.writer().commit(step(&tenant, &end, Change::Update)).await.unwrap(), Written::Done);
    let late = other.writer().commit(plain(&tenant, &below(run.id, "c#1"), Change::Step)).await.unwrap();
    assert_eq!(late, Written::Fenced, "nothing of a run is younger than its end");
    other.close().await;
}

#[tokio::test]
async fn a_step_belongs_to_a_run_of_its_own_tenant() {
    let fixture = Fixture::new().await;
    let (tenant, _) = fixture.tenant("acme").await;
    let (neighbour, handle) = fixture.tenant("other").await;
    let run = begin(&fixture.store, &tenant).await;
    for parent in [run.id, TaskId::new()] {
        let foreign = plain(&neighbour, &below(parent, "a#1"), Change::Step);
        assert_eq!(fixture.store.writer().commit(foreign).await.unwrap(), Written::Fenced);
        assert!(handle.steps_of(parent).await.unwrap().is_empty());
    }
}

/// Both are in one statement, which works on one snapshot.
#[tokio::test]
async fn the_steps_of_many_runs_are_written_beside_what_the_runs_say() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let writer = fixture.store.writer();
    let runs = join_all((0..8).map(|_| begin(&fixture.store, &tenant))).await;
    for round in 1..=10_u32 {
        let of_one = |run: &Task| {
            let said = Task { last_seq: run.last_seq + round, ..run.clone() };
            let change = if round % 2 == 0 { Change::Update } else { Change::Append };
            let steps = ["a", "b"].map(|name| plain(&tenant, &below(run.id, &format!("{name}#{round}")), Change::Step));
            std::iter::once(step(&tenant, &said, change)).chain(steps).collect::<Vec<_>>()
        };
        let written = join_all(runs.iter().flat_map(of_one).map(|commit| writer.commit(commit))).await;
        assert!(written.iter().all(|one| matches!(one, Ok(Written::Done))), "{round}: {written:?}");
    }
    assert_eq!(handle.steps_of(runs.first().unwrap().id).await.unwrap().len(), 20);
}

#[tokio::test]
async fn a_step_that_meets_a_takeover_waits_for_it_and_is_refused() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let run = begin(&fixture.store, &tenant).await;
    let mut taker = fixture.outside().await;
    taker.execute("BEGIN").await.unwrap();
    let claim = sqlx::query("UPDATE tasks SET lease_owner = $1 WHERE id = $2");
    claim.bind(Uuid::now_v7()).bind(run.id.as_uuid()).execute(&mut taker).await.unwrap();
    let commit = plain(&tenant, &below(run.id, "a#1"), Change::Step);
    let written = fixture.store.writer().commit(commit);
    tokio::pin!(written);
    assert!(tokio::time::timeout(Duration::from_millis(300), &mut written).await.is_err(), "it waits");
    taker.execute("COMMIT").await.unwrap();
    assert_eq!(written.await.unwrap(), Written::Fenced);
    assert!(handle.steps_of(run.id).await.unwrap().is_empty());
}
