//! The keys that sign cards: a new one takes over without a moment in which a card cannot be checked.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::card;
use super::signatures::{header, key_set};
use crate::harness::TestServer;

async fn keys(server: &TestServer) -> Vec<(String, bool)> {
    let (status, answer) = server.api(Method::GET, "/card-keys", &server.operator, None).await;
    assert_eq!(status, 200, "{answer}");
    let keys = answer["keys"].as_array().unwrap();
    keys.iter().map(|key| (key["id"].as_str().unwrap().to_owned(), key["signs"] == true)).collect()
}

async fn published(server: &TestServer) -> Vec<String> {
    let set = key_set(server, &server.tenant_url()).await;
    set["keys"].as_array().unwrap().iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

async fn signing(server: &TestServer) -> String {
    let card = card(server).await;
    header(&card["signatures"][0])["kid"].as_str().unwrap().to_owned()
}

async fn revoke(server: &TestServer, id: &str) -> (u16, Value) {
    server.api(Method::DELETE, &format!("/card-keys/{id}"), &server.operator, None).await
}

#[tokio::test]
async fn a_new_key_is_published_first_and_signs_then() {
    let server = TestServer::start().await;
    let old = signing(&server).await;
    assert_eq!(keys(&server).await, [(old.clone(), true)]);
    let (status, answer) = server.api(Method::POST, "/card-keys", &server.operator, None).await;
    assert_eq!(status, 201, "{answer}");
    let new = answer["keys"][0]["id"].as_str().unwrap().to_owned();
    assert_ne!(new, old);
    assert_eq!(published(&server).await, [new.clone(), old.clone()]);
    assert_eq!(signing(&server).await, old, "until every node has published it");
    let patience = Instant::now() + Duration::from_secs(20);
    while signing(&server).await == old {
        assert!(Instant::now() < patience, "it never signs");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(signing(&server).await, new);
    assert_eq!(published(&server).await, [new.clone(), old.clone()], "cards that somebody has kept stay good");
    assert_eq!(revoke(&server, &old).await.0, 204);
    assert_eq!(published(&server).await, [new]);
    let (status, problem) = revoke(&server, &old).await;
    assert_eq!((status, &problem["error"]["code"]), (404, &json!("not_found")));
}

#[tokio::test]
async fn a_key_that_is_revoked_signs_nothing_from_then_on() {
    let server = TestServer::start().await;
    let lost = signing(&server).await;
    assert_eq!(revoke(&server, &lost).await.0, 204);
    let next = signing(&server).await;
    assert_ne!(next, lost, "another takes its place at once");
    assert_eq!(published(&server).await, [next]);
}

#[tokio::test]
async fn there_are_at_most_sixteen() {
    let server = TestServer::start().await;
    for _ in 1..16 {
        assert_eq!(server.api(Method::POST, "/card-keys", &server.operator, None).await.0, 201);
    }
    let (status, problem) = server.api(Method::POST, "/card-keys", &server.operator, None).await;
    assert_eq!(status, 400);
    let text = "at most 16 keys are published at once; revoke one that is no longer needed";
    assert_eq!(problem["error"]["message"], text);
    assert_eq!(published(&server).await.len(), 16);
}
