//! The addresses on a card: those that its reader can use, behind a proxy and below a path too.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{PATHS, card, deploy, skills};
use crate::harness::{TestServer, read};

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

/// Every address on the card, wherever it stands.
fn addresses(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.starts_with("http://") || text.starts_with("https://") => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| addresses(item, found)),
        Value::Object(fields) => fields.values().for_each(|value| addresses(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn below_a_path_prefix_every_address_has_it() {
    let server = TestServer::start_with(
        |_| {},
        |gateway| {
            gateway.base_domain = "pleat.example".to_owned();
            gateway.public_url = Some("https://pleat.example/agents/".to_owned());
        },
    )
    .await;
    deploy(&server, "one", "listed", json!({ "description": "d" })).await;
    for (host, path, base) in [
        ("pleat.example", "/t/acme", "https://pleat.example/agents/t/acme"),
        ("acme.pleat.example", "", "https://acme.pleat.example/agents"),
    ] {
        for version in ["1.0", "0.3"] {
            let request = server.client.get(format!("{}{path}{}", server.url, PATHS[1])).header("host", host);
            let request = request.header("x-forwarded-host", "evil.example").header("x-forwarded-proto", "http");
            let (_, card) = read(request.header("a2a-version", version).send().await.unwrap()).await;
            let mut found = Vec::new();
            addresses(&card, &mut found);
            assert!(found.len() > 4, "{card}");
            assert!(found.iter().all(|address| address.starts_with(base)), "{found:?}");
            let header = card["signatures"][0]["protected"].as_str().unwrap();
            let header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).unwrap()).unwrap();
            assert_eq!(header["jku"], format!("{base}/.well-known/jwks.json"));
        }
    }
    let request = server.client.get(format!("{}/t/acme{}", server.url, PATHS[1])).header("host", "pleat.example");
    let (_, card) = read(request.header("a2a-version", "1.0").send().await.unwrap()).await;
    insta::assert_json_snapshot!(card["supportedInterfaces"], @r#"
    [
      {
        "url": "https://pleat.example/agents/t/acme/_a2a/",
        "protocolBinding": "JSONRPC",
        "protocolVersion": "1.0"
      },
      {
        "url": "https://pleat.example/agents/t/acme/_a2a/rest",
        "protocolBinding": "HTTP+JSON",
        "protocolVersion": "1.0"
      },
      {
        "url": "https://pleat.example/agents/t/acme/_a2a/",
        "protocolBinding": "JSONRPC",
        "protocolVersion": "0.3"
      }
    ]
    "#);
}
