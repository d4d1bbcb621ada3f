//! Tenants that each have something of every kind, and a treasure in all of it.

use futures::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Stream, fixture};
use crate::node::{Node, Tenant};

/// One tenant and what it has. The tasks are of `caller`; `stranger` is another caller of the same tenant.
pub struct House {
    pub tenant: Tenant,
    pub caller: String,
    pub stranger: String,
    pub stranger_id: String,
    /// In results, inputs, logs and descriptions of this tenant, and nowhere else.
    pub treasure: String,
    /// A function that no other tenant has.
    pub vault: String,
    pub finished: String,
    pub waiting: String,
    pub running: String,
    /// The name that the caller gave to a task.
    pub alias: String,
    pub context: String,
    pub cursor: String,
    /// The name of a secret, and of a setting, that have the treasure as their value.
    pub setting: String,
    /// Keeps the running task's stream open.
    _stream: Stream,
}

pub async fn furnish(node: &Node, count: usize) -> Vec<House> {
    let houses = futures::stream::iter(0..count).map(|index| house(node, index));
    houses.buffered(4).collect().await
}

async fn house(node: &Node, index: usize) -> House {
    let slug = format!("house{index:03}");
    let tenant = node.tenant(&slug).await;
    let treasure = format!("treasure-of-{}", uuid::Uuid::now_v7().simple());
    let (caller, _) = node.caller(&tenant).await;
    let (stranger, stranger_id) = node.caller(&tenant).await;
    let vault = format!("vault{index:03}");
    node.deploy(&tenant, &vault, "minimal.wat", fixture("minimal.wat")).await;
    node.deploy(&tenant, "probe", "probe.wasm", fixture("probe.wasm")).await;
    let (context, alias) = (format!("context-{slug}"), format!("order-{slug}"));
    let send = async |input: Value, alias: Option<&str>| {
        let params = json!({ "skill": "probe", "sessionId": context, "message": input, "id": alias });
        let answer = node.rpc(&slug, &caller, "tasks/send", params).await;
        answer["result"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    send(json!({ "do": "log", "message": treasure }), None).await;
    let finished = send(json!({ "do": "echo", "value": treasure }), None).await;
    let waiting = send(json!({ "do": "need_input", "prompt": treasure }), None).await;
    send(json!({ "do": "echo", "value": treasure }), Some(&alias)).await;
    let setting = format!("{}_NAME", slug.to_ascii_uppercase());
    for kind in ["secrets", "settings"] {
        let path = format!("/tenants/{slug}/{kind}/{setting}");
        let (status, body) = node.api(Method::PUT, &path, &tenant.key, Some(json!({ "value": treasure }))).await;
        assert_eq!(status, 204, "{body}");
    }
    let (running, stream) = running(node, &slug, &caller).await;
    let (_, page) = node.api(Method::GET, &format!("/tenants/{slug}/tasks?limit=1"), &tenant.key, None).await;
    let cursor = page["nextCursor"].as_str().expect("there are more tasks than one").to_owned();
    House {
        tenant,
        caller,
        stranger,
        stranger_id,
        treasure,
        vault,
        finished,
        waiting,
        running,
        alias,
        context,
        cursor,
        setting,
        _stream: stream,
    }
}

async fn running(node: &Node, slug: &str, caller: &str) -> (String, Stream) {
    let params = json!({ "skill": "probe", "message": { "do": "sleep", "ms": 29_000 } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/sendSubscribe", "params": params });
    let url = format!("http://{}/t/{slug}/_a2a/", node.address);
    let mut stream = Stream::of(node.client.post(url).bearer_auth(caller).json(&body).send().await.expect("a stream"));
    let first = stream.next().await.expect("a first event");
    (first.data["result"]["id"].as_str().unwrap_or_else(|| panic!("{first:?}")).to_owned(), stream)
}

/// What its owner no longer has as it was.
pub async fn lost(node: &Node, houses: &[House]) -> Vec<String> {
    let mut lost = Vec::new();
    for house in houses {
        let slug = &house.tenant.slug;
        let state = async |id: &str| {
            let answer = node.rpc(slug, &house.caller, "tasks/get", json!({ "id": id })).await;
            answer["result"]["status"]["state"].as_str().unwrap_or("gone").to_owned()
        };
        for (id, expected) in
            [(&house.finished, "completed"), (&house.alias, "completed"), (&house.waiting, "input-required")]
        {
            let state = state(id).await;
            if state != expected {
                lost.push(format!("{slug}: {id} is {state}"));
            }
        }
        // It has ended by itself, or still runs; nobody else has canceled it.
        let running = state(&house.running).await;
        if !matches!(running.as_str(), "working" | "completed") {
            lost.push(format!("{slug}: the running task is {running}"));
        }
        let (status, _) =
            node.api(Method::GET, &format!("/tenants/{slug}/functions/{}", house.vault), &house.tenant.key, None).await;
        if status != 200 {
            lost.push(format!("{slug}: {} answers {status}", house.vault));
        }
        for kind in ["secrets", "settings"] {
            let (_, page) = node.api(Method::GET, &format!("/tenants/{slug}/{kind}"), &house.tenant.key, None).await;
            if !page.to_string().contains(&house.setting) {
                lost.push(format!("{slug}: {kind} are {page}"));
            }
        }
        let (status, _) = node.api(Method::GET, "/whoami", &house.stranger, None).await;
        if status != 200 {
            lost.push(format!("{slug}: a key was revoked"));
        }
    }
    lost
}
