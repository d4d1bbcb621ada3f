//! `pleat card verify`, against cards of ours and against cards that somebody has tampered with.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde_json::{Value, json};

use super::{card_for, deploy};
use crate::harness::TestServer;
use crate::harness::binary::{Ran, command, run};

async fn verify(url: &str, more: &[&str]) -> Ran {
    let directory = tempfile::tempdir().unwrap();
    run(&mut command(directory.path(), &[&["card", "verify", url], more].concat())).await
}

/// What was found, by check.
fn found(ran: &Ran) -> Vec<(String, String, String)> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let report: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    let rows = report["checks"].as_array().unwrap();
    rows.iter().map(|row| (text(row, "check"), text(row, "verdict"), text(row, "found"))).collect()
}

/// Somebody else's server: a card of its own making, and the keys that it says are the right ones.
async fn stranger(card: Value, keys: Value) -> String {
    let serve = |State((card, _)): State<(Value, Value)>| async move { axum::Json(card) };
    let serve_keys = |State((_, keys)): State<(Value, Value)>| async move { axum::Json(keys) };
    let router = Router::new()
        .route("/.well-known/agent-card.json", get(serve))
        .route("/.well-known/jwks.json", get(serve_keys))
        .with_state((card, keys));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

#[tokio::test]
async fn a_card_of_ours_holds() {
    let server = TestServer::start().await;
    deploy(&server, "one", "public", json!({ "description": "d" })).await;
    for url in [server.tenant_url(), format!("{}/.well-known/agent-card.json", server.tenant_url())] {
        let ran = verify(&url, &["--json"]).await.ok();
        let found = found(&ran);
        let checks: Vec<&str> = found.iter().map(|(check, ..)| check.as_str()).collect();
        assert_eq!(checks, ["fields", "signature", "JSONRPC 1.0", "HTTP+JSON 1.0", "JSONRPC 0.3"]);
        assert!(found.iter().all(|(_, verdict, _)| verdict == "ok"), "{found:?}");
        assert_eq!(found[0].2, "A2A 1.0, 1 skill(s), 3 interface(s)");
        assert!(found[1].2.starts_with("ES256 by key ") && found[1].2.ends_with(", over the whole card"), "{found:?}");
    }
    let shown = verify(&server.tenant_url(), &[]).await.ok();
    assert!(shown.stdout.lines().next().unwrap().starts_with("CHECK"), "{shown:?}");
    assert!(shown.stdout.contains("HTTP+JSON 1.0  ok"), "{shown:?}");
}

#[tokio::test]
async fn a_card_that_was_changed_does_not_hold() {
    let server = TestServer::start().await;
    deploy(&server, "one", "public", json!({ "description": "d" })).await;
    let keys = super::signatures::key_set(&server, &server.url).await;
    let card = card_for(&server, "1.0").await;
    let signature = async |card: &Value, keys: &Value, more: &[&str]| {
        let url = stranger(card.clone(), keys.clone()).await;
        let ran = verify(&url, &[&["--json"], more].concat()).await;
        let found = found(&ran);
        (ran.code, found[1].1.clone(), found[1].2.clone())
    };
    let (code, verdict, why) = signature(&card, &keys, &[]).await;
    assert_eq!((code, verdict.as_str()), (1, "fail"));
    assert!(why.starts_with("its keys are at another origin"), "a copy at another origin: {why}");
    let ours = format!("{}/.well-known/jwks.json", server.url);
    let (code, verdict, _) = signature(&card, &keys, &["--keys", &ours]).await;
    assert_eq!((code, verdict.as_str()), (0, "ok"), "unless the user trusts those keys");
    let mut changed = card.clone();
    changed["description"] = json!("something else");
    let (code, verdict, why) = signature(&changed, &keys, &["--keys", &ours]).await;
    assert_eq!((code, verdict.as_str()), (1, "fail"));
    assert_eq!(why, "no signature fits: the card was changed after it was signed");
    let mut unsigned = card.clone();
    unsigned.as_object_mut().unwrap().remove("signatures");
    assert_eq!(signature(&unsigned, &keys, &[]).await, (1, "fail".to_owned(), "the card is not signed".to_owned()));
    let mut foreign = keys.clone();
    foreign["keys"][0]["kid"] = json!("another");
    let theirs = format!("{}/.well-known/jwks.json", stranger(json!({}), foreign).await);
    let (code, _, why) = signature(&card, &keys, &["--keys", &theirs]).await;
    assert!(code == 1 && why.ends_with("is not published (any more)"), "{why}");
}

#[tokio::test]
async fn fields_and_doors_that_are_not_there_are_named() {
    let server = TestServer::start().await;
    deploy(&server, "one", "public", json!({ "description": "d" })).await;
    let mut card = card_for(&server, "1.0").await;
    card["url"] = json!("https://x.example");
    card["supportedInterfaces"] = json!([
        { "url": format!("{}/nothing", server.tenant_url()), "protocolBinding": "JSONRPC", "protocolVersion": "1.0" },
        { "url": "http://127.0.0.1:1/", "protocolBinding": "JSONRPC", "protocolVersion": "0.3" },
        { "url": "grpc.example:443", "protocolBinding": "GRPC", "protocolVersion": "1.0" },
        { "url": "https://grpc.example", "protocolBinding": "GRPC", "protocolVersion": "1.0" },
    ]);
    let ran = verify(&stranger(card, json!({ "keys": [] })).await, &["--json"]).await;
    assert_eq!(ran.code, 1);
    let found = found(&ran);
    assert_eq!(found[0].2, "/url is no field of A2A 1.0");
    let verdicts: Vec<&str> = found[2..].iter().map(|(_, verdict, _)| verdict.as_str()).collect();
    assert_eq!(verdicts, ["fail", "fail", "skipped", "skipped"], "{found:?}");
    assert!(ran.stderr.contains("checks failed"), "{ran:?}");
}

#[tokio::test]
async fn what_is_no_card_is_said_to_be_none() {
    let server = TestServer::start().await;
    verify("nonsense", &[]).await.failed(2).says(&["`nonsense` is no URL of an agent"]);
    verify("ftp://x.example", &[]).await.failed(2);
    verify(&server.url, &[]).await.failed(1).says(&["no card could be read at", "it answered 404"]);
    verify("http://127.0.0.1:1", &[]).await.failed(1).says(&["cannot reach the server"]);
    verify(&stranger(json!([1]), json!({})).await, &[]).await.failed(1).says(&["there is no card at"]);
    let endless = json!({ "name": "x".repeat(5 << 20) });
    verify(&stranger(endless, json!({})).await, &[]).await.failed(1).says(&["larger than 4194304 bytes"]);
}
