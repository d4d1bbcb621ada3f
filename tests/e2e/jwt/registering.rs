//! Issuers over the control API: read strictly, listed, removed, and never with more than who registers them has.

use reqwest::Method;
use serde_json::{Value, json};

use super::signer::Signer;
use super::{ISSUER, ISSUERS, register, wish};
use crate::harness::TestServer;

async fn refused(server: &TestServer, wish: Value) -> (u16, String) {
    let (status, body) = server.api(Method::POST, ISSUERS, &server.admin, Some(wish)).await;
    (status, body["error"]["message"].as_str().unwrap_or_else(|| panic!("{status} {body}")).to_owned())
}

#[tokio::test]
async fn issuers_are_listed_and_removed() {
    let key = Signer::edwards("one");
    let server = TestServer::start().await;
    let id = register(&server, wish(&[&key], &["read", "invoke"])).await;
    let (_, all) = server.api(Method::GET, ISSUERS, &server.admin, None).await;
    let issuer = &all["issuers"][0];
    assert_eq!((&issuer["id"], &issuer["issuer"]), (&json!(id), &json!(ISSUER)));
    assert_eq!((&issuer["scopes"], &issuer["audiences"]), (&json!(["invoke", "read"]), &json!([])));
    assert_eq!(issuer["jwks"]["keys"][0], key.jwk());
    assert!(issuer["createdBy"].as_str().unwrap().starts_with("key:"), "{issuer}");
    let again = refused(&server, wish(&[&key], &["invoke"])).await;
    assert_eq!(again, (409, format!("issuer `{ISSUER}` already exists")));
    let path = format!("{ISSUERS}/{id}");
    assert_eq!(server.api(Method::DELETE, &path, &server.admin, None).await.0, 204);
    assert_eq!(server.api(Method::DELETE, &path, &server.admin, None).await.0, 404);
    let keys = Some(json!({ "jwks": super::signer::key_set(&[&key]) }));
    assert_eq!(server.api(Method::PUT, &format!("{path}/jwks"), &server.admin, keys).await.0, 404);
    assert_eq!(server.api(Method::GET, ISSUERS, &server.admin, None).await.1, json!({ "issuers": [] }));
}

#[tokio::test]
async fn nobody_registers_an_issuer_of_more_than_itself() {
    let key = Signer::edwards("one");
    let server = TestServer::start().await;
    let lesser = json!({ "scopes": ["admin", "invoke"] });
    let (_, lesser) = server.api(Method::POST, "/tenants/acme/keys", &server.admin, Some(lesser)).await;
    let lesser = lesser["key"].as_str().unwrap();
    for (scopes, expected) in [(&["deploy"][..], 403), (&["invoke", "read"], 403), (&["invoke"], 201)] {
        let (status, body) = server.api(Method::POST, ISSUERS, lesser, Some(wish(&[&key], scopes))).await;
        assert_eq!(status, expected, "{scopes:?}: {body}");
    }
}

#[tokio::test]
async fn a_wish_for_an_issuer_is_read_strictly() {
    let key = Signer::edwards("one");
    let server = TestServer::start().await;
    let but = |name: &str, value: Value| {
        let mut wish = wish(&[&key], &["invoke"]);
        wish[name] = value;
        wish
    };
    let wishes = [
        but("issuer", json!("")),
        but("issuer", json!("x".repeat(256))),
        but("issuer", json!("a\nb")),
        but("issuer", json!(1)),
        but("audiences", json!([""])),
        but("audiences", json!("x")),
        but("audiences", json!(vec!["x"; 11])),
        but("scopes", json!([])),
        but("scopes", json!(["operator"])),
        but("scopes", json!(["root"])),
        but("jwksUrl", json!("https://id.example/jwks")),
        but("jwks", Value::Null),
        but("algorithms", json!(["HS256"])),
        json!({}),
    ];
    for wish in wishes {
        let (status, text) = refused(&server, wish.clone()).await;
        assert_eq!(status, 400, "{wish}: {text}");
    }
}

#[tokio::test]
async fn only_keys_that_can_be_used_safely_are_taken() {
    let server = TestServer::start().await;
    let (edwards, curve, rsa) = (Signer::edwards("one"), Signer::curve("two"), Signer::rsa("three"));
    let but = |key: &Signer, name: &str, value: Value| {
        let mut jwk = key.jwk();
        jwk[name] = value;
        json!({ "keys": [jwk] })
    };
    let many: Vec<Value> = (0..33).map(|_| edwards.jwk()).collect();
    let short = "x".repeat(171);
    for (jwks, said) in [
        (but(&edwards, "d", json!("c2VjcmV0")), "private key"),
        (json!({ "keys": [{ "kty": "oct", "kid": "one", "k": "c2VjcmV0" }] }), "private key"),
        (json!({ "keys": [edwards.jwk(), edwards.jwk()] }), "two keys have the id `one`"),
        (json!({ "keys": many }), "more than 32 keys"),
        (json!({ "keys": [] }), "no key in it"),
        (json!({ "keys": {} }), "not a JSON object with an array"),
        (json!([]), "not a JSON object with an array"),
        (but(&edwards, "kid", Value::Null), "no key in it"),
        (but(&edwards, "kid", json!("a/b")), "no key in it"),
        (but(&edwards, "use", json!("enc")), "no key in it"),
        (but(&edwards, "alg", json!("HS256")), "no key in it"),
        (but(&edwards, "crv", json!("Ed448")), "no key in it"),
        (but(&edwards, "x", json!("AAAA")), "no key in it"),
        (but(&curve, "crv", json!("P-521")), "no key in it"),
        (but(&curve, "alg", json!("RS256")), "no key in it"),
        (but(&rsa, "n", json!(short)), "no key in it"),
        (but(&rsa, "alg", json!("PS256")), "no key in it"),
        (but(&rsa, "alg", json!("none")), "no key in it"),
    ] {
        let mut wish = wish(&[&edwards], &["invoke"]);
        wish["jwks"] = jwks.clone();
        let (status, text) = refused(&server, wish).await;
        assert!(status == 400 && text.contains(said), "{jwks}: {status} {text}");
    }
    // Others beside them do no harm.
    let mut wish = wish(&[&edwards, &curve, &rsa], &["invoke"]);
    wish["jwks"]["keys"].as_array_mut().unwrap().push(json!({ "kty": "EC", "crv": "P-521", "kid": "four" }));
    register(&server, wish).await;
}

#[tokio::test]
async fn a_tenant_has_at_most_twenty_issuers() {
    let key = Signer::edwards("one");
    let server = TestServer::start().await;
    let numbered = |number: usize| {
        let mut wish = wish(&[&key], &["invoke"]);
        wish["issuer"] = json!(format!("https://{number}.example"));
        wish
    };
    for number in 0..20 {
        register(&server, numbered(number)).await;
    }
    let (status, text) = refused(&server, numbered(20)).await;
    assert_eq!((status, text.as_str()), (400, "a tenant has at most 20 issuers; remove one"));
}
