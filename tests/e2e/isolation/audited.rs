//! Every changing route of the control API is in the audit log: what was done, and what was denied.

use reqwest::Method;
use serde_json::Value;

use super::Neighbours;
use super::routes::{ask_as, key};
use super::table::{ROWS, Row};

/// Calls, which have a task as their record, and what changes nothing.
const NOT_AUDITED: [&str; 3] = [
    "/api/v1/tenants/{tenant}/pipelines/{name}/runs",
    "/api/v1/tenants/{tenant}/tasks/{id}/replay",
    "/api/v1/tenants/{tenant}/guard/replay",
];

async fn recorded(neighbours: &Neighbours, request_id: &str, outcome: &str) -> Vec<Value> {
    let server = &neighbours.server;
    let (status, log) = server.api(Method::GET, "/audit?limit=100", &server.operator, None).await;
    assert_eq!(status, 200, "{log}");
    let mut entries = log["entries"].as_array().unwrap().clone();
    entries.retain(|entry| entry["client"]["requestId"] == request_id && entry["outcome"] == outcome);
    entries
}

/// Routes come from the OpenAPI document: `isolation::routes` fails for one that has no row.
#[tokio::test]
async fn every_changing_route_is_recorded_when_it_is_done_and_when_it_is_denied() {
    let neighbours = Neighbours::start().await;
    let changing = |row: &&Row| row.site == "control" && row.path.starts_with("/api/") && row.method != "GET";
    let rows = ROWS.iter().filter(changing).filter(|row| !NOT_AUDITED.contains(&row.path));
    let (deletions, others): (Vec<&Row>, Vec<&Row>) = rows.partition(|row| row.method == "DELETE");
    // So that there is a receiver to try again.
    let set_push =
        ROWS.iter().find(|row| row.method == "POST" && row.path.ends_with("pushNotificationConfigs")).unwrap();
    let (answer, body) = ask_as(&neighbours, set_push, key(&neighbours, set_push.right.0), "push").await;
    assert!(answer.starts_with('2'), "{answer} {body}");
    let mut missing = Vec::new();
    for (number, row) in others.iter().chain(&deletions).enumerate() {
        let place = format!("{} {}", row.method, row.path);
        let denied = format!("denied-{number}");
        ask_as(&neighbours, row, key(&neighbours, row.wrong_scope.0), &denied).await;
        let refused = recorded(&neighbours, &denied, "denied").await;
        if refused.is_empty() {
            missing.push(format!("{place} denied"));
        }
        // What is active already is not activated, and what is archived is not archived: nothing to record.
        let before = match (row.method, row.path) {
            (_, path) if path.ends_with("/activate") => Some("/archive"),
            ("DELETE", path) if path.ends_with("/pipelines/{name}") => Some("/activate"),
            _ => None,
        };
        if let Some(before) = before.and_then(|end| ROWS.iter().find(|row| row.path.ends_with(end))) {
            ask_as(&neighbours, before, &neighbours.server.deploy, "before").await;
        }
        let done = format!("done-{number}");
        let (answer, body) = ask_as(&neighbours, row, key(&neighbours, row.right.0), &done).await;
        assert!(answer.starts_with('2'), "{place}: {answer} {body}");
        let entries = recorded(&neighbours, &done, "done").await;
        if entries.is_empty() {
            missing.push(format!("{place} done"));
        }
        let known = |entry: &Value| refused.iter().any(|refused| refused["action"] == entry["action"]);
        assert!(entries.is_empty() || entries.iter().any(known), "{place}: denied as another action than {entries:?}");
        for entry in entries {
            assert_eq!(entry["client"]["address"], "127.0.0.1", "{entry}");
            assert!(!entry["actor"]["id"].as_str().unwrap().is_empty(), "{entry}");
        }
    }
    assert!(missing.is_empty(), "not in the audit log:\n{}", missing.join("\n"));
}
