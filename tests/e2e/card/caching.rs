//! A card is never stale, and costs little to ask for again.

use std::time::Duration;

use pleat_gateway::server::Server;
use pleat_gateway::{App, GatewayConfig};
use reqwest::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{PATHS, deploy, fetch, skills};
use crate::harness::{TestServer, answering};

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
        assert!(etag.len() > 10 && etag.starts_with("W/\"") && etag.ends_with('"'), "{etag}");
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
    let strong = etag.trim_start_matches("W/").to_owned();
    for known in [etag.clone(), strong.clone(), format!("\"x\", {etag}"), format!("\"x\",{strong}"), "*".to_owned()] {
        let response = ask(&known).await;
        assert_eq!(response.status(), 304, "{known}");
        for name in ["etag", "cache-control", "vary", "last-modified"] {
            assert_eq!(response.headers()[name], first.headers()[name], "{name}");
        }
        assert_eq!(response.bytes().await.unwrap().len(), 0);
    }
    for unknown in ["\"x\"", "", strong.trim_matches('"')] {
        assert_eq!(ask(unknown).await.status(), 200, "{unknown}");
    }
    deploy(&server, "one", "public", json!({ "description": "second" })).await;
    let response = ask(&etag).await;
    assert_eq!(response.status(), 200, "the old tag is no longer good");
    assert_ne!(response.headers()["etag"], etag.as_str());
}

#[tokio::test]
async fn shapes_have_tags_of_their_own() {
    let server = TestServer::start().await;
    deploy(&server, "one", "public", json!({ "description": "first" })).await;
    let url = format!("{}{}", server.tenant_url(), PATHS[1]);
    let ask = async |version: &str, tag: &str| {
        server.client.get(&url).header("a2a-version", version).header("if-none-match", tag).send().await.unwrap()
    };
    let tag = async |version: &str| ask(version, "\"x\"").await.headers()["etag"].to_str().unwrap().to_owned();
    let (pure, hybrid) = (tag("1.0").await, tag("0.3").await);
    assert_ne!(pure, hybrid);
    assert_eq!(ask("1.0", &pure).await.status(), 304);
    assert_eq!(ask("1.0", &hybrid).await.status(), 200, "another shape's tag is not this one's");
    assert_eq!(ask("0.3", &hybrid).await.status(), 304);
}

/// Signatures differ each time they are made: a second node, or a restart, must not invalidate what readers have.
#[tokio::test]
async fn every_node_gives_the_same_tag() {
    let server = TestServer::start().await;
    deploy(&server, "one", "public", json!({ "description": "first" })).await;
    let first = fetch(&server).await.headers()["etag"].clone();
    let app = App::new(server.engine.clone(), GatewayConfig::default());
    let node = Server::bind(([127, 0, 0, 1], 0).into(), app).await.unwrap();
    let address = node.address().unwrap();
    let stop = CancellationToken::new();
    tokio::spawn(node.serve(stop.clone(), Duration::from_millis(100)));
    let host = server.url.trim_start_matches("http://").to_owned();
    let request = server.client.get(format!("http://{address}/t/acme{}", PATHS[1])).header("host", host);
    assert_eq!(request.send().await.unwrap().headers()["etag"], first);
    stop.cancel();
}
