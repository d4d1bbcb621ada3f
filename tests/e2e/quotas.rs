//! What a tenant, a key and nobody in particular may use: every limit is crossed, says which it is and when to come
//! back, holds nobody else back, and ends.

mod bodies;
mod callers;
mod compiling;
mod day;
mod deployed;
mod doors;
mod memory;
mod rates;
mod running;
mod slots;
mod strangers;
mod streams;
mod usage;

use std::time::{Duration, Instant};

use pleat_domain::plan::Amount;
use pleat_domain::{Plan, PlanName};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::harness::{TestServer, fixture, read};

const PATIENCE: Duration = Duration::from_secs(60);

/// A server whose tenants have this plan, unless they are given `unlimited`.
async fn limited(plan: Plan) -> TestServer {
    TestServer::start_with(|config| config.plans.insert(PlanName::standard(), plan), |_| {}).await
}

/// As much as one likes, but for what a test says otherwise.
const FREE: Plan = Plan::UNLIMITED;

const fn most(amount: u64) -> Amount {
    Amount::Most(amount)
}

/// What a refusal says.
#[derive(Debug)]
struct Refusal {
    status: u16,
    code: Value,
    details: Value,
    retry_after: Option<u64>,
}

impl Refusal {
    async fn of(response: Response) -> Self {
        let header = response.headers().get("retry-after").map(|value| value.to_str().unwrap().parse().unwrap());
        let (status, body) = read(response).await;
        let error = &body["error"];
        let details = error.get("details").or_else(|| error.get("data")).cloned().unwrap_or_default();
        Self { status, code: error["code"].clone(), details, retry_after: header }
    }

    /// 429 with this limit, and a time to wait that its two places agree on.
    fn is_limit(&self, limit: &str, most: u64, longest: u64) {
        assert_eq!(self.status, 429, "{self:?}");
        assert_eq!((&self.details["limit"], &self.details["most"]), (&json!(limit), &json!(most)), "{self:?}");
        let seconds = self.retry_after.unwrap_or_else(|| panic!("no Retry-After: {self:?}"));
        let millis = self.details["retryAfterMs"].as_u64().unwrap();
        assert!((1..=longest).contains(&seconds), "{self:?}");
        assert_eq!(millis.div_ceil(1_000).max(1), seconds, "{self:?}");
    }
}

/// A call of the HTTP door; an empty key is none.
async fn call(server: &TestServer, tenant: &str, key: &str, function: &str, input: &Value) -> Response {
    let mut request = server.client.post(format!("{}/t/{tenant}/{function}", server.url)).json(input);
    if !key.is_empty() {
        request = request.bearer_auth(key);
    }
    request.send().await.unwrap()
}

fn echo(value: impl Into<Value>) -> Value {
    json!({ "do": "echo", "value": value.into() })
}

/// Asks until it is refused.
async fn until_refused(ask: impl AsyncFn() -> Response) -> Refusal {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let response = ask().await;
        if response.status() != 200 {
            return Refusal::of(response).await;
        }
    }
    panic!("nothing was refused");
}

/// Asks until it is served, however long that takes within reason.
async fn until_served(ask: impl AsyncFn() -> Response) {
    let began = Instant::now();
    loop {
        let response = ask().await;
        if response.status() == 200 {
            return;
        }
        let refusal = Refusal::of(response).await;
        assert!(matches!(refusal.status, 429 | 503), "{refusal:?}");
        assert!(began.elapsed() < PATIENCE, "still refused: {refusal:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A tenant without limits beside `acme`, with a public `probe`; its key.
async fn neighbour(server: &TestServer) -> String {
    let wish = json!({ "slug": "other", "plan": "unlimited" });
    let (status, made) = server.api(Method::POST, "/tenants", &server.operator, Some(wish)).await;
    assert_eq!(status, 201, "{made}");
    let key = made["adminKey"].as_str().unwrap().to_owned();
    let path = "/api/v1/tenants/other/functions?fileName=probe.wasm&name=probe&visibility=public";
    let request = server.client.post(format!("{}{path}", server.url)).bearer_auth(&key).body(fixture("probe.wasm"));
    assert_eq!(request.timeout(Duration::from_secs(240)).send().await.unwrap().status(), 201);
    key
}

/// A key of `acme` that may invoke, with limits of its own.
async fn narrow_key(server: &TestServer, limits: Value) -> String {
    let mut wish = json!({ "scopes": ["invoke"], "label": "narrow" });
    wish.as_object_mut().unwrap().extend(limits.as_object().unwrap().clone());
    let (status, key) = server.api(Method::POST, "/tenants/acme/keys", &server.admin, Some(wish)).await;
    assert_eq!(status, 201, "{key}");
    key["key"].as_str().unwrap().to_owned()
}

/// Starts a guest that sleeps; its task and the stream that must be kept.
async fn sleeper(server: &TestServer, key: &str) -> (String, crate::harness::Stream) {
    let params = json!({ "skill": "probe", "message": { "do": "sleep", "ms": 25_000 } });
    let mut stream = server.rpc_stream(key, "tasks/sendSubscribe", params, None).await;
    let first = stream.next().await.expect("a first event");
    let id = first.data["result"]["id"].as_str().unwrap_or_else(|| panic!("{first:?}")).to_owned();
    (id, stream)
}

async fn stop(server: &TestServer, task: &str) {
    let path = format!("/tenants/acme/tasks/{task}/cancel");
    let (status, body) = server.api(Method::POST, &path, &server.admin, None).await;
    assert_eq!(status, 200, "{body}");
}
