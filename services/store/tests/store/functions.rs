//! Deploying, rolling back, deleting, and the generation that tells nodes of it.

use pleat_domain::{Grants, Limit, RunRecord, SkillName, Task, VersionHash, Visibility};
use pleat_store::{Change, Deployed, NewVersion, Room, StoreError, TenantStore};
use time::OffsetDateTime;

use crate::support::{Fixture, audit_entry, plain, raw, task};

fn echo(source: &str) -> NewVersion {
    NewVersion {
        name: SkillName::parse("echo").unwrap(),
        hash: VersionHash::of("js", source.as_bytes()),
        language: "js".into(),
        file_name: "echo.js".into(),
        size: 5,
        compiled_bytes: 0,
        manifest: raw(r#"{"description": "says \u0000 it"}"#),
        grants: Grants::default(),
        created_by: "key:k".into(),
    }
}

async fn active(handle: &TenantStore) -> Vec<(String, i32)> {
    let catalog = handle.catalog().await.unwrap();
    catalog.functions.into_iter().map(|function| (function.name.to_string(), function.version)).collect()
}

#[tokio::test]
async fn every_change_of_the_catalog_raises_the_generation_and_nothing_else_does() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    let (_, other) = fixture.tenant("other").await;
    let others = other.generation().await.unwrap();
    let echo_name = SkillName::parse("echo").unwrap();
    let mut seen = vec![handle.generation().await.unwrap()];

    assert_eq!(handle.deploy(echo("1"), b"1", Room::default()).await.unwrap(), Deployed { version: 1, created: true });
    seen.push(handle.generation().await.unwrap());
    assert_eq!(handle.deploy(echo("2"), b"2", Room::default()).await.unwrap(), Deployed { version: 2, created: true });
    seen.push(handle.generation().await.unwrap());
    assert!(handle.activate(&echo_name, 1).await.unwrap());
    seen.push(handle.generation().await.unwrap());
    assert!(handle.delete_function(&echo_name).await.unwrap());
    seen.push(handle.generation().await.unwrap());
    assert!(seen.is_sorted_by(|earlier, later| earlier < later), "{seen:?}");

    assert!(!handle.delete_function(&echo_name).await.unwrap());
    assert!(!handle.activate(&echo_name, 1).await.unwrap());
    assert_eq!(handle.generation().await.unwrap(), *seen.last().unwrap());
    assert_eq!(other.generation().await.unwrap(), others);
    fixture.store.delete_tenant(&tenant, &audit_entry()).await.unwrap();
    assert_eq!(handle.generation().await.unwrap(), 0);
}

#[tokio::test]
async fn deploying_the_same_again_changes_nothing() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("acme").await;
    handle.deploy(echo("1"), b"1", Room::default()).await.unwrap();
    let generation = handle.generation().await.unwrap();
    assert_eq!(handle.deploy(echo("1"), b"1", Room::default()).await.unwrap(), Deployed { version: 1, created: false });
    assert_eq!(handle.generation().await.unwrap(), generation);

    let public = NewVersion { grants: Grants { visibility: Visibility::Public, ..Grants::default() }, ..echo("1") };
    assert_eq!(handle.deploy(public, b"1", Room::default()).await.unwrap(), Deployed { version: 2, created: true });
}

#[tokio::test]
async fn a_rollback_is_a_switch_and_a_deleted_function_can_be_deployed_again() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("acme").await;
    let name = SkillName::parse("echo").unwrap();
    handle.deploy(echo("1"), b"1", Room::default()).await.unwrap();
    handle.deploy(echo("2"), b"2", Room::default()).await.unwrap();
    assert_eq!(active(&handle).await, [("echo".into(), 2)]);
    assert!(handle.activate(&name, 1).await.unwrap());
    assert!(!handle.activate(&name, 3).await.unwrap());
    assert_eq!(active(&handle).await, [("echo".into(), 1)]);
    let versions = handle.versions(&name).await.unwrap();
    let history: Vec<_> = versions.iter().map(|version| (version.version, version.active)).collect();
    assert_eq!(history, [(2, false), (1, true)]);

    assert!(handle.delete_function(&name).await.unwrap());
    assert!(active(&handle).await.is_empty());
    assert!(handle.versions(&name).await.unwrap().is_empty());
    let kept = handle.version(&name, 2).await.unwrap().unwrap();
    assert_eq!(kept.hash, VersionHash::of("js", b"2"));
    assert_eq!(kept.manifest, r#"{"description": "says \u0000 it"}"#);
    assert!(handle.version(&name, 3).await.unwrap().is_none());
    assert_eq!(handle.deploy(echo("1"), b"1", Room::default()).await.unwrap(), Deployed { version: 3, created: true });
    assert_eq!(active(&handle).await, [("echo".into(), 3)]);
}

#[tokio::test]
async fn deploys_at_the_same_time_get_versions_of_their_own() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("acme").await;
    let sources = ["1", "2", "3", "4", "5", "6"];
    let deploys = sources.map(|source| handle.deploy(echo(source), source.as_bytes(), Room::default()));
    let mut versions: Vec<i32> =
        futures::future::join_all(deploys).await.into_iter().map(|deployed| deployed.unwrap().version).collect();
    versions.sort_unstable();
    assert_eq!(versions, [1, 2, 3, 4, 5, 6]);
}

#[tokio::test]
async fn a_source_is_kept_once_for_its_own_tenant() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("acme").await;
    let (_, other) = fixture.tenant("other").await;
    let hash = echo("1").hash;
    assert_eq!(handle.source(hash).await.unwrap(), None);
    handle.deploy(echo("1"), b"1", Room::default()).await.unwrap();
    handle.deploy(echo("2"), b"2", Room::default()).await.unwrap();
    handle.deploy(echo("1"), b"1", Room::default()).await.unwrap();
    assert_eq!(handle.source(hash).await.unwrap().as_deref(), Some(b"1".as_slice()));
    assert_eq!(other.source(hash).await.unwrap(), None);
    assert_eq!(fixture.count("sources").await, 2);
    let large = vec![7; 32 * 1024 * 1024];
    handle.deploy(echo("3"), &large, Room::default()).await.unwrap();
    assert_eq!(handle.source(echo("3").hash).await.unwrap(), Some(large));
    assert!(
        handle.deploy(echo("4"), &vec![7; 32 * 1024 * 1024 + 1], Room::default()).await.is_err(),
        "the most is 32 MiB"
    );
}

/// What is removed when everything that was switched off was switched off two days ago.
async fn swept(fixture: &Fixture) -> (u64, u64) {
    fixture
        .run("UPDATE function_versions SET retired_at = now() - interval '2 days' WHERE retired_at IS NOT NULL")
        .await;
    fixture.run("UPDATE sources SET created_at = now() - interval '2 days'").await;
    let done = fixture.store.maintain(OffsetDateTime::now_utc()).await.unwrap();
    (done.versions, done.sources)
}

async fn numbers(handle: &TenantStore) -> Vec<i32> {
    let versions = handle.versions(&SkillName::parse("echo").unwrap()).await.unwrap();
    versions.into_iter().map(|row| row.version).collect()
}

#[tokio::test]
async fn versions_that_nobody_can_need_go_with_their_sources_and_the_rest_stays() {
    let fixture = Fixture::with(|config| config.versions = 2).await;
    let (tenant, handle) = fixture.tenant("acme").await;
    for source in ["1", "2", "3", "4", "5", "1"] {
        handle.deploy(echo(source), source.as_bytes(), Room::default()).await.unwrap();
    }
    assert!(handle.activate(&SkillName::parse("echo").unwrap(), 3).await.unwrap());
    // A run that is kept names the second version.
    let pins = [("echo".to_owned(), 2)].into_iter().collect();
    let run = RunRecord { pins, ..RunRecord::default() };
    let run = Task { run: Some(Box::new(run)), ..task() };
    let today = fixture.store.maintain(OffsetDateTime::now_utc()).await.unwrap();
    assert_eq!((today.versions, today.sources), (0, 0), "tasks may be on what was switched off today");
    fixture.store.writer().commit(plain(&tenant, &run, Change::Insert)).await.unwrap();

    assert_eq!(swept(&fixture).await, (2, 1));
    assert_eq!(numbers(&handle).await, [6, 5, 3, 2], "the active one, the last two, and what a run names");
    let known = fixture.store.known_versions().await.unwrap();
    let hashes: std::collections::HashSet<_> = known.into_iter().map(|(_, hash)| hash).collect();
    assert!(hashes.contains(&echo("1").hash), "the first version's source is the last one's too");
    assert!(!hashes.contains(&echo("4").hash));
    for (source, is_kept) in [("1", true), ("2", true), ("3", true), ("4", false), ("5", true)] {
        assert_eq!(handle.source(echo(source).hash).await.unwrap().is_some(), is_kept, "{source}");
    }
    assert!(!handle.activate(&SkillName::parse("echo").unwrap(), 4).await.unwrap(), "what is gone is not gone back to");
}

#[tokio::test]
async fn a_deleted_function_leaves_nothing_and_its_numbers_are_not_given_out_again() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("acme").await;
    let (gone, other) = fixture.tenant("gone").await;
    for handle in [&handle, &other] {
        handle.deploy(echo("1"), b"1", Room::default()).await.unwrap();
        handle.deploy(echo("2"), b"2", Room::default()).await.unwrap();
    }
    let name = SkillName::parse("echo").unwrap();
    handle.delete_function(&name).await.unwrap();
    fixture.store.delete_tenant(&gone, &audit_entry()).await.unwrap();
    other.forget_belongings().await.unwrap();
    assert_eq!(swept(&fixture).await, (4, 4));
    assert_eq!((fixture.count("function_versions").await, fixture.count("sources").await), (0, 0));
    assert!(handle.was_deployed(&name).await.unwrap());
    assert_eq!(handle.deploy(echo("1"), b"1", Room::default()).await.unwrap(), Deployed { version: 3, created: true });
    assert_eq!(active(&handle).await, [("echo".to_owned(), 3)]);
}

#[tokio::test]
async fn old_versions_count_as_long_as_they_are_kept() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("acme").await;
    // Each has five bytes, they say.
    let room = Room { source_bytes: Some(12), ..Room::default() };
    for source in ["1", "2"] {
        handle.deploy(echo(source), source.as_bytes(), room).await.unwrap();
    }
    let full = handle.deploy(echo("3"), b"3", room).await.unwrap_err();
    assert!(matches!(full, StoreError::NoRoom { limit: Limit::SourceBytes, most: 12 }), "{full:?}");
    assert_eq!(handle.deploy(echo("1"), b"1", room).await.unwrap(), Deployed { version: 3, created: true }, "no more");
    handle.delete_function(&SkillName::parse("echo").unwrap()).await.unwrap();
    let other = NewVersion { name: SkillName::parse("other").unwrap(), ..echo("3") };
    assert!(handle.deploy(other, b"3", room).await.unwrap().created, "what was deleted does not count");
}
