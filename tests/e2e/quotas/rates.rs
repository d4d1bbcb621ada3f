//! Requests per minute: of a tenant, of a key, of callers without one.

use std::time::{Duration, Instant};

use pleat_domain::Plan;
use pleat_domain::key::ApiKey;
use reqwest::Method;
use serde_json::json;

use super::{FREE, Refusal, call, echo, limited, most, narrow_key, neighbour, until_refused, until_served};

const SLOW: Plan = Plan { requests_per_minute: most(60), request_burst: Some(5), ..FREE };

#[tokio::test]
async fn a_tenant_that_asks_too_often_is_told_so_at_every_door_and_nobody_else_is() {
    let server = limited(SLOW).await;
    server.deploy_probe().await;
    let other = neighbour(&server).await;

    let ask = async || call(&server, "acme", &server.invoke, "probe", &echo(1)).await;
    let refusal = until_refused(ask).await;
    refusal.is_limit("requests_per_minute", 60, 1);
    assert_eq!(refusal.code, "limit_reached");

    let over_a2a = until_refused(async || {
        server.rpc_response(&server.invoke, "tasks/send", json!({ "skill": "probe", "message": echo(1) })).await
    });
    let refusal = over_a2a.await;
    refusal.is_limit("requests_per_minute", 60, 1);
    assert_eq!(refusal.code, -32051);

    let control = format!("{}/api/v1/tenants/acme/functions", server.url);
    let refusal =
        until_refused(async || server.client.get(&control).bearer_auth(&server.read).send().await.unwrap()).await;
    refusal.is_limit("requests_per_minute", 60, 1);
    assert_eq!(refusal.code, "limit_reached");

    for _ in 0..20 {
        assert_eq!(call(&server, "other", &other, "probe", &echo(1)).await.status(), 200);
    }
    // What is not the tenant's own work is not counted.
    for _ in 0..20 {
        let card = format!("{}/.well-known/agent-card.json", server.tenant_url());
        assert_eq!(server.client.get(card).send().await.unwrap().status(), 200);
        assert_eq!(server.client.get(format!("{}/healthz", server.url)).send().await.unwrap().status(), 200);
    }
    until_served(ask).await;
}

#[tokio::test]
async fn a_refused_request_leaves_no_task() {
    let server = limited(SLOW).await;
    server.deploy_probe().await;
    let refusal = until_refused(async || call(&server, "acme", &server.invoke, "probe", &echo(1)).await).await;
    assert_eq!(refusal.status, 429);
    let count = async || {
        let path = "/tenants/acme/tasks?limit=100";
        loop {
            let (status, page) = server.api(Method::GET, path, &server.read, None).await;
            if status == 200 {
                return page["tasks"].as_array().unwrap().len();
            }
        }
    };
    let mut served = count().await;
    for _ in 0..10 {
        let response = call(&server, "acme", &server.invoke, "probe", &echo(1)).await;
        served += usize::from(response.status() == 200);
    }
    assert_eq!(count().await, served);
}

#[tokio::test]
async fn a_keys_own_rate_holds_back_that_key_alone() {
    let server = limited(FREE).await;
    server.deploy_probe().await;
    let narrow = narrow_key(&server, json!({ "requestsPerMinute": 60 })).await;
    let ask = async || call(&server, "acme", &narrow, "probe", &echo(1)).await;
    until_refused(ask).await.is_limit("key_requests_per_minute", 60, 1);
    assert_eq!(call(&server, "acme", &server.invoke, "probe", &echo(1)).await.status(), 200);
    assert_eq!(call(&server, "acme", "", "probe", &echo(1)).await.status(), 200);
    until_served(ask).await;
}

#[tokio::test]
async fn callers_without_a_key_have_a_part_of_their_own() {
    let plan = Plan { anonymous_requests_per_minute: most(60), request_burst: Some(5), ..FREE };
    let server = limited(plan).await;
    server.deploy_probe().await;
    let ask = async || call(&server, "acme", "", "probe", &echo(1)).await;
    until_refused(ask).await.is_limit("anonymous_requests_per_minute", 60, 1);
    for _ in 0..20 {
        assert_eq!(call(&server, "acme", &server.invoke, "probe", &echo(1)).await.status(), 200);
    }
    until_served(ask).await;
}

#[tokio::test]
async fn made_up_keys_and_tokens_have_a_rate_of_their_own() {
    let plan = Plan { anonymous_requests_per_minute: most(60), request_burst: Some(5), ..FREE };
    let server = limited(plan).await;
    server.deploy_probe().await;
    let ask = async |key: &str| call(&server, "acme", key, "probe", &echo(1)).await;
    assert_eq!(ask(&server.invoke).await.status(), 200);
    let made_up = |number: u8| ApiKey::from_entropy(&[number; 64]).reveal();
    let mut refused = Vec::new();
    for number in 0..8 {
        refused.push(Refusal::of(ask(&made_up(number)).await).await);
    }
    assert_eq!(refused[0].status, 401, "{refused:?}");
    refused.last().unwrap().is_limit("unproven_requests_per_minute", 60, 1);
    let token = "eyJhbGciOiJFZERTQSJ9.e30.AAAA";
    until_limited(async || ask(token).await).await.is_limit("unproven_requests_per_minute", 60, 1);
    // Callers without a key have their own part, and who was here before is looked up again meanwhile: that a key was
    // found is remembered for less than this.
    assert_eq!(ask("").await.status(), 200);
    let began = Instant::now();
    for number in (8..=u8::MAX).cycle().take_while(|_| began.elapsed() < Duration::from_secs(2)) {
        assert_ne!(ask(&made_up(number)).await.status(), 200);
        assert_eq!(ask(&server.invoke).await.status(), 200);
    }
}

/// Asks until it is told to wait.
async fn until_limited(ask: impl AsyncFn() -> reqwest::Response) -> Refusal {
    for _ in 0..20 {
        let refusal = Refusal::of(ask().await).await;
        if refusal.status == 429 {
            return refusal;
        }
    }
    panic!("nothing was refused");
}

#[tokio::test]
async fn a_limited_key_makes_no_wider_one() {
    let server = limited(FREE).await;
    let wish = json!({ "scopes": ["admin"], "requestsPerMinute": 600, "concurrentTasks": 3 });
    let (_, made) = server.api(Method::POST, "/tenants/acme/keys", &server.admin, Some(wish)).await;
    let admin = made["key"].as_str().unwrap();
    let wish = json!({ "scopes": ["admin"], "requestsPerMinute": 6_000 });
    let (status, made) = server.api(Method::POST, "/tenants/acme/keys", admin, Some(wish)).await;
    assert_eq!((status, &made["requestsPerMinute"], &made["concurrentTasks"]), (201, &json!(600), &json!(3)), "{made}");
    let (_, all) = server.api(Method::GET, "/tenants/acme/keys", &server.admin, None).await;
    let last = all["keys"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["requestsPerMinute"], &last["concurrentTasks"]), (&json!(600), &json!(3)), "{all}");
    for wrong in [json!(0), json!(-1), json!("many"), json!(1.5)] {
        let wish = json!({ "scopes": ["read"], "requestsPerMinute": wrong });
        let (status, _) = server.api(Method::POST, "/tenants/acme/keys", &server.admin, Some(wish)).await;
        assert_eq!(status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn another_plan_takes_effect_at_once() {
    let server = limited(SLOW).await;
    server.deploy_probe().await;
    let ask = async || call(&server, "acme", &server.invoke, "probe", &echo(1)).await;
    until_refused(ask).await.is_limit("requests_per_minute", 60, 1);
    let set = async |plan: &str| {
        server.api(Method::PUT, "/tenants/acme/plan", &server.operator, Some(json!({ "plan": plan }))).await
    };
    let (status, shown) = set("unlimited").await;
    assert_eq!((status, &shown["plan"]), (200, &json!("unlimited")), "{shown}");
    for _ in 0..20 {
        assert_eq!(ask().await.status(), 200);
    }
    let (status, refused) = set("golden").await;
    assert_eq!(status, 400);
    let text = "there is no plan `golden`; there are small, standard, unlimited";
    assert_eq!(refused["error"]["message"], text);
    let missing = json!({ "plan": "small" });
    let (status, _) = server.api(Method::PUT, "/tenants/nobody/plan", &server.operator, Some(missing)).await;
    assert_eq!(status, 404);
    let again = Refusal::of(ask().await).await;
    assert_eq!(again.status, 200);
}
