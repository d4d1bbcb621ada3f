//! Sessions whose client listens at several nodes: each message is told once, on the stream that was opened last.

use std::time::Duration;

use pleat_domain::{SessionId, Tenant};
use pleat_store::{NewSession, SessionChange, SessionRoom, Store, StoreConfig, Tell, TenantStore};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::support::{Fixture, caller, raw};

pub async fn open(handle: &TenantStore) -> SessionId {
    let id = SessionId::from_random(*Uuid::now_v7().as_bytes());
    let new = NewSession {
        id,
        control: false,
        caller: caller("a"),
        version: "2025-11-25".to_owned(),
        capabilities: raw("{}"),
        expires_at: OffsetDateTime::now_utc() + Duration::from_secs(60),
    };
    assert!(handle.open_session(&new, SessionRoom { caller: 10, tenant: 10 }).await.unwrap());
    change(handle, id, SessionChange::Initialized).await;
    id
}

async fn change(handle: &TenantStore, id: SessionId, change: SessionChange) {
    assert!(handle.change_session(id, &change, Duration::from_secs(60), 100).await.unwrap());
}

async fn stream(handle: &TenantStore, session: SessionId) -> Uuid {
    let id = Uuid::now_v7();
    handle.open_stream(session, id, 5, None).await.unwrap().unwrap();
    id
}

/// Two nodes, each with its view of the tenant.
async fn two_nodes(fixture: &Fixture) -> (Tenant, TenantStore, Store, TenantStore) {
    let (tenant, here) = fixture.tenant("acme").await;
    let other = Store::open(StoreConfig::new(fixture.url.as_str())).await.unwrap();
    let there = other.tenant(tenant.id);
    (tenant, here, other, there)
}

#[tokio::test]
async fn of_the_streams_of_a_session_the_newest_tells_at_whichever_node_it_is() {
    let fixture = Fixture::new().await;
    let (_, here, other, there) = two_nodes(&fixture).await;
    let session = open(&here).await;
    let older = stream(&here, session).await;
    assert_eq!(here.tell(session, older, "", 5).await.unwrap(), Tell::Before, "it was there before the stream was");
    assert_eq!(here.tell(session, older, "", 6).await.unwrap(), Tell::Now);
    let newer = stream(&there, session).await;
    assert_eq!(here.tell(session, older, "", 7).await.unwrap(), Tell::Elsewhere);
    assert_eq!(there.tell(session, newer, "", 7).await.unwrap(), Tell::Now);
    assert_eq!(there.tell(session, newer, "", 7).await.unwrap(), Tell::Before);
    there.close_stream(session, newer).await.unwrap();
    assert_eq!(here.tell(session, older, "", 7).await.unwrap(), Tell::Before, "what the other one has told");
    assert_eq!(here.tell(session, older, "", 8).await.unwrap(), Tell::Now);
    other.close().await;
}

#[tokio::test]
async fn a_lost_nodes_stream_tells_nothing_any_more() {
    let fixture = Fixture::with(|config| config.lease = Duration::from_millis(500)).await;
    let (_, here, other, there) = two_nodes(&fixture).await;
    let session = open(&here).await;
    let older = stream(&here, session).await;
    stream(&there, session).await;
    assert_eq!(here.tell(session, older, "", 6).await.unwrap(), Tell::Elsewhere);
    other.close().await;
    let told = async { while here.tell(session, older, "", 6).await.unwrap() != Tell::Now {} };
    tokio::time::timeout(Duration::from_secs(10), told).await.expect("what it left is told here");
}

#[tokio::test]
async fn what_was_told_is_known_to_the_streams_that_come_after() {
    let fixture = Fixture::new().await;
    let (tenant, here) = fixture.tenant("acme").await;
    let (_, foreign) = fixture.tenant("other").await;
    let session = open(&here).await;
    let opened = async |seen: Option<i64>| here.open_stream(session, Uuid::now_v7(), 9, seen).await.unwrap();
    assert_eq!(opened(None).await, Some(9));
    let last = stream(&here, session).await;
    assert_eq!(here.tell(session, last, "", 12).await.unwrap(), Tell::Now);
    assert_eq!(opened(None).await, Some(12));
    assert_eq!(opened(Some(14)).await, Some(12), "nobody knows more than it was told");
    assert_eq!(opened(Some(10)).await, Some(10), "what did not arrive is told again");
    assert_eq!(foreign.open_stream(session, Uuid::now_v7(), 9, None).await.unwrap(), None);
    assert_eq!(foreign.tell(session, last, "", 99).await.unwrap(), Tell::Elsewhere, "{}", tenant.slug);
    here.close_session(session).await.unwrap();
    assert_eq!(opened(None).await, None);
    assert_eq!(fixture.count("mcp_streams").await + fixture.count("mcp_told").await, 0, "they go with the session");
}

#[tokio::test]
async fn a_subscription_begins_with_what_its_client_knows() {
    let fixture = Fixture::new().await;
    let (_, here) = fixture.tenant("acme").await;
    let session = open(&here).await;
    let uri = "a2a://task/x";
    change(&here, session, SessionChange::Subscribed(uri.to_owned(), Some(4))).await;
    let id = stream(&here, session).await;
    let mut told = Vec::new();
    for mark in [4, 6, 6, 5, 7] {
        told.push(here.tell(session, id, uri, mark).await.unwrap());
    }
    assert_eq!(told, [Tell::Before, Tell::Now, Tell::Before, Tell::Before, Tell::Now]);
    change(&here, session, SessionChange::Subscribed(uri.to_owned(), Some(1))).await;
    assert_eq!(here.tell(session, id, uri, 7).await.unwrap(), Tell::Before, "to subscribe twice is to subscribe once");
    change(&here, session, SessionChange::Unsubscribed(uri.to_owned())).await;
    assert_eq!(here.tell(session, id, uri, 8).await.unwrap(), Tell::Before, "nobody wants to know any more");
    assert_eq!(fixture.count("mcp_told").await, 1);
    // As a node of an earlier version leaves it.
    fixture.run("UPDATE mcp_sessions SET subscriptions = '{a2a://task/y}'").await;
    let next = stream(&here, session).await;
    assert_eq!(here.tell(session, next, "a2a://task/y", 0).await.unwrap(), Tell::Now);
}

/// Two nodes that each take theirs for the newest one still tell once.
#[tokio::test]
async fn two_that_tell_at_the_same_moment_are_one() {
    let fixture = Fixture::new().await;
    let (_, here) = fixture.tenant("acme").await;
    let session = open(&here).await;
    let id = stream(&here, session).await;
    for mark in 6..40 {
        let tells = (0..3).map(|_| here.tell(session, id, "", mark));
        let told = futures::future::try_join_all(tells).await.unwrap();
        assert_eq!(told.iter().filter(|told| **told == Tell::Now).count(), 1, "{told:?}");
    }
}
