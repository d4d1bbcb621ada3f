//! Opening a store: migrations, races, and databases that are not ours to open.

use futures::future::join_all;
use pleat_domain::{PlanName, TenantSlug};
use pleat_store::{Store, StoreConfig, StoreError};
use sqlx::{Connection, PgConnection};

use crate::support::{Fixture, audit_entry, database};

#[tokio::test]
async fn nodes_that_start_at_once_agree_on_the_schema() {
    let url = database().await;
    let opened = join_all((0..4).map(|_| Store::open(StoreConfig::new(url.as_str())))).await;
    for store in opened {
        let store = store.unwrap();
        store.ping().await.unwrap();
        store.close().await;
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused_with_what_to_do() {
    let fixture = Fixture::new().await;
    fixture.store.close().await;
    fixture
        .run(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
              VALUES (999999, 'from the future', true, '', 0)",
        )
        .await;
    let refused = Store::open(StoreConfig::new(fixture.url.as_str())).await.err().unwrap();
    assert!(matches!(refused, StoreError::SchemaTooNew { version: 999_999 }), "{refused:?}");
    assert!(refused.to_string().contains("newer pleat"));
}

#[tokio::test]
async fn a_plain_login_that_may_make_roles_is_enough() {
    let url = database().await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let setup = "CREATE ROLE plain LOGIN CREATEROLE; ALTER SCHEMA public OWNER TO plain";
    sqlx::raw_sql(setup).execute(&mut connection).await.unwrap();
    let (head, options) = url.split_once('?').unwrap();
    let options: Vec<&str> = options.split('&').filter(|option| !option.starts_with("user=")).collect();
    let store = Store::open(StoreConfig::new(format!("{head}?{}&user=plain", options.join("&")))).await.unwrap();
    let tenant =
        store.create_tenant(&TenantSlug::parse("acme").unwrap(), &PlanName::standard(), &audit_entry()).await.unwrap();
    let task = crate::support::task();
    let commit = crate::support::plain(&tenant, &task, pleat_store::Change::Insert);
    store.writer().commit(commit).await.unwrap();
    assert!(store.tenant(tenant.id).task(task.id, None).await.unwrap().is_some());
    let later = time::OffsetDateTime::now_utc() + time::Duration::hours(26);
    assert!(store.maintain(later).await.unwrap().dropped > 0);
    store.close().await;
}

#[tokio::test]
async fn an_address_that_leads_nowhere_is_said_without_the_password() {
    let bad = Store::open(StoreConfig::new("nonsense://x")).await.err().unwrap();
    assert!(matches!(bad, StoreError::BadUrl(_)), "{bad:?}");
    let silent = Store::open(StoreConfig::new("postgres://u:secret@127.0.0.1:1/x")).await.err().unwrap();
    assert!(matches!(silent, StoreError::Unreachable(_)), "{silent:?}");
    let nameless = database().await.replace("/test_", "/missing_");
    let refused = Store::open(StoreConfig::new(nameless)).await.err().unwrap();
    assert!(matches!(refused, StoreError::Refused(_)), "{refused:?}");
    assert!(!format!("{silent:?} {:?}", StoreConfig::new("postgres://u:secret@h/x")).contains("secret"));
}
