//! The writers when much comes at once, when a row is bad, and when the database goes away.

use std::time::{Duration, Instant};

use futures::future::join_all;
use pleat_domain::{Task, TaskState};
use pleat_store::{Change, StoreError, Written};

use crate::support::{Fixture, plain, running, step, task, then, told};

#[tokio::test]
async fn a_lone_commit_does_not_wait_for_company() {
    let fixture = Fixture::with(|config| config.linger = Duration::from_secs(60)).await;
    let (tenant, _) = fixture.tenant("acme").await;
    let begun = Instant::now();
    for _ in 0..5 {
        fixture.store.writer().commit(plain(&tenant, &task(), Change::Insert)).await.unwrap();
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn one_bad_row_fails_alone() {
    let fixture = Fixture::with(|config| config.writers = 1).await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let mut tasks: Vec<Task> = (0..40).map(|_| task()).collect();
    tasks[17].alias = Some("bad \0 alias".into());
    let commits = tasks.iter().map(|task| fixture.store.writer().commit(plain(&tenant, task, Change::Insert)));
    let outcomes = join_all(commits).await;
    for (position, (task, outcome)) in tasks.iter().zip(outcomes).enumerate() {
        let found = handle.task(task.id, None).await.unwrap().is_some();
        if position == 17 {
            assert!(matches!(outcome, Err(StoreError::Unstorable(_))), "{outcome:?}");
            assert!(!found);
        } else {
            assert_eq!(outcome.unwrap(), Written::Done);
            assert!(found, "task {position}");
        }
    }
}

#[tokio::test]
async fn equal_aliases_in_one_batch_leave_one_winner() {
    let fixture = Fixture::with(|config| config.writers = 1).await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let tasks: Vec<Task> = (0..20).map(|_| Task { alias: Some("same".into()), ..task() }).collect();
    let commits = tasks.iter().map(|task| fixture.store.writer().commit(plain(&tenant, task, Change::Insert)));
    let outcomes = join_all(commits).await;
    let mut winners = Vec::new();
    for (task, outcome) in tasks.iter().zip(outcomes) {
        match outcome {
            Ok(Written::Done) => winners.push(task.id),
            other => assert!(matches!(other, Err(StoreError::AliasTaken(_))), "{other:?}"),
        }
    }
    assert_eq!(winners.len(), 1);
    assert_eq!(handle.task_by_alias(&tasks[0].caller, "same").await.unwrap(), winners.first().copied());
}

#[tokio::test]
async fn steps_of_one_task_keep_their_order() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let mut runs = Vec::new();
    for _ in 0..20 {
        let mut steps = vec![(running(), Change::Insert)];
        for _ in 0..5 {
            let last = &steps[steps.len() - 1].0;
            steps.push((then(last, TaskState::Working), Change::Append));
        }
        let last = &steps[steps.len() - 1].0;
        steps.push((then(last, TaskState::Completed), Change::Update));
        runs.push(steps);
    }
    // All at once, without waiting for one step before sending the next.
    let commits =
        runs.iter().flatten().map(|(task, change)| fixture.store.writer().commit(step(&tenant, task, *change)));
    for outcome in join_all(commits).await {
        assert_eq!(outcome.unwrap(), Written::Done);
    }
    for steps in &runs {
        let seqs: Vec<u32> = told(&handle, steps[0].0.id).await.into_iter().map(|(seq, _)| seq).collect();
        assert_eq!(seqs, [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(handle.task(steps[0].0.id, None).await.unwrap().unwrap().state, TaskState::Completed);
    }
}

#[tokio::test]
async fn all_queues_are_filled_before_any_is_full() {
    let fixture = Fixture::with(|config| (config.writers, config.queue) = (4, 8)).await;
    let (tenant, _) = fixture.tenant("acme").await;
    let tasks: Vec<Task> = (0..8).map(|_| task()).collect();
    let commits = tasks.iter().map(|task| fixture.store.writer().commit(plain(&tenant, task, Change::Insert)));
    for outcome in join_all(commits).await {
        assert_eq!(outcome.unwrap(), Written::Done);
    }
}

#[tokio::test]
async fn a_full_queue_refuses_at_once_and_loses_nothing() {
    let fixture = Fixture::with(|config| (config.writers, config.queue) = (1, 4)).await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let tasks: Vec<Task> = (0..50).map(|_| task()).collect();
    let commits = tasks.iter().map(|task| fixture.store.writer().commit(plain(&tenant, task, Change::Insert)));
    let outcomes = join_all(commits).await;
    let mut refused = 0;
    for (task, outcome) in tasks.iter().zip(outcomes) {
        let stored = handle.task(task.id, None).await.unwrap().is_some();
        match outcome {
            Ok(written) => assert!(stored && written == Written::Done),
            Err(error) => {
                assert!(matches!(error, StoreError::Busy), "{error:?}");
                assert!(!stored);
                refused += 1;
            }
        }
    }
    assert!((1..50).contains(&refused), "{refused} were refused");
}

#[tokio::test]
async fn a_writer_survives_the_loss_of_its_connection() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let working: Vec<Task> = (0..8).map(|_| running()).collect();
    for task in &working {
        fixture.store.writer().commit(step(&tenant, task, Change::Insert)).await.unwrap();
    }
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    fixture.run(cut).await;
    for task in &working {
        let done = then(task, TaskState::Completed);
        assert_eq!(fixture.store.writer().commit(step(&tenant, &done, Change::Update)).await.unwrap(), Written::Done);
    }
    // A reader that was in use a moment ago notices only when it is used again.
    for _ in 0..3 {
        let _ = fixture.store.ping().await;
    }
    for task in &working {
        assert_eq!(told(&handle, task.id).await.len(), 2);
    }
}

#[tokio::test]
async fn a_step_whose_answer_was_lost_is_known_to_have_been_taken() {
    let fixture = Fixture::with(|config| config.writers = 1).await;
    let (tenant, handle) = fixture.tenant("acme").await;
    // The commits are cut while they run: whatever was answered as done is there, once.
    let tasks: Vec<Task> = (0..300).map(|_| running()).collect();
    let commits = join_all(tasks.iter().map(|task| fixture.store.writer().commit(step(&tenant, task, Change::Insert))));
    let cuts = async {
        for _ in 0..3 {
            let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                       WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE 'WITH input%'";
            fixture.run(cut).await;
        }
    };
    let (outcomes, ()) = tokio::join!(commits, cuts);
    let mut done = 0;
    for (task, outcome) in tasks.iter().zip(outcomes) {
        if let Ok(written) = outcome {
            assert_eq!(written, Written::Done);
            assert_eq!(told(&handle, task.id).await.len(), 1);
            done += 1;
        }
    }
    assert!(done > 0);
}

#[tokio::test]
async fn closing_writes_what_is_queued_and_refuses_the_rest() {
    let fixture = Fixture::new().await;
    let (tenant, _) = fixture.tenant("acme").await;
    let tasks: Vec<Task> = (0..100).map(|_| task()).collect();
    let commits =
        join_all(tasks.iter().map(|task| fixture.store.writer().commit(plain(&tenant, task, Change::Insert))));
    let (outcomes, ()) = tokio::join!(commits, fixture.store.close());
    for outcome in &outcomes {
        assert!(matches!(outcome, Ok(Written::Done)), "{outcome:?}");
    }
    assert_eq!(fixture.count("tasks").await, 100);
    assert_eq!(fixture.count("nodes").await, 0);
    let late = fixture.store.writer().commit(plain(&tenant, &task(), Change::Insert)).await;
    assert!(matches!(late, Err(StoreError::Closed)), "{late:?}");
}
