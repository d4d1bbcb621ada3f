//! A node that is gone does not leave its tasks running for ever.

use pleat_domain::{Reason, TaskState};
use pleat_store::{Change, Store, StoreConfig, Written};

use crate::support::{Fixture, plain, running, step, then, told};

#[tokio::test]
async fn a_lost_nodes_tasks_fail_with_their_event_and_the_node_is_fenced() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let writer = fixture.store.writer();
    let streamed = running();
    let chunk = then(&streamed, TaskState::Working);
    let silent = pleat_domain::Task { last_seq: 0, ..running() };
    writer.commit(step(&tenant, &streamed, Change::Insert)).await.unwrap();
    writer.commit(step(&tenant, &chunk, Change::Append)).await.unwrap();
    writer.commit(plain(&tenant, &silent, Change::Insert)).await.unwrap();
    // As after a kill: the last beat is older than the lease. The node's own next beat starts another epoch.
    fixture.run("UPDATE nodes SET beat_at = now() - interval '11 seconds'").await;
    let second = Store::open(StoreConfig::new(fixture.url.as_str())).await.unwrap();

    let read = handle.task(streamed.id, None).await.unwrap().unwrap();
    assert_eq!(read.failure.map(|failure| failure.reason), Some(Reason::NodeLost));
    assert_eq!((read.state, read.last_seq), (TaskState::Failed, 3));
    let working = Some(TaskState::Working);
    assert_eq!(told(&handle, streamed.id).await, [(1, working), (2, working), (3, Some(TaskState::Failed))]);
    let read = handle.task(silent.id, None).await.unwrap().unwrap();
    assert_eq!((read.state, read.last_seq), (TaskState::Failed, 0));
    assert!(told(&handle, silent.id).await.is_empty());

    let late = then(&chunk, TaskState::Completed);
    assert_eq!(writer.commit(step(&tenant, &late, Change::Update)).await.unwrap(), Written::Fenced);
    assert_eq!(writer.commit(step(&tenant, &late, Change::Append)).await.unwrap(), Written::Fenced);
    assert_eq!(told(&handle, streamed.id).await.len(), 3);
    second.close().await;
}

#[tokio::test]
async fn a_living_nodes_tasks_are_left_alone_and_a_closed_ones_are_not() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let task = running();
    fixture.store.writer().commit(step(&tenant, &task, Change::Insert)).await.unwrap();
    assert!(fixture.store.lease_is_fresh());
    let second = Store::open(StoreConfig::new(fixture.url.as_str())).await.unwrap();
    assert_eq!(handle.task(task.id, None).await.unwrap().unwrap().state, TaskState::Working);
    fixture.store.close().await;
    second.close().await;
    let third = Store::open(StoreConfig::new(fixture.url.as_str())).await.unwrap();
    let read = third.tenant(tenant.id).task(task.id, None).await.unwrap().unwrap();
    assert_eq!(read.state, TaskState::Failed);
    third.close().await;
}
