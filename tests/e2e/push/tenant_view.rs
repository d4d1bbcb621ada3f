//! What others than its caller see of a receiver, how many a task has, and the pages of the lists.

use std::sync::Arc;

use pleat_domain::{Dialect, NewPush, Principal, PushAuth, Tenant, TenantSlug};
use pleat_engine::EngineError;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Receiver, platform, send, told, until};
use crate::harness::TestServer;

/// Whose key it is, for what the doors of this version have no words for.
pub async fn caller(server: &TestServer, key: &str) -> (Arc<Tenant>, Principal) {
    let tenant = server.engine.tenant(&TenantSlug::parse("acme").unwrap()).await.unwrap();
    let principal = server.engine.authenticate(&tenant, Some(key), Vec::new).await.unwrap();
    (tenant, principal)
}

fn push(id: Option<&str>) -> NewPush {
    NewPush {
        id: id.map(str::to_owned),
        url: "https://receiver.invalid/private/path?secret=1".to_owned(),
        token: Some("t0ken".to_owned()),
        auth: Some(PushAuth { scheme: "Bearer".to_owned(), credentials: Some("s3cret".to_owned()) }),
        dialect: Dialect::A2a03,
    }
}

async fn finished(server: &TestServer) -> String {
    send(server, json!({ "skill": "probe", "message": { "do": "echo", "value": 1 } })).await
}

#[tokio::test]
async fn a_task_has_so_many_receivers_and_each_keeps_its_id() {
    let server = platform().await;
    let id = finished(&server).await;
    let (tenant, own) = caller(&server, &server.invoke).await;
    let engine = &server.engine;
    let set = async |push| engine.set_push(&tenant, &own, &id, push).await;
    let made = set(push(None)).await.unwrap();
    assert!(!made.id.is_empty());
    for number in 1..10 {
        assert_eq!(set(push(Some(&format!("p{number}")))).await.unwrap().id, format!("p{number}"));
    }
    let full = set(push(Some("one too many"))).await.unwrap_err();
    assert_eq!(full.to_string(), "a task has at most 10 push configurations; delete one first");
    assert!(set(push(Some("p9"))).await.is_ok(), "one in the place of another is none more");
    let all = engine.pushes(&tenant, &own, &id).await.unwrap();
    let ids: Vec<&str> = all.iter().map(|push| push.id.as_str()).collect();
    assert_eq!(ids, [made.id.as_str(), "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"]);
    assert_eq!(engine.push(&tenant, &own, &id, Some("p4")).await.unwrap(), all[4]);
    assert_eq!(engine.push(&tenant, &own, &id, None).await.unwrap().id, made.id);
    let missing = engine.push(&tenant, &own, &id, Some("p10")).await;
    assert!(matches!(missing, Err(EngineError::PushNotFound)), "{missing:?}");
    engine.delete_push(&tenant, &own, &id, "p1").await.unwrap();
    assert!(set(push(Some("another"))).await.is_ok());
}

#[tokio::test]
async fn twenty_at_once_do_not_get_past_the_limit() {
    let server = platform().await;
    let id = finished(&server).await;
    let (tenant, own) = caller(&server, &server.invoke).await;
    let set = async |number: u32| server.engine.set_push(&tenant, &own, &id, push(Some(&format!("p{number}")))).await;
    let kept = futures::future::join_all((0..20).map(set)).await;
    assert_eq!(kept.iter().filter(|kept| kept.is_ok()).count(), 10);
    assert_eq!(server.engine.pushes(&tenant, &own, &id).await.unwrap().len(), 10);
}

#[tokio::test]
async fn what_is_secret_of_a_receiver_is_its_callers_alone() {
    let server = platform().await;
    let id = finished(&server).await;
    let (tenant, own) = caller(&server, &server.invoke).await;
    server.engine.set_push(&tenant, &own, &id, push(Some("mine"))).await.unwrap();
    let mine = server.engine.push(&tenant, &own, &id, None).await.unwrap();
    assert_eq!((mine.url.as_str(), mine.token.as_deref()), (push(None).url.as_str(), Some("t0ken")));
    assert_eq!(mine.auth, push(None).auth);
    // All scopes: sees the tenant's tasks, and that somebody is told of them.
    let (_, admin) = caller(&server, &server.admin).await;
    let theirs = server.engine.push(&tenant, &admin, &id, None).await.unwrap();
    assert_eq!((theirs.url.as_str(), &theirs.token, &theirs.auth), ("https://receiver.invalid", &None, &None));
    for path in ["/tenants/acme/pushes", "/tenants/acme/deliveries"] {
        let (status, page) = server.api(Method::GET, path, &server.read, None).await;
        assert_eq!(status, 200, "{page}");
        for secret in ["t0ken", "s3cret", "private/path", "secret=1"] {
            assert!(!page.to_string().contains(secret), "{path}: {page}");
        }
    }
    // May read, but not choose who is told.
    let wish = json!({ "scopes": ["invoke", "read"] });
    let (_, reader) = server.api(Method::POST, "/tenants/acme/keys", &server.admin, Some(wish)).await;
    let (_, reader) = caller(&server, reader["key"].as_str().unwrap()).await;
    assert!(server.engine.pushes(&tenant, &reader, &id).await.is_ok());
    for refused in [
        server.engine.set_push(&tenant, &reader, &id, push(None)).await.map(drop),
        server.engine.delete_push(&tenant, &reader, &id, "mine").await,
    ] {
        assert!(matches!(refused, Err(EngineError::TaskNotFound)), "{refused:?}");
    }
}

#[tokio::test]
async fn lists_have_pages_and_filters_and_refuse_what_they_do_not_know() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    for _ in 0..3 {
        send(&server, told(json!({ "do": "echo", "value": 1 }), &receiver.url("/"))).await;
    }
    receiver.some(6).await;
    let get = async |path: &str| server.api(Method::GET, path, &server.read, None).await;
    let all = async || Some(get("/tenants/acme/deliveries").await.1).filter(|page| page["deliveries"][5].is_object());
    until("all six in the log", all).await;
    for (what, count) in [("deliveries", 6), ("pushes", 3)] {
        let mut seen: Vec<Value> = Vec::new();
        let mut cursor = String::new();
        loop {
            let (status, page) = get(&format!("/tenants/acme/{what}?limit=2{cursor}")).await;
            assert_eq!(status, 200, "{page}");
            seen.extend(page[what].as_array().unwrap().iter().cloned());
            let Some(next) = page["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(seen.len(), count, "{what}: {seen:?}");
        for bad in ["limit=0", "limit=101", "state=none", "cursor=x", "cursor=1.2.zz", "task=x", "other=1"] {
            let (status, page) = get(&format!("/tenants/acme/{what}?{bad}")).await;
            assert_eq!(status, 400, "{what}?{bad}: {page}");
        }
    }
    assert_eq!(get("/tenants/acme/deliveries?state=dead").await.1["deliveries"], json!([]));
    assert_eq!(get("/tenants/acme/deliveries?state=delivered").await.1["deliveries"].as_array().unwrap().len(), 6);
    // Another tenant has a key of its own, and sees nothing of this.
    let other = server.other_tenant("other").await;
    let (_, mine) = server.api(Method::GET, "/tenants/acme/push-key", &server.deploy, None).await;
    let (_, theirs) = server.api(Method::GET, "/tenants/other/push-key", &other, None).await;
    assert_ne!(mine["key"], theirs["key"]);
    let (_, page) = server.api(Method::GET, "/tenants/other/deliveries", &other, None).await;
    assert_eq!(page["deliveries"], json!([]));
}
