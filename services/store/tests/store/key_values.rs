//! Values of functions: exact counting, sums that no one else can spoil, and pages.

use pleat_domain::limits::{KEY_VALUE_TENANT, KEY_VALUE_VALUE};
use pleat_store::{StoreError, TenantStore};
use time::OffsetDateTime;

use crate::support::Fixture;

/// What an entry counts beside its key and value.
const ENTRY: i64 = 64;

/// The counter and the sum of what is there are the same.
async fn counted(fixture: &Fixture, handle: &TenantStore) -> i64 {
    let used = handle.value_bytes().await.unwrap();
    let summed: i64 = sqlx::query_scalar("SELECT coalesce(sum(size), 0)::bigint FROM key_values WHERE tenant_id = $1")
        .bind(handle.id().as_uuid())
        .fetch_one(&mut fixture.outside().await)
        .await
        .unwrap();
    assert_eq!(used, summed, "the counter tells what is there");
    used
}

#[tokio::test]
async fn values_are_set_read_replaced_and_deleted_and_counted_exactly() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("alpha").await;
    assert_eq!(handle.value("k").await.unwrap(), None);
    handle.set_value("k", b"12345", None).await.unwrap();
    assert_eq!(handle.value("k").await.unwrap().as_deref(), Some(&b"12345"[..]));
    assert_eq!(counted(&fixture, &handle).await, 6 + ENTRY);
    handle.set_value("k", b"\0\xff", None).await.unwrap();
    assert_eq!(handle.value("k").await.unwrap().as_deref(), Some(&b"\0\xff"[..]));
    assert_eq!(counted(&fixture, &handle).await, 3 + ENTRY);
    assert!(handle.delete_value("k").await.unwrap());
    assert!(!handle.delete_value("k").await.unwrap());
    assert_eq!(counted(&fixture, &handle).await, 0);
}

#[tokio::test]
async fn the_share_is_exact_and_what_does_not_fit_changes_nothing() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("alpha").await;
    handle.set_value("a", b"x", None).await.unwrap();
    // All but the room for one more entry of this size.
    let room = 2 + ENTRY;
    let full = i64::try_from(KEY_VALUE_TENANT).unwrap() - room;
    fixture
        .run(&format!("UPDATE key_value_usage SET bytes = {full} WHERE tenant_id = '{}'", tenant.id.as_uuid()))
        .await;
    assert!(matches!(handle.set_value("b", b"xx", None).await, Err(StoreError::ShareUsedUp)));
    assert_eq!(handle.value("b").await.unwrap(), None);
    handle.set_value("b", b"x", None).await.unwrap();
    assert!(matches!(handle.set_value("a", b"xx", None).await, Err(StoreError::ShareUsedUp)));
    assert_eq!(handle.value("a").await.unwrap().as_deref(), Some(&b"x"[..]), "the old value stays");
    assert!(matches!(handle.increment_value("n", 1).await, Err(StoreError::ShareUsedUp)));
    handle.set_value("a", b"", None).await.unwrap();
    assert!(handle.delete_value("b").await.unwrap());
    handle.set_value("b", b"xx", None).await.unwrap();
    // Another tenant has a share of its own.
    let (_, other) = fixture.tenant("beta").await;
    other.set_value("b", &vec![0; KEY_VALUE_VALUE], None).await.unwrap();
}

#[tokio::test]
async fn what_has_expired_is_gone_at_once_and_makes_room_when_it_is_needed() {
    let fixture = Fixture::new().await;
    let (tenant, handle) = fixture.tenant("alpha").await;
    handle.set_value("old", b"0123456789", Some(0)).await.unwrap();
    handle.set_value("lasting", b"x", Some(3_600)).await.unwrap();
    assert_eq!(handle.value("old").await.unwrap(), None);
    assert_eq!(handle.keys("", None, 10).await.unwrap().keys, ["lasting"]);
    assert!(!handle.delete_value("old").await.unwrap(), "nobody sees it go");
    handle.set_value("old", b"0123456789", Some(0)).await.unwrap();
    assert_eq!(handle.increment_value("old", 5).await.unwrap(), 5, "it begins anew");
    assert_eq!(handle.value("old").await.unwrap().as_deref(), Some(&b"5"[..]), "and does not expire again");

    handle.set_value("gone", &[0; 1_000], Some(0)).await.unwrap();
    let used = counted(&fixture, &handle).await;
    let full = i64::try_from(KEY_VALUE_TENANT).unwrap();
    fixture
        .run(&format!("UPDATE key_value_usage SET bytes = {full} WHERE tenant_id = '{}'", tenant.id.as_uuid()))
        .await;
    handle.set_value("new", &[0; 900], None).await.unwrap();
    let back = used - full;
    fixture.run(&format!("UPDATE key_value_usage SET bytes = bytes + {back}")).await;
    assert_eq!(counted(&fixture, &handle).await, used - (1_000 + 4 + ENTRY) + (900 + 3 + ENTRY));
}

#[tokio::test]
async fn the_sweep_takes_what_has_expired_and_gives_its_room_back() {
    let fixture = Fixture::new().await;
    for slug in ["alpha", "beta"] {
        let (_, handle) = fixture.tenant(slug).await;
        handle.set_value("gone", b"x", Some(0)).await.unwrap();
        handle.set_value("stays", b"x", Some(3_600)).await.unwrap();
        handle.set_value("for-ever", b"x", None).await.unwrap();
    }
    let done = fixture.store.maintain(OffsetDateTime::now_utc()).await.unwrap();
    assert_eq!(done.values, 2);
    assert_eq!(fixture.count("key_values").await, 4);
    for slug in ["alpha", "beta"] {
        let slug = pleat_domain::TenantSlug::parse(slug).unwrap();
        let tenant = fixture.store.tenant_by_slug(&slug).await.unwrap().unwrap();
        counted(&fixture, &fixture.store.tenant(tenant.id)).await;
    }
}

#[tokio::test]
async fn sums_are_atomic_and_only_of_numbers() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("alpha").await;
    let many = (0..40).map(|_| handle.increment_value("n", 3));
    let mut seen: Vec<i64> = futures::future::try_join_all(many).await.unwrap();
    seen.sort_unstable();
    assert_eq!(seen, (1..=40).map(|turn| turn * 3).collect::<Vec<_>>(), "each sum was given once");
    assert_eq!(handle.value("n").await.unwrap().as_deref(), Some(&b"120"[..]), "decimal text");
    assert_eq!(handle.increment_value("n", -121).await.unwrap(), -1);
    handle.set_value("most", i64::MAX.to_string().as_bytes(), None).await.unwrap();
    assert!(matches!(handle.increment_value("most", 1).await, Err(StoreError::NotANumber)));
    assert_eq!(handle.increment_value("most", i64::MIN).await.unwrap(), -1);
    for bad in [&b"abc"[..], b"", b"1.5", b" 1", b"\xff", b"0x1", b"99999999999999999999"] {
        handle.set_value("bad", bad, None).await.unwrap();
        assert!(matches!(handle.increment_value("bad", 1).await, Err(StoreError::NotANumber)), "{bad:?}");
        assert_eq!(handle.value("bad").await.unwrap().as_deref(), Some(bad), "it is left alone");
    }
    counted(&fixture, &handle).await;
}

#[tokio::test]
async fn many_writers_of_many_keys_leave_the_count_exact() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("alpha").await;
    let turns = (0..120_usize).map(|turn| {
        let handle = handle.clone();
        async move {
            let key = format!("k{}", turn % 7);
            match turn % 5 {
                0 => handle.delete_value(&key).await.map(drop),
                1 => handle.set_value(&key, &vec![b'x'; turn], Some(0)).await,
                _ => handle.set_value(&key, &vec![b'x'; turn * 3], None).await,
            }
        }
    });
    futures::future::try_join_all(turns).await.unwrap();
    counted(&fixture, &handle).await;
}

#[tokio::test]
async fn keys_are_listed_by_prefix_in_the_order_of_their_bytes() {
    let fixture = Fixture::new().await;
    let (_, handle) = fixture.tenant("alpha").await;
    for key in ["a", "a/1", "a/2", "a/é", "a0", "b", "A/1", "a%", "a_"] {
        handle.set_value(key, b"x", None).await.unwrap();
    }
    assert_eq!(handle.keys("a/", None, 10).await.unwrap().keys, ["a/1", "a/2", "a/é"]);
    let all = handle.keys("", None, 10).await.unwrap();
    assert_eq!((all.keys.len(), all.more), (9, false));
    assert!(all.keys.is_sorted(), "{:?}", all.keys);
    let mut walked = Vec::new();
    let mut above: Option<String> = None;
    loop {
        let page = handle.keys("a", above.as_deref(), 2).await.unwrap();
        walked.extend(page.keys.iter().cloned());
        above = page.keys.last().cloned();
        if !page.more {
            break;
        }
    }
    assert_eq!(walked, handle.keys("a", None, 100).await.unwrap().keys);
    assert_eq!(handle.keys("%", None, 10).await.unwrap().keys, Vec::<String>::new(), "nothing is a wildcard");
}

#[tokio::test]
async fn another_tenant_sees_and_changes_nothing() {
    let fixture = Fixture::new().await;
    let (_, alpha) = fixture.tenant("alpha").await;
    let (_, beta) = fixture.tenant("beta").await;
    alpha.set_value("k", b"1", None).await.unwrap();
    assert_eq!(beta.value("k").await.unwrap(), None);
    assert!(!beta.delete_value("k").await.unwrap());
    assert_eq!(beta.increment_value("k", 10).await.unwrap(), 10);
    assert_eq!(beta.keys("", None, 10).await.unwrap().keys, ["k"]);
    beta.set_value("k", b"theirs", None).await.unwrap();
    assert_eq!(alpha.value("k").await.unwrap().as_deref(), Some(&b"1"[..]));
}
