//! Holds the table against the routes that are really served, and against what they really answer.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::Value;

use super::Neighbours;
use super::table::{ROWS, Row, Sent};
use crate::harness::fixture;

type Place = (String, String, String);

#[test]
fn every_route_has_its_rows_and_every_row_its_route() {
    let served: BTreeSet<Place> = pleat_gateway::routes::all()
        .into_iter()
        .map(|route| (route.site.to_owned(), route.method, route.path))
        .collect();
    let rows: BTreeSet<Place> =
        ROWS.iter().map(|row| (row.site.to_owned(), row.method.to_owned(), row.path.to_owned())).collect();
    let without_row: Vec<_> = served.difference(&rows).collect();
    let without_route: Vec<_> = rows.difference(&served).collect();
    assert!(without_row.is_empty(), "routes without an isolation row: {without_row:?}");
    assert!(without_route.is_empty(), "isolation rows without a route: {without_route:?}");
    let names_a_task = |row: &&Row| row.path.contains("/tasks/{id}");
    let forgotten: Vec<_> =
        ROWS.iter().filter(names_a_task).filter(|row| row.wrong_caller.is_none()).map(|row| row.path).collect();
    assert!(forgotten.is_empty(), "rows that name a task and no wrong caller: {forgotten:?}");
}

#[tokio::test]
async fn whoever_may_not_is_refused_on_every_route_and_whoever_may_is_not() {
    let neighbours = Neighbours::start().await;
    let mut wrong = Vec::new();
    for row in ROWS {
        for (who, key, expected) in refused(&neighbours, row) {
            check(&neighbours, row, who, key, expected, &mut wrong).await;
        }
    }
    // After all the refusals, so that a refusal that did something after all would be seen here; deletions last.
    let (deletions, others): (Vec<&Row>, Vec<&Row>) = ROWS.iter().partition(|row| row.method == "DELETE");
    for row in others.into_iter().chain(deletions) {
        let key = key(&neighbours, row.right.0);
        check(&neighbours, row, "the right one", key, row.right.1, &mut wrong).await;
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn refused<'a>(neighbours: &'a Neighbours, row: &'a Row) -> Vec<(&'static str, &'a str, &'a str)> {
    let mut all = vec![
        ("nobody", "", row.nobody),
        ("the wrong tenant", neighbours.other.as_str(), row.wrong_tenant),
        ("the wrong scope", key(neighbours, row.wrong_scope.0), row.wrong_scope.1),
    ];
    if row.right.0 != "operator" {
        all.push(("the operator", &neighbours.server.operator, row.wrong_tenant));
    }
    all.extend(row.wrong_caller.map(|expected| ("the wrong caller", neighbours.stranger.as_str(), expected)));
    all
}

pub fn key<'a>(neighbours: &'a Neighbours, name: &str) -> &'a str {
    let server = &neighbours.server;
    match name {
        "operator" => &server.operator,
        "admin" => &server.admin,
        "deploy" => &server.deploy,
        "invoke" => &server.invoke,
        "read" => &server.read,
        other => panic!("there is no key `{other}`"),
    }
}

async fn check(neighbours: &Neighbours, row: &Row, who: &str, key: &str, expected: &str, wrong: &mut Vec<String>) {
    let (answer, body) = ask(neighbours, row, key).await;
    if answer != expected {
        let Row { site, method, path, .. } = row;
        wrong.push(format!("{site} {method} {path} as {who}: {answer}, not {expected}: {body}"));
    }
}

async fn ask(neighbours: &Neighbours, row: &Row, key: &str) -> (String, String) {
    ask_as(neighbours, row, key, "isolation").await
}

pub async fn ask_as(neighbours: &Neighbours, row: &Row, key: &str, request_id: &str) -> (String, String) {
    let server = &neighbours.server;
    let base = if row.site == "tenant" { server.tenant_url() } else { server.url.clone() };
    let path = row
        .path
        .replace("{tenant}", "acme")
        .replace("{function}", "private")
        .replace("{name}", "private")
        .replace("{push}", "default")
        .replace("{config}", "default");
    let id = match () {
        () if path.ends_with("/rotate") => &neighbours.operator_keys[0],
        () if path.contains("/operator-keys/") => &neighbours.operator_keys[1],
        () if path.contains("/keys/") => &neighbours.stranger_id,
        () if path.contains("/issuers/") => &neighbours.issuer,
        () if path.contains(":cancel") => &neighbours.waiting,
        () if path.contains("/card-keys/") => &neighbours.card_key,
        () if path.contains("/cancel") => &neighbours.running,
        () => &neighbours.finished,
    };
    let url = format!("{base}{}{}", path.replace("{id}", id), row.query);
    let mut request = server.client.request(Method::from_bytes(row.method.as_bytes()).unwrap(), url);
    request = request.header("x-request-id", request_id);
    if !key.is_empty() {
        request = request.bearer_auth(key);
    }
    request = match row.sent {
        Sent::Nothing => request,
        Sent::Json(body) => {
            request.header("content-type", "application/json").body(body.replace("{task}", &neighbours.finished))
        }
        Sent::File => request.body(fixture("minimal.wat")),
    };
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let body = response.text().await.unwrap();
    let code = serde_json::from_str::<Value>(&body).ok().map(|body| body["error"]["code"].clone());
    let answer = match code {
        Some(Value::String(code)) => format!("{status} {code}"),
        Some(Value::Number(code)) => format!("{status} {code}"),
        _ => status.to_string(),
    };
    (answer, body)
}
