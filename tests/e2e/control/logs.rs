//! What functions log, for who reads the tenant.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::refused;
use crate::harness::{TestServer, fixture};

const LOGS: &str = "/tenants/acme/logs";

async fn say(server: &TestServer, skill: &str, message: &str) -> String {
    let call = json!({ "skill": skill, "message": { "do": "log", "message": message } });
    let (_, answer) = server.rpc_as(&server.invoke, "tasks/send", call).await;
    answer["result"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn messages(page: &Value) -> Vec<&str> {
    page["entries"].as_array().unwrap().iter().map(|entry| entry["message"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn lines_are_listed_oldest_first_with_where_they_come_from() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    server.deploy("probe.wasm", fixture("probe.wasm"), "&name=second").await;
    let first = say(&server, "probe", "one").await;
    say(&server, "second", "two").await;
    say(&server, "probe", "three").await;
    let page = server.get(LOGS).await;
    assert_eq!(messages(&page), ["one", "two", "three"]);
    let entry = &page["entries"][0];
    assert_eq!((&entry["task"], &entry["skill"], &entry["version"]), (&json!(first), &json!("probe"), &json!(1)));
    assert_eq!(entry["level"], "warn", "{entry}");
    assert_eq!(messages(&server.get(&format!("{LOGS}?skill=second")).await), ["two"]);
    assert_eq!(messages(&server.get(&format!("{LOGS}?task={first}")).await), ["one"]);
    assert_eq!(messages(&server.get(&format!("{LOGS}?limit=1")).await), ["three"], "the newest that fit");
    assert_eq!(messages(&server.get(&format!("{LOGS}?skill=nothing")).await), [""; 0]);
}

#[tokio::test]
async fn who_follows_with_the_cursor_misses_nothing() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let empty = server.get(LOGS).await;
    assert_eq!((&empty["entries"], &empty["cursor"]), (&json!([]), &Value::Null));
    let mut seen = BTreeSet::new();
    let mut query = String::new();
    for round in 0..6 {
        say(&server, "probe", &format!("line {round}")).await;
        let page = server.get(&format!("{LOGS}{query}")).await;
        for entry in page["entries"].as_array().unwrap() {
            seen.insert(format!("{} {} {}", entry["task"], entry["record"], entry["message"]));
        }
        query = format!("?after={}", page["cursor"].as_str().expect("a place to go on from"));
    }
    assert_eq!(seen.len(), 6, "{seen:?}");
    let quiet = server.get(&format!("{LOGS}?after=32503680000000000")).await;
    assert_eq!((&quiet["entries"], &quiet["cursor"]), (&json!([]), &json!("32503680000000000")));
}

#[tokio::test]
async fn questions_about_logs_are_read_strictly() {
    let server = TestServer::start().await;
    let queries = [
        "limit=0",
        "limit=1001",
        "limit=ten",
        "limit=1&limit=2",
        "after=yesterday",
        "after=",
        "after=-1",
        "after=-377705116800000000",
        "after=99999999999999999999999999999999999999999",
        "task=1",
        "skill=No",
        "level=warn",
    ];
    for query in queries {
        let answer = server.refusal(Method::GET, &format!("{LOGS}?{query}"), &server.read, None).await;
        assert_eq!(answer, refused(400, "invalid"), "{query}");
    }
}
