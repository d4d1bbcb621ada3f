//! A function asks, the deployer grants: nothing by itself, nothing that was not asked for, nothing more by redeploying.

use serde_json::{Value, json};

use super::FUNCTIONS;
use crate::harness::{TestServer, answering, fixture};

fn granted(made: &Value) -> Value {
    json!([made["granted"]["secrets"], made["granted"]["skills"], made["granted"]["keyValue"]])
}

fn asking(capabilities: Value) -> Vec<u8> {
    answering(&json!({ "description": "d", "capabilities": capabilities }), "1")
}

#[tokio::test]
async fn without_a_grant_it_deploys_and_has_nothing() {
    let server = TestServer::start().await;
    let made = server.deploy_reach("").await;
    assert_eq!(made["requested"]["secrets"], json!(["API_KEY", "OTHER_KEY"]), "{made}");
    assert_eq!(granted(&made), json!([[], [], false]), "{made}");
    server.put("/secrets/API_KEY", "s3cret").await;
    server.put("/settings/REGION", "eu").await;
    assert_eq!(server.reach(json!({ "do": "config", "name": "REGION" })).await, json!(null));
    let refused = server.reach_fails(json!({ "do": "secret", "name": "API_KEY" })).await;
    assert_eq!(refused.0, "not_granted", "{refused:?}");
    for input in [
        json!({ "do": "get", "key": "k" }),
        json!({ "do": "set", "key": "k", "value": "v" }),
        json!({ "do": "delete", "key": "k" }),
        json!({ "do": "increment", "key": "k", "delta": 1 }),
        json!({ "do": "list", "prefix": "", "limit": 10 }),
    ] {
        let refused = server.reach_fails(input.clone()).await;
        assert_eq!(refused, ("kv".to_owned(), "KvError::NotGranted".to_owned()), "{input}");
    }
    let call = server.reach_fails(json!({ "do": "call", "skill": "reach", "input": { "do": "context" } })).await;
    assert_eq!(call.0, "not_granted", "{call:?}");
}

#[tokio::test]
async fn each_grant_gives_what_it_names_and_nothing_else() {
    let server = TestServer::start().await;
    server.put("/secrets/API_KEY", "s3cret").await;
    server.put("/secrets/OTHER_KEY", "other").await;
    let made = server.deploy_reach("&grant=secret:API_KEY&grant=skill:echo").await;
    assert_eq!(granted(&made), json!([["API_KEY"], ["echo"], false]), "{made}");
    assert_eq!(server.reach(json!({ "do": "secret", "name": "API_KEY" })).await, "s3cret");
    assert_eq!(server.reach_fails(json!({ "do": "secret", "name": "OTHER_KEY" })).await.0, "not_granted");
    assert_eq!(server.reach_fails(json!({ "do": "get", "key": "k" })).await.1, "KvError::NotGranted");
    let call = json!({ "do": "call", "skill": "reach", "input": { "do": "context" } });
    assert_eq!(server.reach_fails(call).await.0, "not_granted");
    let (_, shown) = server.api(reqwest::Method::GET, &format!("{FUNCTIONS}/reach"), &server.read, None).await;
    assert_eq!((&shown["requested"], &shown["grants"]), (&made["requested"], &made["granted"]));
}

#[tokio::test]
async fn a_redeploy_keeps_what_is_still_asked_for_and_needs_a_word_for_more() {
    let server = TestServer::start().await;
    let deploy = async |capabilities: Value, query: &str| {
        server.deploy("a.wat", asking(capabilities), &format!("&name=a{query}")).await
    };
    let made = deploy(json!({ "secrets": ["A", "B"], "keyValue": true }), "&grant=all").await;
    assert_eq!(granted(&made), json!([["A", "B"], [], true]));
    let wider = deploy(json!({ "secrets": ["A", "C"], "skills": ["x"], "keyValue": true }), "").await;
    assert_eq!(granted(&wider), json!([["A"], [], true]), "what is new is not granted");
    assert_eq!(wider["before"], made["granted"]);
    let granted_more =
        deploy(json!({ "secrets": ["A", "C"], "skills": ["x"], "keyValue": true }), "&grant=skill:x").await;
    assert_eq!(granted(&granted_more), json!([["A"], ["x"], true]));
    let back = deploy(json!({ "secrets": ["A", "B"] }), "").await;
    assert_eq!(granted(&back), json!([["A"], [], false]), "what was let go of once must be granted again");
}

#[tokio::test]
async fn what_was_not_asked_for_cannot_be_granted() {
    let server = TestServer::start().await;
    for (grant, words) in [
        (
            "secret:NOPE",
            "`secret:NOPE` cannot be granted: the function does not ask for it; it asks for `secret:A`, `kv`",
        ),
        ("host:example.com", "`host:example.com` cannot be granted"),
        ("public", "`public` cannot be granted"),
        ("everything", "`everything` is no capability; there are public, secret:NAME"),
        ("secret:a-b", "`a-b` cannot name a secret"),
        ("host:*.com", "`*.com` cannot name a host"),
    ] {
        let source = asking(json!({ "secrets": ["A"], "keyValue": true }));
        let (status, answer) = server.try_deploy("a.wat", source, &format!("&name=a&grant={grant}")).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &json!("invalid")), "{grant}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().starts_with(words), "{grant}: {answer}");
    }
    let (status, answer) = server.api(reqwest::Method::GET, FUNCTIONS, &server.read, None).await;
    assert_eq!((status, &answer["functions"]), (200, &json!([])), "a bad deploy changes nothing");
}

#[tokio::test]
async fn what_cannot_be_a_name_cannot_be_asked_for() {
    let server = TestServer::start().await;
    for (capabilities, words) in [
        (json!({ "secrets": ["a b"] }), "`a b` cannot name a secret"),
        (json!({ "config": [""] }), "`` cannot name a secret or a setting"),
        (json!({ "hosts": ["https://example.com"] }), "`https://example.com` cannot name a host"),
        (json!({ "skills": ["No"] }), "`No` cannot name a function"),
        (json!({ "secrets": vec!["A"; 101] }), "asks for 101; the most is 100"),
    ] {
        let (status, answer) = server.try_deploy("a.wat", asking(capabilities.clone()), "&name=a").await;
        assert_eq!(status, 422, "{capabilities}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{answer}");
    }
}

#[tokio::test]
async fn describe_reaches_nothing_whatever_was_granted() {
    let server = TestServer::with_reach().await;
    let again = server.deploy("reach.wasm", fixture("reach.wasm"), "&name=reach&visibility=public").await;
    assert_eq!(again["created"], false, "the same code with the same grants: {again}");
    // A guest that asks for a secret in `describe` is told what any ungranted one is.
    let (status, tasks) = server.api(reqwest::Method::GET, "/tenants/acme/tasks", &server.read, None).await;
    assert_eq!((status, &tasks["tasks"]), (200, &json!([])), "describing is no task and makes none");
}
