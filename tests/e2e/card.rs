//! The agent card: what it says and to whom, its signatures, its keys, and the command that checks cards.

mod addresses;
mod caching;
mod content;
mod extended;
mod first_call;
mod keys;
mod shapes;
mod signatures;
mod verify;

use reqwest::Response;
use serde_json::Value;

use crate::harness::{TestServer, answering, read};

const PATHS: [&str; 2] = ["/.well-known/agent.json", "/.well-known/agent-card.json"];

async fn fetch(server: &TestServer) -> Response {
    server.client.get(format!("{}{}", server.tenant_url(), PATHS[1])).send().await.unwrap()
}

/// As a client that sends this version gets it; none for an empty one.
async fn card_for(server: &TestServer, version: &str) -> Value {
    let mut request = server.client.get(format!("{}{}", server.tenant_url(), PATHS[1]));
    if !version.is_empty() {
        request = request.header("a2a-version", version);
    }
    let (status, card) = read(request.send().await.unwrap()).await;
    assert_eq!(status, 200, "{card}");
    card
}

async fn card(server: &TestServer) -> Value {
    card_for(server, "").await
}

async fn deploy(server: &TestServer, name: &str, visibility: &str, manifest: Value) {
    let query = format!("&name={name}&visibility={visibility}");
    server.deploy("guest.wat", answering(&manifest, "1"), &query).await;
}

fn skills(card: &Value) -> Vec<(&str, &str)> {
    let text = |skill: &'_ Value, name: &str| skill[name].as_str().unwrap().to_owned();
    let skills = card["skills"].as_array().unwrap();
    skills.iter().for_each(|skill| assert_eq!(text(skill, "id"), text(skill, "name")));
    skills.iter().map(|skill| (skill["id"].as_str().unwrap(), skill["description"].as_str().unwrap())).collect()
}

/// Without what differs from run to run: the address, and the signatures, which have tests of their own.
fn redacted(card: &Value, base_url: &str) -> Value {
    let mut card = card.clone();
    let signatures = card["signatures"].as_array().unwrap().len();
    card["signatures"] = Value::from(format!("{signatures} signature(s)"));
    if base_url.is_empty() {
        return card;
    }
    serde_json::from_str(&card.to_string().replace(base_url, "[base]")).unwrap()
}
