//! Tenants and keys.

use pleat_domain::{KeyLimits, PlanName, Scope, Scopes, TenantSlug};
use pleat_store::{NewKey, StoreError};

use crate::support::{Fixture, audit_entry};

pub fn key(id: &str) -> NewKey {
    NewKey {
        id: id.to_owned(),
        mac: vec![7, 77, 177],
        scopes: Scopes::of([Scope::Invoke, Scope::Read]),
        label: "for tests".into(),
        last_four: "abcd".into(),
        created_by: "key:root".into(),
        expires_at: None,
        limits: KeyLimits::default(),
    }
}

#[tokio::test]
async fn a_deleted_tenants_name_stays_taken_and_its_keys_are_gone() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    handle.insert_key(key("k1")).await.unwrap();
    let store = &fixture.store;
    assert_eq!(store.tenant_by_slug(&tenant.slug).await.unwrap(), Some(tenant.clone()));
    assert_eq!(store.list_tenants().await.unwrap(), vec![tenant.clone()]);
    assert_eq!(store.key_tenant(tenant.id).await.unwrap(), Some(tenant.clone()));
    assert!(store.key("k1").await.unwrap().is_some());

    assert!(store.delete_tenant(&tenant, &audit_entry()).await.unwrap());
    assert!(!store.delete_tenant(&tenant, &audit_entry()).await.unwrap());
    assert_eq!(store.tenant_by_slug(&tenant.slug).await.unwrap(), None);
    assert_eq!(store.key_tenant(tenant.id).await.unwrap(), None);
    assert!(store.list_tenants().await.unwrap().is_empty());
    assert!(store.key("k1").await.unwrap().is_none());
    let again = store
        .create_tenant(&TenantSlug::parse("acme").unwrap(), &PlanName::standard(), &audit_entry())
        .await
        .unwrap_err();
    assert!(matches!(&again, StoreError::SlugTaken(slug) if slug.as_str() == "acme"), "{again:?}");
}

#[tokio::test]
async fn a_key_is_found_by_id_with_all_that_was_stored() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("acme").await;
    handle.insert_key(key("k1")).await.unwrap();
    fixture.store.insert_operator_key(key("op"), &audit_entry()).await.unwrap();

    let found = fixture.store.key("k1").await.unwrap().unwrap();
    assert_eq!(found.tenant, Some(tenant.id));
    assert_eq!((found.mac.as_slice(), found.scopes), ([7, 77, 177].as_slice(), key("k1").scopes));
    assert!(!format!("{found:?} {:?}", key("k1")).contains("77, 177"));
    assert_eq!(fixture.store.key("op").await.unwrap().unwrap().tenant, None);
    assert!(fixture.store.key("k2").await.unwrap().is_none());
    assert!(matches!(handle.insert_key(key("k1")).await, Err(StoreError::KeyTaken)));
    assert!(matches!(fixture.store.insert_operator_key(key("op"), &audit_entry()).await, Err(StoreError::KeyTaken)));
}

#[tokio::test]
async fn a_key_is_listed_and_revoked_by_its_own_tenant_only() {
    let fixture = Fixture::new().await;
    let (_, acme) = fixture.tenant("acme").await;
    let (_, other) = fixture.tenant("other").await;
    acme.insert_key(key("k1")).await.unwrap();
    assert!(other.list_keys().await.unwrap().is_empty());
    assert!(!other.revoke_key("k1", true).await.unwrap());
    assert!(fixture.store.key("k1").await.unwrap().unwrap().revoked_at.is_none());

    assert!(acme.revoke_key("k1", true).await.unwrap());
    assert!(!acme.revoke_key("k1", true).await.unwrap());
    let listed = acme.list_keys().await.unwrap();
    assert!(listed.len() == 1 && listed[0].revoked_at.is_some());
}

#[tokio::test]
async fn a_character_that_cannot_be_stored_is_said() {
    let fixture = Fixture::new().await;
    let (_, acme) = fixture.tenant("acme").await;
    let refused = acme.insert_key(NewKey { label: "a\0b".into(), ..key("k1") }).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unstorable(_)), "{refused:?}");
}
