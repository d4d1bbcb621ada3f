//! The agent card: what it says, that it is never stale, and that it costs little to ask again.

use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::harness::{TestServer, answering, read};

const PATHS: [&str; 2] = ["/.well-known/agent.json", "/.well-known/agent-card.json"];

async fn fetch(server: &TestServer) -> Response {
    server.client.get(format!("{}{}", server.tenant_url(), PATHS[1])).send().await.unwrap()
}

async fn card(server: &TestServer) -> Value {
    let (status, card) = read(fetch(server).await).await;
    assert_eq!(status, 200, "{card}");
    card
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

#[tokio::test]
async fn the_card_says_what_is_deployed_and_no_more() {
    let server = TestServer::start().await;
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let weather = json!({
        "title": "Weather", "description": "Look up current weather for a city", "tags": ["weather"],
        "examples": ["Paris", { "city": "Paris" }], "input": schema, "output": { "type": "object" },
    });
    deploy(&server, "weather-lookup", "public", weather).await;
    let numbers = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    deploy(&server, "sum", "public", json!({ "title": "Adds numbers", "input": numbers })).await;
    let modes = json!(["application/json", "text/plain"]);
    let expected = json!({
        "name": "pleat-acme",
        "description": "AI agent powered by Pleat with 2 tool(s)",
        "url": server.tenant_url(),
        "version": "0.1.3",
        "capabilities": { "streaming": true, "pushNotifications": false, "stateTransitionHistory": false },
        "defaultInputModes": modes,
        "defaultOutputModes": modes,
        "skills": [
            {
                "id": "sum", "name": "sum", "description": "Adds numbers", "tags": [],
                "inputModes": ["application/json"], "outputModes": modes, "inputSchema": numbers,
            },
            {
                "id": "weather-lookup", "name": "weather-lookup", "tags": ["weather"],
                "description": "Look up current weather for a city", "examples": ["Paris", "{\"city\":\"Paris\"}"],
                "inputModes": modes, "outputModes": modes, "inputSchema": schema, "outputSchema": { "type": "object" },
            },
        ],
    });
    assert_eq!(card(&server).await, expected);
}

#[tokio::test]
async fn both_paths_give_the_same_bytes_with_their_headers() {
    let server = TestServer::start().await;
    deploy(&server, "one", "public", json!({ "description": "d" })).await;
    let mut bodies = Vec::new();
    for path in PATHS {
        let response = server.client.get(format!("{}{path}", server.tenant_url())).send().await.unwrap();
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("content-type"), "application/json");
        assert_eq!(header("cache-control"), "public, max-age=0, must-revalidate");
        let varies = header("vary").to_ascii_lowercase();
        assert!(varies.contains("host") && varies.contains("a2a-version"), "{varies}");
        let modified = header("last-modified");
        assert!(modified.len() == "Mon, 16 Nov 2026 03:00:00 GMT".len() && modified.ends_with(" GMT"), "{modified}");
        let etag = header("etag");
        assert!(etag.len() > 10 && etag.starts_with('"') && etag.ends_with('"'), "{etag}");
        bodies.push((etag, modified, response.bytes().await.unwrap()));
    }
    assert_eq!(bodies[0], bodies[1]);
}

#[tokio::test]
async fn every_change_is_seen_at_once() {
    let server = TestServer::start().await;
    let mut etags = Vec::new();
    let mut versions = Vec::new();
    let mut see = async |expected: &[(&str, &str)]| {
        let response = fetch(&server).await;
        etags.push(response.headers()["etag"].clone());
        let card: Value = response.json().await.unwrap();
        assert_eq!(skills(&card), expected);
        assert_eq!(card["description"], format!("AI agent powered by Pleat with {} tool(s)", expected.len()));
        versions.push(card["version"].as_str().unwrap().strip_prefix("0.1.").unwrap().parse::<u32>().unwrap());
    };
    see(&[]).await;
    deploy(&server, "one", "public", json!({ "description": "first" })).await;
    see(&[("one", "first")]).await;
    deploy(&server, "two", "public", json!({ "description": "other" })).await;
    see(&[("one", "first"), ("two", "other")]).await;
    deploy(&server, "one", "public", json!({ "description": "second" })).await;
    see(&[("one", "second"), ("two", "other")]).await;
    let (status, body) =
        server.api(Method::POST, "/tenants/acme/functions/one/rollback", &server.deploy, Some(json!({}))).await;
    assert_eq!(status, 200, "{body}");
    see(&[("one", "first"), ("two", "other")]).await;
    let (status, body) = server.api(Method::DELETE, "/tenants/acme/functions/two", &server.deploy, None).await;
    assert_eq!(status, 204, "{body}");
    see(&[("one", "first")]).await;
    assert!(versions.is_sorted_by(|earlier, later| earlier < later), "{versions:?}");
    let count = etags.len();
    etags.sort();
    etags.dedup();
    assert_eq!(etags.len(), count, "every change has another tag");
}

#[tokio::test]
async fn a_deploy_that_fails_changes_nothing() {
    let server = TestServer::start().await;
    deploy(&server, "one", "public", json!({ "description": "first" })).await;
    let before = fetch(&server).await.headers()["etag"].clone();
    let (status, _) = server.try_deploy("one.wat", "(component)", "&visibility=public").await;
    assert_eq!(status, 422);
    let bad_schema = answering(&json!({ "description": "d", "input": { "type": "nonsense" } }), "1");
    assert_eq!(server.try_deploy("one.wat", bad_schema, "").await.0, 422);
    assert_eq!(fetch(&server).await.headers()["etag"], before);
}

#[tokio::test]
async fn an_unchanged_card_costs_a_304() {
    let server = TestServer::start().await;
    deploy(&server, "one", "public", json!({ "description": "first" })).await;
    let first = fetch(&server).await;
    let etag = first.headers()["etag"].to_str().unwrap().to_owned();
    let url = format!("{}{}", server.tenant_url(), PATHS[0]);
    let ask = async |tags: &str| server.client.get(&url).header("if-none-match", tags).send().await.unwrap();
    for known in [etag.clone(), format!("W/{etag}"), format!("\"x\", {etag}"), "*".to_owned()] {
        let response = ask(&known).await;
        assert_eq!(response.status(), 304, "{known}");
        for name in ["etag", "cache-control", "vary", "last-modified"] {
            assert_eq!(response.headers()[name], first.headers()[name], "{name}");
        }
        assert_eq!(response.bytes().await.unwrap().len(), 0);
    }
    for unknown in ["\"x\"", "", etag.trim_matches('"')] {
        assert_eq!(ask(unknown).await.status(), 200, "{unknown}");
    }
    deploy(&server, "one", "public", json!({ "description": "second" })).await;
    let response = ask(&etag).await;
    assert_eq!(response.status(), 200, "the old tag is no longer good");
    assert_ne!(response.headers()["etag"], etag.as_str());
}

#[tokio::test]
async fn unlisted_skills_are_not_on_it_and_keys_are_asked_for_where_needed() {
    let server = TestServer::start().await;
    deploy(&server, "hidden", "unlisted", json!({ "description": "secret" })).await;
    deploy(&server, "open", "public", json!({ "description": "d" })).await;
    let open = card(&server).await;
    assert_eq!(skills(&open), [("open", "d")]);
    assert!(open.get("authentication").is_none(), "{open}");
    let url = format!("{}{}", server.tenant_url(), PATHS[1]);
    for key in [&server.invoke, &server.admin] {
        let (_, with_key) = read(server.client.get(&url).bearer_auth(key).send().await.unwrap()).await;
        assert_eq!(with_key, open, "the card is one for all");
    }
    deploy(&server, "closed", "listed", json!({ "description": "d" })).await;
    let closed = card(&server).await;
    assert_eq!(closed["authentication"], json!({ "schemes": ["bearer"] }));
    assert_eq!(skills(&closed), [("closed", "d"), ("open", "d")]);
}

/// The address on the card is the one it was read at, and it takes requests.
#[tokio::test]
async fn the_address_is_the_one_that_the_reader_used() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let port = server.url.rsplit_once(':').unwrap().1.to_owned();
    for (host, path, expected) in [
        (format!("127.0.0.1:{port}"), "/t/acme", format!("http://127.0.0.1:{port}/t/acme")),
        (format!("localhost:{port}"), "/t/acme", format!("http://localhost:{port}/t/acme")),
        (format!("acme.localhost:{port}"), "", format!("http://acme.localhost:{port}")),
        ("acme.localhost".to_owned(), "", "http://acme.localhost".to_owned()),
    ] {
        for well_known in PATHS {
            let request = server.client.get(format!("{}{path}{well_known}", server.url)).header("host", &host);
            let (_, card) = read(request.header("x-forwarded-host", "evil.example").send().await.unwrap()).await;
            assert_eq!(card["url"], expected, "{host}");
        }
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/send", "params": { "message": "hi" } });
    let url = card(&server).await["url"].as_str().unwrap().to_owned();
    let (_, answer) = read(server.client.post(url).json(&body).send().await.unwrap()).await;
    assert_eq!(answer["result"]["artifacts"][0]["parts"][0]["text"], "hi");
}

#[tokio::test]
async fn behind_a_proxy_the_address_is_the_configured_one() {
    let server = TestServer::start_with(
        |_| {},
        |gateway| {
            gateway.base_domain = "pleat.example".to_owned();
            gateway.public_url = Some("https://pleat.example/".to_owned());
            gateway.hosts = vec!["internal".to_owned()];
        },
    )
    .await;
    server.deploy_echo().await;
    for (host, path, expected) in [
        ("pleat.example", "/t/acme", "https://pleat.example/t/acme"),
        ("internal:8080", "/t/acme", "https://pleat.example/t/acme"),
        ("acme.pleat.example", "", "https://acme.pleat.example"),
        ("acme.pleat.example:8443", "", "https://acme.pleat.example"),
    ] {
        let request = server.client.get(format!("{}{path}{}", server.url, PATHS[1])).header("host", host);
        let (_, card) = read(request.send().await.unwrap()).await;
        assert_eq!(card["url"], expected, "{host}");
    }
}

#[tokio::test]
async fn tenants_have_cards_of_their_own() {
    let server = TestServer::start().await;
    deploy(&server, "mine", "public", json!({ "description": "d" })).await;
    server.other_tenant("rival").await;
    let rival = server.client.get(format!("{}/t/rival{}", server.url, PATHS[1])).send().await.unwrap();
    let (_, rival) = read(rival).await;
    assert_eq!((&rival["name"], skills(&rival).len()), (&json!("pleat-rival"), 0));
    let nobody = server.client.get(format!("{}/t/nobody{}", server.url, PATHS[1])).send().await.unwrap();
    let error = json!({ "error": { "code": "unknown_tenant", "message": "there is no such tenant" } });
    assert_eq!(read(nobody).await, (404, error));
    let control = server.client.get(format!("{}{}", server.url, PATHS[1])).send().await.unwrap();
    assert_eq!(control.status(), 404, "the control host is no agent");
}
