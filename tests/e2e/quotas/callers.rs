//! Limits of one caller, a key or a subject of an issuer of tokens: each is crossed, and holds back nobody else.

use std::time::{Duration, Instant};

use pleat_domain::plan::Amount;
use pleat_domain::{Plan, PlanName};
use pleat_store::StoreConfig;
use reqwest::Method;
use serde_json::{Value, json};

use super::{FREE, PATIENCE, Refusal, call, echo, limited, narrow_key, sleeper, stop, until_refused, until_served};
use crate::harness::{TestServer, database, fixture};
use crate::jwt::ISSUERS;
use crate::jwt::signer::{Signer, key_set};

const DAY: u64 = 24 * 60 * 60;

async fn ask(server: &TestServer, key: &str, input: &Value) -> reqwest::Response {
    call(server, "acme", key, "probe", input).await
}

#[tokio::test]
async fn a_keys_cpu_time_of_a_minute_comes_back_with_the_next() {
    let window = |config: &mut pleat_engine::EngineConfig| {
        config.plans.insert(PlanName::standard(), FREE);
        config.cpu_window = Duration::from_secs(3);
    };
    let server = TestServer::start_with(window, |_| {}).await;
    server.deploy_probe().await;
    let narrow = narrow_key(&server, json!({ "cpuMsPerMinute": 5 })).await;
    let work = json!({ "do": "work", "ms": 50 });
    until_refused(async || ask(&server, &narrow, &work).await).await.is_limit("key_cpu_ms_per_minute", 5, 3);
    assert_eq!(ask(&server, &server.invoke, &work).await.status(), 200);
    until_served(async || ask(&server, &narrow, &echo(1)).await).await;
}

#[tokio::test]
async fn a_keys_day_is_known_to_other_nodes_and_after_a_restart() {
    let database = database().await;
    let start = async || {
        let adjust = |config: &mut pleat_engine::EngineConfig| config.plans.insert(PlanName::standard(), FREE);
        TestServer::start_on(StoreConfig::new(database.as_str()), adjust, |_| {}).await
    };
    let server = start().await;
    server.deploy_probe().await;
    let narrow = narrow_key(&server, json!({ "cpuMsPerDay": 40 })).await;
    let work = json!({ "do": "work", "ms": 60 });
    until_refused(async || ask(&server, &narrow, &work).await).await.is_limit("key_cpu_ms_per_day", 40, DAY);
    assert_eq!(ask(&server, &server.invoke, &echo(1)).await.status(), 200);
    // Asking for the usage writes it.
    let (status, _) = server.api(Method::GET, "/tenants/acme/usage", &server.read, None).await;
    assert_eq!(status, 200);
    let other = start().await;
    until_refused(async || ask(&other, &narrow, &echo(1)).await).await.is_limit("key_cpu_ms_per_day", 40, DAY);
}

#[tokio::test]
async fn a_keys_bytes_are_its_inputs_its_results_and_its_uploads() {
    let server = limited(FREE).await;
    server.deploy_probe().await;
    let narrow = narrow_key(&server, json!({ "storedBytesPerDay": 100_000 })).await;
    let large = echo("x".repeat(20_000));
    for _ in 0..2 {
        assert_eq!(ask(&server, &narrow, &large).await.status(), 200, "there is room for two and a half");
    }
    let refusal = until_refused(async || ask(&server, &narrow, &large).await).await;
    refusal.is_limit("key_stored_bytes_per_day", 100_000, DAY);
    assert_eq!(ask(&server, &server.invoke, &large).await.status(), 200);

    let wish = json!({ "scopes": ["deploy"], "storedBytesPerDay": 100 });
    let (_, made) = server.api(Method::POST, "/tenants/acme/keys", &server.admin, Some(wish)).await;
    let deploy = async |name: &str| {
        let url = format!("{}/api/v1/tenants/acme/functions?fileName=minimal.wat&name={name}", server.url);
        let request = server.client.post(url).bearer_auth(made["key"].as_str().unwrap()).body(fixture("minimal.wat"));
        request.send().await.unwrap()
    };
    assert_eq!(deploy("first").await.status(), 201);
    Refusal::of(deploy("second").await).await.is_limit("key_stored_bytes_per_day", 100, DAY);
}

/// An issuer whose subjects have these limits, and a token of each.
async fn subjects(server: &TestServer, limits: Value) -> [String; 2] {
    let key = Signer::edwards("one");
    let mut wish = json!({ "issuer": "backend", "audiences": ["us"], "jwks": key_set(&[&key]), "scopes": ["invoke"] });
    wish.as_object_mut().unwrap().extend(limits.as_object().unwrap().clone());
    let (status, made) = server.api(Method::POST, ISSUERS, &server.admin, Some(wish)).await;
    assert_eq!(status, 201, "{made}");
    for (name, most) in limits.as_object().unwrap() {
        assert_eq!(&made[name], most);
    }
    let end = time::OffsetDateTime::now_utc().unix_timestamp() + 300;
    ["ada", "bob"]
        .map(|name| key.token(&json!({ "iss": "backend", "aud": "us", "sub": name, "exp": end, "scope": "invoke" })))
}

#[tokio::test]
async fn subjects_of_an_issuer_have_limits_of_their_own() {
    let server = limited(Plan { concurrent_tasks: Amount::UNLIMITED, ..FREE }).await;
    server.deploy_probe().await;
    let limits = json!({ "requestsPerMinute": 60, "concurrentTasks": 1, "cpuMsPerDay": 40 });
    let [ada, bob] = subjects(&server, limits).await;
    let (task, _stream) = sleeper(&server, &ada).await;
    Refusal::of(ask(&server, &ada, &echo(1)).await).await.is_limit("key_concurrent_tasks", 1, 1);
    assert_eq!(ask(&server, &bob, &echo(1)).await.status(), 200, "another subject is another caller");
    stop(&server, &task).await;
    until_spent(&server, &ada).await.is_limit("key_cpu_ms_per_day", 40, DAY);
    until_served(async || ask(&server, &bob, &echo(1)).await).await;
    until_refused(async || ask(&server, &bob, &echo(1)).await).await.is_limit("key_requests_per_minute", 60, 1);
    assert_eq!(ask(&server, &server.invoke, &echo(1)).await.status(), 200);
}

/// Works until it is refused for longer than a second, which the caller's rate never says.
async fn until_spent(server: &TestServer, key: &str) -> Refusal {
    let began = Instant::now();
    loop {
        let refusal = Refusal::of(ask(server, key, &json!({ "do": "work", "ms": 60 })).await).await;
        if refusal.retry_after.is_some_and(|seconds| seconds > 1) {
            return refusal;
        }
        assert!(began.elapsed() < PATIENCE, "nothing was used up: {refusal:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
