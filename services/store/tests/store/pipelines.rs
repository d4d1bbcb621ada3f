//! Pipelines: their versions and states, and the steps of their runs.

use pleat_domain::{Door, PipelineState, RunRecord, SkillName, Task, TaskState, VersionHash, Visibility};
use pleat_store::{Change, NewPipeline, Room, StoreError, TaskFilter, TenantStore};

use crate::support::{Fixture, plain, running, task, then};

fn report(definition: &str) -> NewPipeline {
    NewPipeline {
        name: SkillName::parse("report").unwrap(),
        hash: VersionHash::of("pipeline", definition.as_bytes()),
        source: format!("# mine\n{definition}"),
        definition: definition.into(),
        visibility: None,
        activate: false,
        created_by: "key:k".into(),
    }
}

async fn deployed(handle: &TenantStore, new: NewPipeline) -> (i32, bool, PipelineState) {
    let done = handle.deploy_pipeline(new, Room::default()).await.unwrap();
    (done.version, done.created, done.state)
}

#[tokio::test]
async fn a_pipeline_is_a_draft_until_it_is_activated_and_then_stays_active() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("acme").await;
    let (_, other) = fixture.tenant("other").await;
    let name = SkillName::parse("report").unwrap();
    assert_eq!(deployed(&handle, report("[1]")).await, (1, true, PipelineState::Draft));
    assert_eq!(deployed(&handle, report("[2]")).await, (2, true, PipelineState::Draft));
    let active = NewPipeline { activate: true, ..report("[2]") };
    assert_eq!(deployed(&handle, active).await, (2, false, PipelineState::Active));
    assert_eq!(deployed(&handle, report("[3]")).await, (3, true, PipelineState::Active));
    let catalog = handle.catalog().await.unwrap();
    let [row] = catalog.pipelines.as_slice() else { panic!("{:?}", catalog.pipelines) };
    assert_eq!((row.version, row.definition.as_str(), row.visibility), (3, "[3]", Visibility::Listed));
    assert_eq!(handle.pipeline_at(&name, 1).await.unwrap().unwrap().definition, "[1]");
    let versions = handle.pipeline_versions(&name).await.unwrap();
    assert_eq!(versions.first().unwrap().source, "# mine\n[3]");
    assert!(other.pipelines().await.unwrap().is_empty());
    assert!(other.pipeline_versions(&name).await.unwrap().is_empty());

    let archive = |from| handle.set_pipeline_state(&name, from, PipelineState::Archived);
    assert!(archive(&[PipelineState::Draft, PipelineState::Active]).await.unwrap());
    let generation = handle.generation().await.unwrap();
    assert!(!archive(&[PipelineState::Draft, PipelineState::Active]).await.unwrap());
    assert_eq!(handle.generation().await.unwrap(), generation);
    assert!(handle.catalog().await.unwrap().pipelines.is_empty());
    assert_eq!(handle.pipelines().await.unwrap().len(), 1);
    assert_eq!(deployed(&handle, report("[3]")).await, (3, false, PipelineState::Draft), "deploying brings it back");
}

#[tokio::test]
async fn pipelines_take_their_room_like_functions() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("acme").await;
    let room = Room { functions: Some(1), source_bytes: Some(20), compiled_bytes: None };
    handle.deploy_pipeline(report("[1]"), room).await.unwrap();
    let second = NewPipeline { name: SkillName::parse("other").unwrap(), ..report("[1]") };
    assert!(matches!(handle.deploy_pipeline(second, room).await, Err(StoreError::NoRoom { most: 1, .. })));
    let large = report("[1, 2, 3, 4, 5, 6, 7, 8, 9]");
    assert!(matches!(handle.deploy_pipeline(large, room).await, Err(StoreError::NoRoom { most: 20, .. })));
    assert_eq!(handle.pipelines().await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_steps_of_a_run_are_found_however_many_and_listed_apart() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let writer = fixture.store.writer();
    let skill = SkillName::parse_skill("pipeline:report").ok();
    let record = RunRecord { pins: [("echo".to_owned(), 1)].into(), ..RunRecord::default() };
    let run = Task { skill, run: Some(Box::new(record.clone())), ..running() };
    writer.commit(plain(&tenant, &run, Change::Insert)).await.unwrap();
    for item in 0..450 {
        let step = Some(format!("parts[{item}]#1"));
        let child = Task { parent: Some(run.id), step, door: Door::Pipeline, ..task() };
        writer.commit(plain(&tenant, &child, Change::Insert)).await.unwrap();
    }
    let called = Task { parent: Some(run.id), ..task() };
    writer.commit(plain(&tenant, &called, Change::Insert)).await.unwrap();
    let steps = handle.steps_of(run.id).await.unwrap();
    assert_eq!(steps.len(), 450);
    assert_eq!(steps.last().unwrap().step.as_deref(), Some("parts[449]#1"));
    let filter = TaskFilter { steps: false, ..TaskFilter::default() };
    assert_eq!(handle.list_tasks(&filter).await.unwrap().tasks.len(), 2);

    let skipped = RunRecord { skipped: vec!["b".into()], ..record };
    let ended = Task { run: Some(Box::new(skipped.clone())), ..then(&run, TaskState::Completed) };
    writer.commit(plain(&tenant, &ended, Change::Update)).await.unwrap();
    let stored = handle.task(run.id, None).await.unwrap().unwrap();
    assert_eq!(stored.run.as_deref(), Some(&skipped));
    assert_eq!(stored.skill.unwrap().as_pipeline(), Some("report"));
}
