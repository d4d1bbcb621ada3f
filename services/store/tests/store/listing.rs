//! Lists of tasks and logs.

use pleat_domain::{ContextId, LogLevel, LogLine, SkillName, Task, TaskId, TaskState};
use pleat_store::{Change, Commit, LogFilter, TaskFilter};
use time::Duration;

use crate::support::{Fixture, caller, now, plain, task};

fn ids(tasks: &[Task]) -> Vec<TaskId> {
    tasks.iter().map(|task| task.id).collect()
}

#[tokio::test]
async fn the_newest_status_comes_first_page_by_page() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let base = now();
    // Two share a time: then the id decides.
    let mut expected = Vec::new();
    for offset in [3, 1, 4, 1, 5] {
        let task = Task { updated_at: base + Duration::seconds(offset), ..task() };
        fixture.store.writer().commit(plain(&tenant, &task, Change::Insert)).await.unwrap();
        expected.push(task);
    }
    expected.sort_by_key(|task| std::cmp::Reverse((task.updated_at, task.id)));

    let all = handle.list_tasks(&TaskFilter::default()).await.unwrap().tasks;
    assert_eq!(ids(&all), ids(&expected));
    let mut paged = Vec::new();
    let mut filter = TaskFilter { limit: 2, ..TaskFilter::default() };
    loop {
        let page = handle.list_tasks(&filter).await.unwrap().tasks;
        let Some(last) = page.last() else { break };
        filter.before = Some((last.updated_at, last.id));
        paged.extend(page);
    }
    assert_eq!(ids(&paged), ids(&expected));
}

#[tokio::test]
async fn a_list_is_limited_to_what_is_asked_for() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let (other, _) = fixture.tenant("other").await;
    let context = ContextId::try_from("talk".to_owned()).unwrap();
    let mine = task();
    let theirs = Task { caller: caller("b"), state: TaskState::Failed, ..task() };
    let talk = Task { context: context.clone(), skill: Some(SkillName::parse("talk").unwrap()), ..task() };
    let joined = Task { context: mine.context.clone(), updated_at: mine.updated_at + Duration::seconds(1), ..task() };
    for task in [&mine, &theirs, &talk, &joined] {
        fixture.store.writer().commit(plain(&tenant, task, Change::Insert)).await.unwrap();
    }
    fixture.store.writer().commit(plain(&other, &task(), Change::Insert)).await.unwrap();

    let list = async |filter: TaskFilter| ids(&handle.list_tasks(&filter).await.unwrap().tasks);
    let any = TaskFilter::default;
    assert_eq!(list(any()).await.len(), 4);
    assert_eq!(list(TaskFilter { owner: Some(caller("b")), ..any() }).await, [theirs.id]);
    assert_eq!(list(TaskFilter { state: Some(TaskState::Failed), ..any() }).await, [theirs.id]);
    assert_eq!(list(TaskFilter { skill: talk.skill.clone(), ..any() }).await, [talk.id]);
    assert_eq!(list(TaskFilter { context: Some(context), ..any() }).await, [talk.id]);
    assert_eq!(list(TaskFilter { context: Some(mine.context.clone()), ..any() }).await, [joined.id, mine.id]);
    assert_eq!(list(TaskFilter { context: Some(theirs.context.clone()), ..any() }).await, [theirs.id]);
    assert_eq!(list(TaskFilter { context: Some(talk.context.clone()), limit: 0, ..any() }).await, []);
    assert!(handle.task(theirs.id, Some(&caller("b"))).await.unwrap().is_some());
    assert!(handle.task(theirs.id, Some(&caller("a"))).await.unwrap().is_none());
}

#[tokio::test]
async fn a_list_reads_and_counts_what_is_asked_for() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let base = now();
    for offset in 0..3 {
        let task = Task { updated_at: base + Duration::seconds(offset), ..task() };
        fixture.store.writer().commit(plain(&tenant, &task, Change::Insert)).await.unwrap();
    }
    let any = TaskFilter::default;
    let since = TaskFilter { since: Some(base + Duration::seconds(1)), ..any() };
    assert_eq!(handle.list_tasks(&since).await.unwrap().tasks.len(), 2);
    assert_eq!(handle.count_tasks(&since, 10).await.unwrap(), 2);
    assert_eq!(handle.count_tasks(&TaskFilter { limit: 1, ..any() }, 10).await.unwrap(), 3, "over all pages");
    assert_eq!(handle.count_tasks(&any(), 2).await.unwrap(), 2, "no further than that");
    let light = handle.list_tasks(&TaskFilter { artifacts: false, history: false, ..any() }).await.unwrap();
    assert!(!light.cut && light.tasks.iter().all(|task| task.artifacts.is_empty() && task.history.is_empty()));
}

#[tokio::test]
async fn logs_are_the_newest_rows_oldest_first() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let base = now();
    let mut tasks = Vec::new();
    for number in 0..4_u32 {
        let task =
            Task { skill: Some(SkillName::parse(if number == 0 { "quiet" } else { "loud" }).unwrap()), ..task() };
        let line = LogLine {
            at: base.replace_millisecond(0).unwrap() + Duration::seconds(i64::from(number)),
            level: LogLevel::Warn,
            message: format!("line {number} \0"),
        };
        let commit = Commit { logs: vec![line], log_seq: number, ..plain(&tenant, &task, Change::Insert) };
        fixture.store.writer().commit(commit).await.unwrap();
        tasks.push(task);
    }
    let read = async |filter: LogFilter| {
        let rows = handle.logs(filter).await.unwrap();
        rows.into_iter().map(|row| row.lines[0].message.clone()).collect::<Vec<_>>()
    };
    let any = LogFilter::default;
    assert_eq!(read(LogFilter { limit: 2, ..any() }).await, ["line 2 \0", "line 3 \0"]);
    assert_eq!(read(LogFilter { task: Some(tasks[1].id), ..any() }).await, ["line 1 \0"]);
    assert_eq!(read(LogFilter { skill: tasks[0].skill.clone(), ..any() }).await, ["line 0 \0"]);
    let after = Some(base.replace_millisecond(0).unwrap() + Duration::seconds(2));
    assert_eq!(read(LogFilter { after, ..any() }).await, ["line 3 \0"]);
}
