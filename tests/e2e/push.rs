//! Push notifications: receivers of the outside world, here on this machine, and what they hear.

mod budgets;
mod delivery;
mod dialects;
mod once;
mod receiver;
mod refusals;
mod retries;
mod revoked;
mod tenant_view;

use std::time::Duration;

use pleat_engine::EngineConfig;
use serde_json::{Value, json};

use crate::harness::TestServer;
pub use receiver::{Answer, Heard, Receiver};

/// A platform that may tell receivers on this machine, and does not wait long between attempts.
pub async fn platform() -> TestServer {
    platform_with(|_| {}).await
}

async fn platform_with(change: impl FnOnce(&mut EngineConfig)) -> TestServer {
    let adjust = |config: &mut EngineConfig| {
        config.egress.allow = vec!["127.0.0.1:*".parse().unwrap()];
        config.push.first_pause = Duration::from_millis(20);
        change(config);
    };
    let server = TestServer::start_with(adjust, |_| {}).await;
    server.deploy_probe().await;
    server
}

/// A send with a receiver.
fn told(input: Value, url: &str) -> Value {
    json!({ "skill": "probe", "message": input, "pushNotification": { "url": url } })
}

async fn send(server: &TestServer, params: Value) -> String {
    let (_, answer) = server.rpc_as(&server.invoke, "tasks/send", params).await;
    answer["result"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

async fn set(server: &TestServer, key: &str, task: &str, config: Value) -> Value {
    let params = json!({ "id": task, "pushNotificationConfig": config });
    server.rpc_as(key, "tasks/pushNotification/set", params).await.1
}

/// The tenant's delivery log of a task, oldest event first.
async fn log(server: &TestServer, task: &str) -> Vec<Value> {
    let path = format!("/tenants/acme/deliveries?task={task}");
    let (status, page) = server.api(reqwest::Method::GET, &path, &server.read, None).await;
    assert_eq!(status, 200, "{page}");
    let mut all = page["deliveries"].as_array().unwrap().clone();
    all.sort_by_key(|one| one["event"].as_u64());
    all
}

/// Asks until the answer is the one that is waited for.
async fn until<T>(what: &str, ask: impl AsyncFn() -> Option<T>) -> T {
    let patience = std::time::Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = ask().await {
            return found;
        }
        assert!(std::time::Instant::now() < patience, "{what} does not come");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn logged(server: &TestServer, task: &str, state: &str) -> Value {
    until(state, async || log(server, task).await.into_iter().find(|one| one["state"] == state)).await
}

/// The one configuration of a task, as the tenant sees it.
async fn shown(server: &TestServer, task: &str) -> Value {
    let path = format!("/tenants/acme/pushes?task={task}");
    let (status, mut page) = server.api(reqwest::Method::GET, &path, &server.read, None).await;
    assert_eq!(status, 200, "{page}");
    page["pushes"][0].take()
}
