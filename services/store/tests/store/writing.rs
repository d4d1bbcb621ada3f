//! The writers: what is written, what is refused, and by what right.

use futures::future::join_all;
use pleat_domain::task::Ask;
use pleat_domain::{Block, ContextId, Failure, Message, Reason, Task, TaskId, TaskState, Tenant};
use pleat_store::{Change, Commit, StoreError, Written};
use sqlx::{Connection, PgConnection, Postgres, Transaction};

use crate::support::{Fixture, caller, count, plain, raw, running, spelled, step, task, then, told};

#[tokio::test]
async fn a_task_reads_back_as_it_was_written() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let message = Message::user("m-1", vec![Block::text("nul \0 and 𝄞"), Block::data(raw("{\"a\":\"\\u0000\"}"))]);
    let rich = Task {
        context: ContextId::try_from("talk".to_owned()).unwrap(),
        parent: Some(TaskId::new()),
        alias: Some("chosen".into()),
        state: TaskState::InputRequired,
        failure: Some(Failure::new(Reason::Trap, "nul \0").with_detail("stack")),
        ask: Some(Ask { schema: Some(raw("{}")), state: Some(raw("[1,  2]")), ..Ask::new("which?\0") }),
        input: raw(r#"{"nul":"\u0000",  "big": 123456789012345678901234567890, "b":1.10}"#),
        history: vec![message],
        ..task()
    };
    for task in [rich, task()] {
        assert_eq!(fixture.store.writer().commit(plain(&tenant, &task, Change::Insert)).await.unwrap(), Written::Done);
        let read = handle.task(task.id, None).await.unwrap().unwrap();
        assert_eq!(spelled(&read), spelled(&task));
    }
}

#[tokio::test]
async fn a_large_payload_is_compressed_the_quick_way_where_there_is_one() {
    let fixture = Fixture::new().await;
    let (tenant, _) = fixture.tenant("acme").await;
    let large = Task { input: raw(&format!("\"{}\"", "words ".repeat(20_000))), ..task() };
    fixture.store.writer().commit(plain(&tenant, &large, Change::Insert)).await.unwrap();
    let mut outside = fixture.outside().await;
    let quick: bool =
        sqlx::query_scalar("SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'")
            .fetch_one(&mut outside)
            .await
            .unwrap();
    let used: Option<String> = sqlx::query_scalar("SELECT pg_column_compression(input) FROM tasks WHERE id = $1")
        .bind(large.id.as_uuid())
        .fetch_one(&mut outside)
        .await
        .unwrap();
    assert_eq!(used.as_deref(), Some(if quick { "lz4" } else { "pglz" }));
}

#[tokio::test]
async fn inserting_twice_is_inserting_once() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let task = Task { alias: Some("mine".into()), ..running() };
    for _ in 0..2 {
        let written = fixture.store.writer().commit(step(&tenant, &task, Change::Insert)).await.unwrap();
        assert_eq!(written, Written::Done);
    }
    assert_eq!(told(&handle, task.id).await, [(1, Some(TaskState::Working))]);
}

#[tokio::test]
async fn a_finished_task_that_is_there_already_spoils_no_batch() {
    let fixture = Fixture::with(|config| config.writers = 1).await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let first = task();
    fixture.store.writer().commit(plain(&tenant, &first, Change::Insert)).await.unwrap();
    let others: Vec<Task> = (0..20).map(|_| task()).collect();
    let commits = others.iter().chain([&first]).map(|task| plain(&tenant, task, Change::Insert));
    for written in join_all(commits.map(|commit| fixture.store.writer().commit(commit))).await {
        assert_eq!(written.unwrap(), Written::Done);
    }
    for task in others.iter().chain([&first]) {
        assert_eq!(spelled(&handle.task(task.id, None).await.unwrap().unwrap()), spelled(task));
    }
}

#[tokio::test]
async fn what_is_written_once_does_not_wait_for_what_goes_on() {
    let fixture = Fixture::with(|config| config.writers = 1).await;
    let (tenant, _) = fixture.tenant("acme").await;
    let (writer, working) = (fixture.store.writer(), running());
    writer.commit(step(&tenant, &working, Change::Insert)).await.unwrap();
    let mut outside = fixture.outside().await;
    let mut held = outside.begin().await.unwrap();
    sqlx::query("UPDATE tasks SET attempt = attempt WHERE id = $1")
        .bind(working.id.as_uuid())
        .execute(&mut *held)
        .await
        .unwrap();
    let done = then(&working, TaskState::Completed);
    let mut stuck = Box::pin(writer.commit(step(&tenant, &done, Change::Update)));
    assert!(futures::poll!(&mut stuck).is_pending());
    assert_eq!(writer.commit(plain(&tenant, &task(), Change::Insert)).await.unwrap(), Written::Done);
    assert!(futures::poll!(&mut stuck).is_pending());
    held.rollback().await.unwrap();
    assert_eq!(stuck.await.unwrap(), Written::Done);
}

#[tokio::test]
async fn what_comes_together_is_written_together() {
    let fixture = Fixture::with(|config| config.writers = 4).await;
    let (tenant, _) = fixture.tenant("acme").await;
    let tasks: Vec<Task> = (0..40).map(|_| task()).collect();
    let commits = tasks.iter().map(|task| plain(&tenant, task, Change::Insert));
    join_all(commits.map(|commit| fixture.store.writer().commit(commit))).await;
    let mut outside = fixture.outside().await;
    let transactions = count(&mut outside, "(SELECT DISTINCT xmin::text FROM tasks) AS written").await;
    assert_eq!((transactions, count(&mut outside, "tasks").await), (1, 40));
}

/// A task that is there, and that somebody else is about to remove: who writes it now waits for that one to decide.
async fn undecided<'a>(
    fixture: &Fixture,
    outside: &'a mut PgConnection,
    tenant: &Tenant,
    task: &Task,
) -> Transaction<'a, Postgres> {
    fixture.store.writer().commit(plain(tenant, task, Change::Insert)).await.unwrap();
    let mut held = outside.begin().await.unwrap();
    sqlx::query("DELETE FROM tasks WHERE id = $1").bind(task.id.as_uuid()).execute(&mut *held).await.unwrap();
    held
}

#[tokio::test]
async fn a_writer_that_is_held_up_or_has_enough_is_gone_round() {
    let fixture = Fixture::with(|config| (config.writers, config.batch) = (2, 2)).await;
    let (tenant, _) = fixture.tenant("acme").await;
    let (writer, first) = (fixture.store.writer(), task());
    let mut outside = fixture.outside().await;
    let held = undecided(&fixture, &mut outside, &tenant, &first).await;
    let mut stuck = Box::pin(writer.commit(plain(&tenant, &first, Change::Insert)));
    assert!(futures::poll!(&mut stuck).is_pending());
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    for _ in 0..5 {
        assert_eq!(writer.commit(plain(&tenant, &task(), Change::Insert)).await.unwrap(), Written::Done);
    }
    assert!(futures::poll!(&mut stuck).is_pending());
    held.rollback().await.unwrap();
    assert_eq!(stuck.await.unwrap(), Written::Done);
}

#[tokio::test]
async fn what_is_large_does_not_hold_up_what_is_written_once() {
    let fixture = Fixture::with(|config| config.writers = 1).await;
    let (tenant, _) = fixture.tenant("acme").await;
    let (writer, large) =
        (fixture.store.writer(), Task { input: raw(&format!("\"{}\"", "x".repeat(70_000))), ..task() });
    let mut outside = fixture.outside().await;
    let held = undecided(&fixture, &mut outside, &tenant, &large).await;
    let mut stuck = Box::pin(writer.commit(plain(&tenant, &large, Change::Insert)));
    assert!(futures::poll!(&mut stuck).is_pending());
    assert_eq!(writer.commit(plain(&tenant, &task(), Change::Insert)).await.unwrap(), Written::Done);
    assert!(futures::poll!(&mut stuck).is_pending());
    held.rollback().await.unwrap();
    assert_eq!(stuck.await.unwrap(), Written::Done);
}

#[tokio::test]
async fn an_alias_belongs_to_one_task_of_its_caller() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let first = Task { alias: Some("mine".into()), ..task() };
    let second = Task { alias: Some("mine".into()), ..task() };
    let of_another = Task { alias: Some("mine".into()), caller: caller("b"), ..task() };
    let writer = fixture.store.writer();
    writer.commit(plain(&tenant, &first, Change::Insert)).await.unwrap();
    let refused = writer.commit(step(&tenant, &second, Change::Insert)).await.unwrap_err();
    assert!(matches!(&refused, StoreError::AliasTaken(alias) if alias == "mine"), "{refused:?}");
    assert!(handle.task(second.id, None).await.unwrap().is_none());
    assert!(handle.events_after(second.id, 0, 10).await.unwrap().is_empty());
    writer.commit(plain(&tenant, &of_another, Change::Insert)).await.unwrap();

    assert_eq!(handle.task_by_alias(&caller("a"), "mine").await.unwrap(), Some(first.id));
    assert_eq!(handle.task_by_alias(&caller("b"), "mine").await.unwrap(), Some(of_another.id));
    assert_eq!(handle.task_by_alias(&caller("a"), "other").await.unwrap(), None);
}

#[tokio::test]
async fn a_task_goes_through_its_turns() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let writer = fixture.store.writer();
    let working = running();
    let chunk = then(&working, TaskState::Working);
    let waiting = then(&chunk, TaskState::InputRequired);
    let again = Task { turn: 2, input: raw("2"), ..then(&waiting, TaskState::Working) };
    let done = Task { input: raw("3"), ..then(&again, TaskState::Completed) };
    for (task, change) in [
        (&working, Change::Insert),
        (&chunk, Change::Append),
        (&waiting, Change::Update),
        (&again, Change::Resume),
        (&done, Change::Update),
    ] {
        assert_eq!(writer.commit(step(&tenant, task, change)).await.unwrap(), Written::Done, "{change:?}");
    }
    let read = handle.task(working.id, None).await.unwrap().unwrap();
    assert_eq!((read.state, read.turn, read.last_seq), (TaskState::Completed, 2, 5));
    assert_eq!(read.input.get(), "2", "an update leaves the input of its turn");
    let states =
        [TaskState::Working, TaskState::Working, TaskState::InputRequired, TaskState::Working, TaskState::Completed];
    let expected: Vec<_> = (1..).zip(states.map(Some)).collect();
    assert_eq!(told(&handle, working.id).await, expected);
    assert_eq!(handle.events_after(working.id, 3, 1).await.unwrap()[0].seq, 4);
}

#[tokio::test]
async fn a_final_task_is_fenced_and_its_events_stay_as_they_are() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let writer = fixture.store.writer();
    let working = running();
    let done = then(&working, TaskState::Canceled);
    writer.commit(step(&tenant, &working, Change::Insert)).await.unwrap();
    writer.commit(step(&tenant, &done, Change::Update)).await.unwrap();
    let before = told(&handle, working.id).await;
    let late = then(&done, TaskState::Completed);
    for change in [Change::Update, Change::Append, Change::Resume] {
        let written = writer.commit(step(&tenant, &late, change)).await.unwrap();
        assert_eq!(written, Written::Fenced, "{change:?}");
    }
    assert_eq!(told(&handle, working.id).await, before);
    assert_eq!(handle.task(working.id, None).await.unwrap().unwrap().state, TaskState::Canceled);
}

#[tokio::test]
async fn a_waiting_task_is_resumed_once() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let writer = fixture.store.writer();
    let waiting = Task { state: TaskState::AuthRequired, ..running() };
    writer.commit(step(&tenant, &waiting, Change::Insert)).await.unwrap();
    let resumed = Task { turn: 2, ..then(&waiting, TaskState::Working) };
    let outcomes = futures::future::join_all([
        writer.commit(step(&tenant, &resumed, Change::Resume)),
        writer.commit(step(&tenant, &resumed, Change::Resume)),
    ])
    .await;
    let outcomes: Vec<_> = outcomes.into_iter().map(Result::unwrap).collect();
    assert!(outcomes.contains(&Written::Done) && outcomes.contains(&Written::Fenced), "{outcomes:?}");
    let wrong_turn = Task { turn: 4, ..then(&resumed, TaskState::Working) };
    assert_eq!(writer.commit(step(&tenant, &wrong_turn, Change::Resume)).await.unwrap(), Written::Fenced);
    assert_eq!(told(&handle, waiting.id).await.len(), 2);
}

#[tokio::test]
async fn another_nodes_task_is_fenced() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let working = running();
    fixture.store.writer().commit(step(&tenant, &working, Change::Insert)).await.unwrap();
    let other = pleat_store::Store::open(pleat_store::StoreConfig::new(fixture.url.as_str())).await.unwrap();
    assert_ne!(other.node(), fixture.store.node());
    let done = then(&working, TaskState::Completed);
    assert_eq!(other.writer().commit(step(&tenant, &done, Change::Update)).await.unwrap(), Written::Fenced);
    assert_eq!(other.writer().commit(step(&tenant, &done, Change::Append)).await.unwrap(), Written::Fenced);
    assert_eq!(told(&handle, working.id).await.len(), 1);
    assert_eq!(fixture.store.writer().commit(step(&tenant, &done, Change::Update)).await.unwrap(), Written::Done);
    other.close().await;
}

#[tokio::test]
async fn a_waiting_task_is_cancelled_with_its_event_and_a_running_one_is_not() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let writer = fixture.store.writer();
    let stored = Task { state: TaskState::InputRequired, ..running() };
    let derived = Task { state: TaskState::InputRequired, last_seq: 0, artifacts: Vec::new(), ..task() };
    let busy = running();
    writer.commit(step(&tenant, &stored, Change::Insert)).await.unwrap();
    writer.commit(plain(&tenant, &derived, Change::Insert)).await.unwrap();
    writer.commit(step(&tenant, &busy, Change::Insert)).await.unwrap();

    assert!(handle.cancel_idle(stored.id).await.unwrap());
    assert!(!handle.cancel_idle(stored.id).await.unwrap());
    assert!(!handle.cancel_idle(busy.id).await.unwrap());
    assert!(!handle.cancel_idle(TaskId::new()).await.unwrap());
    let waiting = Some(TaskState::InputRequired);
    let canceled = Some(TaskState::Canceled);
    assert_eq!(told(&handle, stored.id).await, [(1, waiting), (2, canceled)]);

    assert!(handle.cancel_idle(derived.id).await.unwrap());
    assert_eq!(told(&handle, derived.id).await, [(1, Some(TaskState::Working)), (2, waiting), (3, canceled)]);
    let read = handle.task(derived.id, None).await.unwrap().unwrap();
    assert_eq!((read.state, read.last_seq), (TaskState::Canceled, 3));
}

#[tokio::test]
async fn a_task_without_a_skill_gets_one_with_its_first_turn() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let asking = Task { skill: None, version: 0, turn: 0, state: TaskState::InputRequired, ..task() };
    fixture.store.writer().commit(plain(&tenant, &asking, Change::Insert)).await.unwrap();
    let read = handle.task(asking.id, None).await.unwrap().unwrap();
    assert_eq!(spelled(&read), spelled(&asking));
    let chosen = Task { skill: task().skill, version: 2, turn: 1, ..then(&asking, TaskState::Working) };
    let written = fixture.store.writer().commit(step(&tenant, &chosen, Change::Resume)).await.unwrap();
    assert_eq!(written, Written::Done);
    let read = handle.task(asking.id, None).await.unwrap().unwrap();
    assert_eq!((read.skill, read.version, read.turn), (task().skill, 2, 1));
}

#[tokio::test]
async fn what_was_begun_under_another_epoch_is_fenced() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let (writer, task) = (fixture.store.writer(), running());
    writer.commit(step(&tenant, &task, Change::Insert)).await.unwrap();
    let next = then(&task, TaskState::Completed);
    for change in [Change::Append, Change::Update] {
        let stale = Commit { held: Some(fixture.store.epoch() - 1), ..step(&tenant, &next, change) };
        assert_eq!(writer.commit(stale).await.unwrap(), Written::Fenced, "{change:?}");
    }
    assert_eq!(told(&handle, task.id).await, [(1, Some(TaskState::Working))]);
    let held = Commit { held: Some(fixture.store.epoch()), ..step(&tenant, &next, Change::Update) };
    assert_eq!(writer.commit(held).await.unwrap(), Written::Done);
    assert_eq!(told(&handle, task.id).await.len(), 2);
}
