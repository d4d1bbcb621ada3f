//! What a token may do: what it says, within what its issuer may say.

use reqwest::Method;
use serde_json::json;

use super::signer::Signer;
use super::{claims, register, serve, status, wish, with};
use crate::harness::TestServer;

async fn api(server: &TestServer, path: &str, token: &str) -> u16 {
    server.api(Method::GET, path, token, None).await.0
}

#[tokio::test]
async fn a_token_may_do_what_both_it_and_its_issuer_say() {
    let key = Signer::edwards("one");
    let server = serve(TestServer::start().await).await;
    register(&server, wish(&[&key], &["invoke", "read"])).await;
    let token = |scope: &str| key.token(&with(&server, "scope", json!(scope)));
    for (scope, call, tasks, keys) in [
        ("invoke", 200, 403, 403),
        ("read", 403, 200, 403),
        ("invoke read", 200, 200, 403),
        ("read invoke deploy admin operator", 200, 200, 403),
        ("admin operator", 403, 403, 403),
        ("Invoke READ", 403, 403, 403),
        ("", 403, 403, 403),
    ] {
        let token = token(scope);
        assert_eq!(status(&server, &token).await, call, "calling with `{scope}`");
        assert_eq!(api(&server, "/tenants/acme/tasks", &token).await, tasks, "tasks with `{scope}`");
        assert_eq!(api(&server, "/tenants/acme/keys", &token).await, keys, "keys with `{scope}`");
    }
    let silent = key.token(&with(&server, "scope", json!(null)));
    assert_eq!(status(&server, &silent).await, 403);
    let (_, refused) = server.http(&token("read"), "echo", json!({})).await;
    assert_eq!(refused["error"]["code"], "forbidden", "{refused}");
}

#[tokio::test]
async fn admin_takes_an_issuer_that_may_give_it() {
    let key = Signer::edwards("one");
    let server = serve(TestServer::start().await).await;
    register(&server, wish(&[&key], &["admin", "read"])).await;
    let token = key.token(&with(&server, "scope", json!("admin read deploy")));
    assert_eq!(api(&server, "/tenants/acme/keys", &token).await, 200);
    // And gives no more than it has.
    for (scopes, expected) in [(json!(["read"]), 201), (json!(["deploy"]), 403), (json!(["operator"]), 403)] {
        let wish = Some(json!({ "scopes": scopes }));
        let (status, body) = server.api(Method::POST, "/tenants/acme/keys", &token, wish).await;
        assert_eq!(status, expected, "{scopes}: {body}");
    }
}

#[tokio::test]
async fn a_token_is_nobody_where_no_tenant_is_named() {
    let key = Signer::edwards("one");
    let server = serve(TestServer::start().await).await;
    register(&server, wish(&[&key], &["invoke", "read", "deploy", "admin"])).await;
    let token = key.token(&with(&server, "scope", json!("invoke read deploy admin operator")));
    for path in ["/whoami", "/tenants"] {
        assert_eq!(api(&server, path, &token).await, 401, "{path}");
    }
    // And in a tenant that is not its own.
    server.other_tenant("other").await;
    assert_eq!(api(&server, "/tenants/other/tasks", &token).await, 401);
    assert_eq!(api(&server, "/tenants/acme/tasks", &token).await, 200);
}

#[tokio::test]
async fn an_issuer_can_have_an_audience_of_its_own() {
    let key = Signer::edwards("one");
    let server = serve(TestServer::start().await).await;
    let mut wish = wish(&[&key], &["invoke"]);
    wish["audiences"] = json!(["my-agent", "my-other-agent"]);
    register(&server, wish).await;
    assert_eq!(status(&server, &key.token(&with(&server, "aud", json!("my-agent")))).await, 200);
    assert_eq!(status(&server, &key.token(&with(&server, "aud", json!("my-other-agent")))).await, 200);
    assert_eq!(status(&server, &key.token(&claims(&server))).await, 401, "the address is no longer one");
}

#[tokio::test]
async fn behind_a_public_url_both_of_a_tenants_addresses_are_audiences() {
    let key = Signer::edwards("one");
    let public =
        |config: &mut pleat_gateway::GatewayConfig| config.public_url = Some("https://pleat.example/".to_owned());
    let server = serve(TestServer::start_with(|_| {}, public).await).await;
    register(&server, wish(&[&key], &["invoke", "read"])).await;
    for audience in ["https://pleat.example/t/acme", "https://acme.pleat.example", "https://acme.pleat.example/_a2a/"] {
        let mut claims = with(&server, "aud", json!(audience));
        claims["scope"] = json!("invoke read");
        let token = key.token(&claims);
        assert_eq!(status(&server, &token).await, 200, "{audience}");
        assert_eq!(api(&server, "/tenants/acme/tasks", &token).await, 200, "{audience}");
    }
    // The address that a request happens to come by is none then.
    assert_eq!(status(&server, &key.token(&claims(&server))).await, 401);
}

#[tokio::test]
async fn without_a_public_url_an_issuer_needs_audiences_and_the_host_decides_nothing() {
    let server = serve(TestServer::start_with(|_| {}, |gateway| gateway.loopback_audiences = false).await).await;
    let key = Signer::edwards("one");
    let (refused, body) =
        server.api(Method::POST, super::ISSUERS, &server.admin, Some(wish(&[&key], &["invoke"]))).await;
    assert_eq!(refused, 400, "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains("server.public_url"), "{body}");
    let mut named = wish(&[&key], &["invoke"]);
    named["audiences"] = json!(["my-agent"]);
    register(&server, named).await;
    assert_eq!(status(&server, &key.token(&claims(&server))).await, 401, "for the address of the request");
    assert_eq!(status(&server, &key.token(&with(&server, "aud", json!("my-agent")))).await, 200);
}

#[tokio::test]
async fn on_ones_own_machine_only_loopback_addresses_are_audiences() {
    let server = serve(TestServer::start().await).await;
    let key = Signer::edwards("one");
    register(&server, wish(&[&key], &["invoke"])).await;
    let call = async |host: &str| {
        let token = key.token(&with(&server, "aud", json!(format!("http://{host}/t/acme"))));
        let request = server.client.post(format!("{}/echo", server.tenant_url())).bearer_auth(token);
        request.header("host", host).json(&json!({ "a": 1 })).send().await.unwrap().status().as_u16()
    };
    assert_eq!((call("localhost:8787").await, call("10.7.0.1").await), (200, 401));
}
