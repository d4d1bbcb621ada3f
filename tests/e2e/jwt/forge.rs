//! Tokens that somebody made who has no key of the issuer.

use aws_lc_rs::hmac;
use serde_json::{Value, json};

use super::signer::{Signer, compose, text};
use super::{claims, register, serve, status, wish};
use crate::harness::TestServer;

/// A server that takes tokens of these keys, and only those.
async fn taking(keys: &[&Signer]) -> TestServer {
    let server = serve(TestServer::start().await).await;
    register(&server, wish(keys, &["invoke"])).await;
    for key in keys {
        assert_eq!(status(&server, &key.token(&claims(&server))).await, 200, "{}", key.algorithm());
    }
    server
}

async fn all_refused(server: &TestServer, tokens: Vec<(&str, String)>) {
    for (what, token) in tokens {
        assert_eq!(status(server, &token).await, 401, "{what}: {token}");
    }
}

#[tokio::test]
async fn signatures_of_others_and_changed_tokens_are_refused() {
    let key = Signer::edwards("one");
    let server = taking(&[&key]).await;
    let claims = claims(&server);
    let token = key.token(&claims);
    let (message, signature) = token.rsplit_once('.').unwrap();
    let mut greedy = claims.clone();
    greedy["sub"] = json!("root");
    let changed =
        format!("{}.{}.{signature}", text(key.header().to_string().as_bytes()), text(greedy.to_string().as_bytes()));
    let mut bytes = key.sign(message.as_bytes());
    bytes[10] ^= 1;
    let header = key.header().to_string();
    all_refused(
        &server,
        vec![
            ("another key with the same id", Signer::edwards("one").token(&claims)),
            ("other claims under the same signature", changed),
            ("one bit of the signature", format!("{message}.{}", text(&bytes))),
            ("half a signature", format!("{message}.{}", &signature[..signature.len() / 2])),
            ("no signature", format!("{message}.")),
            ("a signature of zeros", compose(&header, &claims.to_string(), |_| vec![0; 64])),
            ("a signature of nothing", compose(&header, &claims.to_string(), |_| key.sign(b""))),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_token_does_not_choose_its_algorithm() {
    let (edwards, curve, rsa) = (Signer::edwards("ed"), Signer::curve("ec"), Signer::rsa("rsa"));
    let server = taking(&[&edwards, &curve, &rsa]).await;
    let claims = claims(&server);
    let mut tokens = Vec::new();
    for key in [&edwards, &curve, &rsa] {
        for algorithm in ["none", "None", "NONE", "nOnE", ""] {
            let header = json!({ "alg": algorithm, "kid": key.id }).to_string();
            tokens.push(("no algorithm, no signature", compose(&header, &claims.to_string(), |_| Vec::new())));
            tokens.push((
                "no algorithm, a good signature",
                compose(&header, &claims.to_string(), |message| key.sign(message)),
            ));
        }
        // The public key as a shared secret, in the forms it is found in.
        let jwk = key.jwk();
        let written = jwk["x"].as_str().or(jwk["n"].as_str()).unwrap().to_owned();
        for secret in [key.public(), written.into_bytes(), jwk.to_string().into_bytes(), Vec::new()] {
            for (name, algorithm) in
                [("HS256", hmac::HMAC_SHA256), ("HS384", hmac::HMAC_SHA384), ("HS512", hmac::HMAC_SHA512)]
            {
                let header = json!({ "alg": name, "kid": key.id }).to_string();
                let sign = |message: &[u8]| hmac::sign(&hmac::Key::new(algorithm, &secret), message).as_ref().to_vec();
                tokens.push(("the public key as a secret", compose(&header, &claims.to_string(), sign)));
            }
        }
        // A good signature under another name, and another kind of key under its name.
        for name in ["EdDSA", "ES256", "ES384", "RS256", "RS384", "RS512", "PS256"] {
            if name != key.algorithm() {
                tokens.push(("another algorithm", key.token_with(&json!({ "alg": name, "kid": key.id }), &claims)));
            }
        }
        for other in [&edwards, &curve, &rsa].into_iter().filter(|other| other.id != key.id) {
            let header = json!({ "alg": other.algorithm(), "kid": key.id });
            tokens.push(("another key's signature", other.token_with(&header, &claims)));
        }
    }
    assert!(tokens.len() > 80, "{}", tokens.len());
    all_refused(&server, tokens).await;
}

#[tokio::test]
async fn a_token_does_not_bring_its_key() {
    let (key, stranger) = (Signer::curve("one"), Signer::curve("one"));
    let server = taking(&[&key]).await;
    let claims = claims(&server);
    let bring = |name: &str, value: Value| {
        let mut header = stranger.header();
        header[name] = value;
        header
    };
    let headers = [
        bring("jwk", stranger.jwk()),
        bring("jku", json!("https://evil.example/jwks.json")),
        bring("x5u", json!("https://evil.example/chain.pem")),
        bring("x5c", json!(["AAAA"])),
    ];
    for header in &headers {
        assert_eq!(status(&server, &stranger.token_with(header, &claims)).await, 401, "{header}");
    }
    // Whoever has the key may say such things: they are not looked at.
    for header in &headers {
        assert_eq!(status(&server, &key.token_with(header, &claims)).await, 200, "{header}");
    }
}
