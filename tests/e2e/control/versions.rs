//! Versions and the way back.

use reqwest::Method;
use serde_json::{Value, json};

use super::{refused, saying};
use crate::harness::TestServer;

const ROLLBACK: &str = "/tenants/acme/functions/hello/rollback";

/// Three versions of one function; each says its number.
async fn three() -> TestServer {
    let server = TestServer::start().await;
    for word in ["v1", "v2", "v3"] {
        server.deploy("minimal.wat", saying(word), "&name=hello&visibility=public").await;
    }
    server
}

async fn said(server: &TestServer) -> Value {
    server.http("", "hello", json!(null)).await.1
}

#[tokio::test]
async fn versions_are_listed_newest_first_with_the_active_one_marked() {
    let server = three().await;
    let all = server.get("/tenants/acme/functions/hello/versions").await;
    let all = all["versions"].as_array().unwrap();
    let brief: Vec<_> = all.iter().map(|row| (row["version"].as_i64().unwrap(), row["active"] == true)).collect();
    assert_eq!(brief, [(3, true), (2, false), (1, false)]);
    let (_, who) = server.api(Method::GET, "/whoami", &server.deploy, None).await;
    for row in all {
        assert_eq!(row["createdBy"], format!("key:{}", who["key"].as_str().unwrap()), "{row}");
        assert_eq!((&row["fileName"], &row["size"]), (&json!("minimal.wat"), &json!(saying("v1").len())), "{row}");
    }
}

#[tokio::test]
async fn a_rollback_goes_to_the_version_before_or_to_the_one_named() {
    let server = three().await;
    let back = async |wish: Option<Value>| server.api(Method::POST, ROLLBACK, &server.deploy, wish).await;
    assert_eq!(said(&server).await, "v3");
    assert_eq!(back(None).await, (200, json!({ "name": "hello", "version": 2 })));
    assert_eq!(said(&server).await, "v2");
    assert_eq!(back(Some(json!({}))).await.1["version"], 1);
    assert_eq!(said(&server).await, "v1");
    let (status, answer) = back(None).await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!("invalid")), "{answer}");
    assert_eq!(said(&server).await, "v1", "a refusal changes nothing");
    assert_eq!(back(Some(json!({ "version": 3 }))).await.1["version"], 3);
    assert_eq!(said(&server).await, "v3");
    let next = server.deploy("minimal.wat", saying("v4"), "&name=hello&visibility=public").await;
    assert_eq!(next["version"], 4, "numbers go on from the highest: {next}");
}

#[tokio::test]
async fn a_rollback_to_what_is_not_there_is_refused() {
    let server = three().await;
    let back = async |wish: Value| server.refusal(Method::POST, ROLLBACK, &server.deploy, Some(wish)).await;
    for version in [0, 4, -1, i64::from(i32::MAX)] {
        assert_eq!(back(json!({ "version": version })).await, refused(404, "not_found"), "{version}");
    }
    for wish in [json!({ "version": "2" }), json!({ "version": 2.5 }), json!({ "version": 5_000_000_000_i64 })] {
        assert_eq!(back(wish.clone()).await, refused(400, "invalid"), "{wish}");
    }
    for wish in [json!({ "Version": 2 }), json!([2]), json!(2), json!({ "version": 2, "why": "" })] {
        assert_eq!(back(wish.clone()).await, refused(400, "invalid"), "{wish}");
    }
    let path = ROLLBACK.replace("hello", "nothing");
    assert_eq!(server.refusal(Method::POST, &path, &server.deploy, None).await, refused(404, "not_found"));
    assert_eq!(said(&server).await, "v3");
}

#[tokio::test]
async fn a_body_is_never_overlooked() {
    let server = three().await;
    let url = format!("{}/api/v1{ROLLBACK}", server.url);
    let unnamed = server.client.post(url).bearer_auth(&server.deploy).body(r#"{"version":1}"#).send().await.unwrap();
    assert_eq!(unnamed.status(), 415, "a body of no type is not taken for none");
    assert_eq!(said(&server).await, "v3");
}
