//! `nosniff` on every answer: a browser takes nothing that a function or a stranger wrote for another type than it says.

use reqwest::Method;
use serde_json::json;

use super::serving::Serving;
use crate::harness::TestServer;

fn check(answer: &reqwest::Response, status: u16) {
    assert_eq!(answer.status(), status, "{}", answer.url());
    let all: Vec<_> = answer.headers().get_all("x-content-type-options").iter().collect();
    assert_eq!(all, ["nosniff"], "{}", answer.url());
}

#[tokio::test]
async fn answers_and_refusals_of_every_protocol_carry_nosniff() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let (url, tenant) = (&server.url, server.tenant_url());
    for (method, path, status) in [
        (Method::GET, format!("{url}/"), 200),
        (Method::GET, format!("{url}/healthz"), 200),
        (Method::GET, format!("{url}/readyz"), 200),
        (Method::GET, format!("{url}/metrics"), 401),
        (Method::GET, format!("{url}/api/v1/openapi.json"), 200),
        (Method::GET, format!("{url}/api/v1/tenants"), 401),
        (Method::GET, format!("{url}/api/v1/nothing"), 404),
        (Method::POST, format!("{url}/mcp"), 401),
        (Method::GET, format!("{url}/t/nobody/"), 404),
        (Method::GET, format!("{tenant}/"), 200),
        (Method::GET, format!("{tenant}/.well-known/agent-card.json"), 200),
        (Method::GET, format!("{tenant}/.well-known/jwks.json"), 200),
        (Method::DELETE, format!("{tenant}/echo"), 405),
        (Method::POST, format!("{tenant}/echo"), 415),
        (Method::GET, format!("{tenant}/_a2a/rest/tasks"), 200),
    ] {
        check(&server.client.request(method, path).send().await.unwrap(), status);
    }
    let metrics = server.client.get(format!("{url}/metrics")).bearer_auth(&server.operator);
    check(&metrics.send().await.unwrap(), 200);
    let unknown = server.client.get(url).header("host", "elsewhere.example");
    check(&unknown.send().await.unwrap(), 421);
    let stream = server.client.post(format!("{tenant}/echo")).header("accept", "text/event-stream");
    check(&stream.json(&json!({ "n": 1 })).send().await.unwrap(), 200);
    check(&server.rpc_response("", "tasks/send", json!({ "skill": "echo", "message": 1 })).await, 200);
    check(&server.rpc_response("plt_wrong", "tasks/send", json!({})).await, 401);
}

#[tokio::test]
async fn probes_at_the_second_address_carry_nosniff() {
    let node = Serving::start("[metrics]\nlisten = \"127.0.0.1:0\"\n", &[]).await;
    let probes = node.probes.clone().expect("a second address");
    for (path, status) in [("healthz", 200), ("readyz", 200), ("metrics", 200), ("elsewhere", 404)] {
        check(&reqwest::get(format!("{probes}/{path}")).await.unwrap(), status);
    }
}
