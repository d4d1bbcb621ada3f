//! Deploying, rolling back, deleting, and the generation that tells nodes of it.

use pleat_domain::{Grants, SkillName, VersionHash, Visibility};
use pleat_store::{Deployed, NewVersion, Room, TenantStore};

use crate::support::{Fixture, raw};

fn echo(source: &str) -> NewVersion {
    NewVersion {
        name: SkillName::parse("echo").unwrap(),
        hash: VersionHash::of("js", source.as_bytes()),
        language: "js".into(),
        file_name: "echo.js".into(),
        size: 5,
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
    fixture.store.delete_tenant(&tenant).await.unwrap();
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
