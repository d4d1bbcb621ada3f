//! Secrets and settings: kept apart by tenant, counted, and gone with their tenant.

use pleat_domain::SettingName;
use pleat_domain::limits::SETTINGS;
use pleat_store::StoreError;

use crate::support::Fixture;

fn name(text: &str) -> SettingName {
    SettingName::parse(text).unwrap()
}

#[tokio::test]
async fn a_secret_is_replaced_listed_without_its_value_and_deleted() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("alpha").await;
    handle.set_secret(&name("B"), b"sealed", 3, "key:x").await.unwrap();
    handle.set_secret(&name("A"), b"first", 3, "key:x").await.unwrap();
    handle.set_secret(&name("A"), b"second", 7, "key:y").await.unwrap();
    assert_eq!(handle.secret("A").await.unwrap().as_deref(), Some(&b"second"[..]));
    let rows = handle.list_secrets().await.unwrap();
    let known: Vec<(&str, i32, &str)> =
        rows.iter().map(|row| (row.name.as_str(), row.length, row.updated_by.as_str())).collect();
    assert_eq!(known, [("A", 7, "key:y"), ("B", 3, "key:x")]);
    assert!(handle.delete_secret(&name("A")).await.unwrap());
    assert!(!handle.delete_secret(&name("A")).await.unwrap());
    assert_eq!(handle.secret("A").await.unwrap(), None);
}

#[tokio::test]
async fn a_tenant_has_so_many_and_no_more_even_when_many_are_set_at_once() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("alpha").await;
    let names: Vec<SettingName> = (0..SETTINGS + 20).map(|number| name(&format!("N{number}"))).collect();
    let sets = names.iter().map(|name| handle.set_secret(name, b"x", 1, "key:x"));
    let results = futures::future::join_all(sets).await;
    let refused = results.iter().filter(|result| matches!(result, Err(StoreError::TooMany { .. }))).count();
    assert_eq!((results.iter().filter(|result| result.is_ok()).count(), refused), (SETTINGS, 20));
    let kept = handle.list_secrets().await.unwrap();
    handle.set_secret(&name(&kept[0].name), b"y", 1, "key:x").await.unwrap();
    // Settings are counted apart.
    for name in &names[..SETTINGS] {
        handle.set_setting(name, "x", "key:x").await.unwrap();
    }
    let one_more = handle.set_setting(&names[SETTINGS], "x", "key:x").await;
    assert!(matches!(one_more, Err(StoreError::TooMany { most: SETTINGS })), "{one_more:?}");
}

#[tokio::test]
async fn another_tenant_sees_and_changes_nothing() {
    let fixture = Fixture::new().await;
    let (_, alpha) = fixture.tenant("alpha").await;
    let (_, beta) = fixture.tenant("beta").await;
    alpha.set_secret(&name("A"), b"sealed", 3, "key:x").await.unwrap();
    alpha.set_setting(&name("A"), "plain", "key:x").await.unwrap();
    assert_eq!(beta.secret("A").await.unwrap(), None);
    assert_eq!(beta.setting("A").await.unwrap(), None);
    assert!(beta.list_secrets().await.unwrap().is_empty() && beta.list_settings().await.unwrap().is_empty());
    assert!(!beta.delete_secret(&name("A")).await.unwrap());
    assert!(!beta.delete_setting(&name("A")).await.unwrap());
    assert_eq!(alpha.setting("A").await.unwrap().as_deref(), Some("plain"));
}

#[tokio::test]
async fn what_a_tenant_kept_goes_with_it() {
    let fixture = Fixture::new().await;
    let (_, alpha) = fixture.tenant("alpha").await;
    let (_, beta) = fixture.tenant("beta").await;
    for handle in [&alpha, &beta] {
        handle.set_secret(&name("A"), b"sealed", 3, "key:x").await.unwrap();
        handle.set_setting(&name("A"), "plain", "key:x").await.unwrap();
        handle.set_value("k", b"v", None).await.unwrap();
    }
    alpha.forget_belongings().await.unwrap();
    for table in ["secrets", "settings", "key_values", "key_value_usage"] {
        assert_eq!(fixture.count(table).await, 1, "{table}: the other tenant's stay");
    }
}

#[tokio::test]
async fn the_first_check_of_the_master_key_stays() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.store.master_key_check(b"first").await.unwrap(), b"first");
    assert_eq!(fixture.store.master_key_check(b"second").await.unwrap(), b"first");
    assert_eq!(fixture.count("master_key_check").await, 1);
}
