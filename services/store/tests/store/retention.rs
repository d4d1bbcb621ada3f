//! Twenty-four hours, exactly, and the partitions behind it.

use std::time::Duration;

use pleat_domain::{ContextId, Task, TaskState};
use pleat_store::{Change, LogFilter, StoreError, TaskFilter, Written};
use time::OffsetDateTime;

use crate::support::{Fixture, caller, id_at, plain, running, step, task};

const HOUR: Duration = Duration::from_secs(3600);

fn partitions(table: &str) -> String {
    format!("pg_inherits WHERE inhparent = '{table}'::regclass")
}

#[tokio::test]
async fn partitions_are_made_ahead_and_dropped_when_their_time_is_up() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    for table in ["tasks", "task_events", "task_logs", "push_deliveries"] {
        assert_eq!(fixture.count(&partitions(table)).await, 5, "{table}");
    }
    let unfinished = Task { alias: Some("old".into()), ..running() };
    fixture.store.writer().commit(step(&tenant, &unfinished, Change::Insert)).await.unwrap();

    let now = OffsetDateTime::now_utc();
    let quiet = fixture.store.maintain(now + 20 * HOUR).await.unwrap();
    assert_eq!((quiet.dropped, quiet.expired, quiet.aliases), (0, 0, 0));
    assert!(handle.task(unfinished.id, None).await.unwrap().is_some());

    let done = fixture.store.maintain(now + 26 * HOUR).await.unwrap();
    assert_eq!((done.expired, done.aliases), (1, 1));
    assert!(done.dropped >= 6, "{done:?}");
    assert_eq!(fixture.count("tasks").await, 0);
    assert_eq!(fixture.count("task_events").await, 0);
    let around = fixture.count(&format!("{} AND inhrelid::regclass::text > 'tasks_p'", partitions("tasks"))).await;
    assert!(around >= 5, "young partitions stay: {around}");
    assert_eq!(fixture.store.maintain(now + 26 * HOUR).await.unwrap(), pleat_store::Maintenance::default());
}

#[tokio::test]
async fn a_task_that_is_not_final_when_its_time_is_up_ends_as_expired() {
    let fixture = Fixture::with(|config| config.retention = HOUR / 60).await;
    let (tenant, _) = fixture.tenant("acme").await;
    let task = running();
    fixture.store.writer().commit(step(&tenant, &task, Change::Insert)).await.unwrap();
    // Past the task's time, within its partition's.
    let done = fixture.store.maintain(OffsetDateTime::now_utc() + HOUR / 30).await.unwrap();
    assert_eq!(done.expired, 1);
    assert_eq!(fixture.count("tasks WHERE state = 5 AND last_seq = 2 AND failure->>'reason' = 'expired'").await, 1);
    let told = "task_events WHERE seq = 2 AND body->'status'->>'state' = 'failed'";
    assert_eq!(fixture.count(told).await, 1);
    let late = fixture.store.writer().commit(step(&tenant, &task, Change::Update)).await.unwrap();
    assert_eq!(late, Written::Fenced);
}

#[tokio::test]
async fn past_its_time_a_task_does_not_exist_for_any_reader() {
    let fixture = Fixture::with(|config| config.retention = HOUR / 12).await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let now = OffsetDateTime::now_utc();
    for (age, visible) in [(HOUR / 6, false), (HOUR / 30, true)] {
        let id = id_at(now - age);
        let task = Task { id, context: ContextId::of_task(id), alias: Some(format!("{age:?}")), ..running() };
        let mut commit = step(&tenant, &task, Change::Insert);
        let line = pleat_domain::LogLine { at: now, level: pleat_domain::LogLevel::Info, message: "hi".into() };
        commit.logs.push(line);
        assert_eq!(fixture.store.writer().commit(commit).await.unwrap(), Written::Done);
        let alias = task.alias.clone().unwrap();
        assert_eq!(handle.task(id, None).await.unwrap().is_some(), visible);
        assert_eq!(!handle.events_after(id, 0, 10).await.unwrap().is_empty(), visible);
        assert_eq!(handle.task_by_alias(&caller("a"), &alias).await.unwrap().is_some(), visible);
        assert_eq!(handle.list_tasks(&TaskFilter::default()).await.unwrap().tasks.len(), usize::from(visible));
        assert_eq!(handle.logs(LogFilter::default()).await.unwrap().len(), usize::from(visible));
    }
}

#[tokio::test]
async fn an_alias_is_free_again_when_its_task_is_gone() {
    let fixture = Fixture::with(|config| config.retention = HOUR / 12).await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let id = id_at(OffsetDateTime::now_utc() - HOUR / 6);
    let old = Task { id, context: ContextId::of_task(id), alias: Some("mine".into()), ..task() };
    let new = Task { alias: Some("mine".into()), ..task() };
    for task in [&old, &new] {
        let written = fixture.store.writer().commit(plain(&tenant, task, Change::Insert)).await.unwrap();
        assert_eq!(written, Written::Done);
    }
    assert_eq!(handle.task_by_alias(&caller("a"), "mine").await.unwrap(), Some(new.id));
}

#[tokio::test]
async fn a_missing_partition_is_made_when_it_is_needed() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let all: Vec<String> =
        sqlx::query_scalar("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'tasks'::regclass")
            .fetch_all(&mut fixture.outside().await)
            .await
            .unwrap();
    fixture.run(&format!("DROP TABLE {}", all.join(", "))).await;
    let task = task();
    fixture.store.writer().commit(plain(&tenant, &task, Change::Insert)).await.unwrap();
    assert_eq!(handle.task(task.id, None).await.unwrap().unwrap().state, TaskState::Completed);

    let far = Task { id: id_at(OffsetDateTime::now_utc() + 30 * HOUR), ..task };
    let refused = fixture.store.writer().commit(plain(&tenant, &far, Change::Insert)).await.unwrap_err();
    assert!(matches!(refused, StoreError::OutsideRetention(_)), "{refused:?}");
}

#[tokio::test]
async fn a_drop_that_was_interrupted_is_finished_by_the_next_round() {
    let fixture = Fixture::new().await;
    let old: String = sqlx::query_scalar(
        "SELECT min(inhrelid::regclass::text) FROM pg_inherits WHERE inhparent = 'task_logs'::regclass",
    )
    .fetch_one(&mut fixture.outside().await)
    .await
    .unwrap();
    fixture.run(&format!("ALTER TABLE task_logs DETACH PARTITION {old}")).await;
    let done = fixture.store.maintain(OffsetDateTime::now_utc() + 25 * HOUR).await.unwrap();
    assert!(done.dropped >= 3, "{done:?}");
    assert_eq!(fixture.count(&format!("pg_class WHERE relname = '{old}'")).await, 0);
}
