//! Two shapes: pure 1.0 for who asks for it, and one that everybody can read; and the switch for 1.0 alone.

use reqwest::Method;
use serde_json::{Value, json};

use super::{PATHS, card, card_for, deploy, redacted};
use crate::harness::{TestServer, fixture};

async fn deployed() -> TestServer {
    let server = TestServer::start().await;
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let weather = json!({
        "title": "Weather", "description": "Look up current weather for a city", "tags": ["weather"],
        "examples": ["Paris", { "city": "Paris" }], "input": schema, "output": { "type": "object" },
    });
    deploy(&server, "weather-lookup", "public", weather).await;
    let numbers = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    deploy(&server, "sum", "listed", json!({ "title": "Adds numbers", "input": numbers })).await;
    deploy(&server, "secret", "unlisted", json!({ "description": "Nobody's business" })).await;
    server
}

/// Held against a schema that was written from the definition of 1.0 by hand.
fn faults(card: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_slice(&fixture("agent-card-1.0.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(card).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[tokio::test]
async fn the_card_of_1_0_has_no_other_fields() {
    let server = deployed().await;
    let pure = card_for(&server, "1.0").await;
    assert_eq!(faults(&pure), Vec::<String>::new());
    assert!(!faults(&card(&server).await).is_empty(), "the schema is closed");
    insta::assert_json_snapshot!("pure", redacted(&pure, &server.tenant_url()));
}

#[tokio::test]
async fn the_card_for_everybody_has_all_of_them() {
    let server = deployed().await;
    let hybrid = card(&server).await;
    insta::assert_json_snapshot!("hybrid", redacted(&hybrid, &server.tenant_url()));
}

#[tokio::test]
async fn the_version_that_is_asked_for_decides() {
    let server = deployed().await;
    let is_pure = |card: &Value| card.get("url").is_none();
    for (version, pure) in [("1.0", true), ("1.1", true), ("1", true), ("0.3", false), ("0.3.0", false), ("2.0", false)]
    {
        assert_eq!(is_pure(&card_for(&server, version).await), pure, "{version}");
    }
    for (query, pure) in [("A2A-Version=1.0", true), ("x=1&a2a-version=1.0", true), ("A2A-Version=0.3", false)] {
        let url = format!("{}{}?{query}", server.tenant_url(), PATHS[0]);
        let card: Value = server.client.get(url).send().await.unwrap().json().await.unwrap();
        assert_eq!(is_pure(&card), pure, "{query}");
    }
}

#[tokio::test]
async fn a_tenant_can_be_for_1_0_alone() {
    let server = deployed().await;
    let switch = async |card: &str, key: &str| {
        server.api(Method::PUT, "/tenants/acme/card", key, Some(json!({ "card": card }))).await
    };
    let (status, tenant) = switch("1.0", &server.operator).await;
    assert_eq!((status, &tenant["card"]), (200, &json!("1.0")), "{tenant}");
    let unasked = card(&server).await;
    assert_eq!(faults(&unasked), Vec::<String>::new());
    let version_3 = card_for(&server, "0.3").await;
    assert_eq!(redacted(&version_3, ""), redacted(&unasked, ""));
    let (status, tenant) = switch("all", &server.operator).await;
    assert_eq!((status, &tenant["card"]), (200, &json!("all")), "{tenant}");
    assert!(card(&server).await.get("url").is_some());

    for wrong in ["2.0", "", "ALL"] {
        let (status, problem) = switch(wrong, &server.operator).await;
        assert_eq!(status, 400, "{wrong}: {problem}");
    }
    assert_eq!(switch("1.0", &server.admin).await.0, 403);
    let unknown =
        server.api(Method::PUT, "/tenants/nobody/card", &server.operator, Some(json!({ "card": "1.0" }))).await;
    assert_eq!(unknown.0, 404);
    let wish = json!({ "slug": "modern", "card": "1.0" });
    let (status, made) = server.api(Method::POST, "/tenants", &server.operator, Some(wish)).await;
    assert_eq!((status, &made["card"]), (201, &json!("1.0")), "{made}");
    let url = format!("{}/t/modern{}", server.url, PATHS[1]);
    let modern: Value = server.client.get(url).send().await.unwrap().json().await.unwrap();
    assert_eq!(faults(&modern), Vec::<String>::new());
}

/// Tokens of a registered issuer open the agent, so the card says so, and no longer when it is gone.
#[tokio::test]
async fn issuers_of_tokens_are_on_the_card() {
    let server = deployed().await;
    let schemes = async || {
        let card = card(&server).await;
        card["securitySchemes"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(schemes().await, ["bearer"]);
    let key =
        json!({ "kty": "OKP", "crv": "Ed25519", "kid": "one", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" });
    let wish = json!({ "issuer": "https://id.example", "scopes": ["invoke"], "jwks": { "keys": [key] } });
    let (status, issuer) = server.api(Method::POST, "/tenants/acme/issuers", &server.admin, Some(wish)).await;
    assert_eq!(status, 201, "{issuer}");
    assert_eq!(schemes().await, ["bearer", "jwt"]);
    let described = &card_for(&server, "1.0").await["securitySchemes"]["jwt"]["httpAuthSecurityScheme"]["description"];
    assert_eq!(described, "A token for this agent from https://id.example");
    let path = format!("/tenants/acme/issuers/{}", issuer["id"].as_str().unwrap());
    assert_eq!(server.api(Method::DELETE, &path, &server.admin, None).await.0, 204);
    assert_eq!(schemes().await, ["bearer"]);
}
