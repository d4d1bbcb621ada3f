//! Tokens that are signed well and are not good all the same, and texts that are no tokens.

use reqwest::Method;
use serde_json::{Value, json};

use super::signer::{Signer, compose, text};
use super::{ISSUERS, claims, now, register, serve, status, wish, with};
use crate::harness::TestServer;

async fn taking(key: &Signer) -> TestServer {
    let server = serve(TestServer::start().await).await;
    register(&server, wish(&[key], &["invoke"])).await;
    server
}

#[tokio::test]
async fn tokens_of_the_three_algorithms_are_taken() {
    let (edwards, curve, rsa) = (Signer::edwards("ed"), Signer::curve("ec"), Signer::rsa("rsa"));
    let server = serve(TestServer::start().await).await;
    register(&server, wish(&[&edwards, &curve, &rsa], &["invoke"])).await;
    for key in [&edwards, &curve, &rsa] {
        let (status, body) = server.http(&key.token(&claims(&server)), "echo", json!({ "a": 1 })).await;
        assert_eq!((status, body), (200, json!({ "a": 1 })), "{}", key.algorithm());
        let call = json!({ "skill": "echo", "message": "hello" });
        let (status, answer) = server.rpc_as(&key.token(&claims(&server)), "tasks/send", call).await;
        assert_eq!((status, &answer["result"]["status"]["state"]), (200, &json!("completed")), "{answer}");
    }
}

#[tokio::test]
async fn claims_that_do_not_hold_are_refused() {
    let key = Signer::edwards("one");
    let server = taking(&key).await;
    let other = server.tenant_url().replace("acme", "other");
    let bad = [
        ("exp", json!(now() - 10)),
        ("exp", json!(0)),
        ("exp", json!(-1)),
        ("exp", json!("soon")),
        ("exp", json!(now() + 25 * 3600)),
        ("exp", json!(1e300)),
        ("exp", Value::Null),
        ("nbf", json!(now() + 60)),
        ("nbf", json!("now")),
        ("iat", json!(now() + 60)),
        ("iat", json!(now() - 25 * 3600)),
        ("iss", Value::Null),
        ("iss", json!("https://id.example/")),
        ("iss", json!("https://other.example")),
        ("iss", json!(["https://id.example"])),
        ("aud", Value::Null),
        ("aud", json!("")),
        ("aud", json!([])),
        ("aud", json!("https://elsewhere.example")),
        ("aud", json!(other)),
        ("aud", json!(server.url)),
        ("sub", Value::Null),
        ("sub", json!("")),
        ("sub", json!(7)),
        ("sub", json!("x".repeat(256))),
        ("tenant", json!("other")),
        ("tenant", json!(1)),
        ("scope", json!(["invoke"])),
    ];
    for (name, value) in bad {
        let token = key.token(&with(&server, name, value.clone()));
        assert_eq!(status(&server, &token).await, 401, "{name}: {value}");
    }
    let good = [
        ("iat", Value::Null),
        ("nbf", json!(now() - 60)),
        ("aud", json!(["https://elsewhere.example", server.tenant_url()])),
        ("aud", json!(format!("{}/_a2a/", server.tenant_url()))),
        ("tenant", json!("acme")),
        ("scope", json!("openid invoke email")),
        ("sub", json!("x".repeat(255))),
        ("anything", json!({ "else": [1, 2] })),
    ];
    for (name, value) in good {
        let token = key.token(&with(&server, name, value.clone()));
        assert_eq!(status(&server, &token).await, 200, "{name}: {value}");
    }
}

#[tokio::test]
async fn headers_that_name_no_known_key_are_refused() {
    let key = Signer::edwards("one");
    let server = taking(&key).await;
    let claims = claims(&server);
    let long = "x".repeat(65);
    for id in
        [json!("two"), Value::Null, json!(""), json!(1), json!("../one"), json!("one\u{0}"), json!(" one"), json!(long)]
    {
        let header = json!({ "alg": "EdDSA", "kid": id });
        assert_eq!(status(&server, &key.token_with(&header, &claims)).await, 401, "{header}");
    }
    let without = json!({ "alg": "EdDSA" });
    assert_eq!(status(&server, &key.token_with(&without, &claims)).await, 401);
    for critical in [json!(["exp"]), json!([]), Value::Null, json!(["b64"])] {
        let header = json!({ "alg": "EdDSA", "kid": "one", "crit": critical, "b64": true });
        assert_eq!(status(&server, &key.token_with(&header, &claims)).await, 401, "{header}");
    }
}

#[tokio::test]
async fn what_is_said_twice_is_not_believed() {
    let key = Signer::edwards("one");
    let server = taking(&key).await;
    let claims = claims(&server).to_string();
    let header = key.header().to_string();
    let twice = claims.replacen('{', r#"{"sub":"root","#, 1);
    let token = compose(&header, &twice, |message| key.sign(message));
    assert_eq!(status(&server, &token).await, 401);
    let twice = header.replacen('{', r#"{"kid":"one","#, 1);
    let token = compose(&twice, &claims, |message| key.sign(message));
    assert_eq!(status(&server, &token).await, 401);
}

#[tokio::test]
async fn a_token_has_at_most_8_kib() {
    let key = Signer::edwards("one");
    let server = taking(&key).await;
    let padded = |letters: usize| key.token(&with(&server, "pad", json!("x".repeat(letters))));
    let fits = padded(5500);
    assert!(fits.len() <= 8 << 10 && fits.len() > 7 << 10, "{}", fits.len());
    assert_eq!(status(&server, &fits).await, 200);
    let large = padded(6000);
    assert!(large.len() > 8 << 10, "{}", large.len());
    assert_eq!(status(&server, &large).await, 401);
}

#[tokio::test]
async fn texts_that_are_no_tokens_are_refused() {
    let key = Signer::edwards("one");
    let server = taking(&key).await;
    let good = key.token(&claims(&server));
    let parts: Vec<&str> = good.split('.').collect();
    let array = text(b"[1]");
    let deep = text("[".repeat(5000).as_bytes());
    for token in [
        "ey..".to_owned(),
        "ey.ey.ey".to_owned(),
        "eyJ.eyJ.eyJ".to_owned(),
        format!("{}.{}", parts[0], parts[1]),
        format!("{good}.x"),
        format!("{good}=="),
        format!("{}.{}.{}", parts[0], array, parts[2]),
        format!("{}.{}.{}", parts[0], deep, parts[2]),
        format!("{}.{}.{}", parts[0], text(b"\xff\xfe"), parts[2]),
        format!("{}..{}", parts[0], parts[2]),
        good.replace('.', ".."),
        good.to_uppercase(),
        "eyé.ey.ey".replace('é', "%C3%A9"),
    ] {
        assert_eq!(status(&server, &token).await, 401, "{token}");
    }
}

#[tokio::test]
async fn another_tenants_issuer_is_nobody_here() {
    let (ours, theirs) = (Signer::edwards("one"), Signer::edwards("one"));
    let server = taking(&ours).await;
    let other = server.other_tenant("other").await;
    let path = ISSUERS.replace("acme", "other");
    let mut foreign = wish(&[&theirs], &["invoke"]);
    foreign["issuer"] = json!("https://theirs.example");
    assert_eq!(server.api(Method::POST, &path, &other, Some(foreign)).await.0, 201);
    // The same issuer by name, with other keys.
    assert_eq!(server.api(Method::POST, &path, &other, Some(wish(&[&theirs], &["invoke"]))).await.0, 201);
    assert_eq!(status(&server, &theirs.token(&claims(&server))).await, 401);
    assert_eq!(status(&server, &theirs.token(&with(&server, "iss", json!("https://theirs.example")))).await, 401);
    assert_eq!(status(&server, &ours.token(&claims(&server))).await, 200);
}

#[tokio::test]
async fn every_refusal_is_the_answer_to_a_bad_key() {
    let key = Signer::edwards("one");
    let server = taking(&key).await;
    let foreign = server.other_tenant("other").await;
    let expected = answers(&server, &foreign).await;
    assert!(expected.iter().all(|answer| answer.starts_with("401 Bearer ")), "{expected:?}");
    for token in [
        Signer::edwards("one").token(&claims(&server)),
        key.token(&with(&server, "exp", json!(now() - 10))),
        key.token(&with(&server, "aud", json!("x"))),
        key.token(&with(&server, "tenant", json!("other"))),
        "ey.ey.ey".to_owned(),
        format!("ey{}.x.y", "x".repeat(9000)),
    ] {
        assert_eq!(answers(&server, &token).await, expected, "{token:.60}");
    }
}

/// What each kind of route answers, with the challenge.
async fn answers(server: &TestServer, token: &str) -> Vec<String> {
    let rpc = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": { "id": "x" } });
    let requests = [
        server.client.post(format!("{}/echo", server.tenant_url())).json(&json!({})),
        server.client.post(format!("{}/_a2a/", server.tenant_url())).json(&rpc),
        server.client.get(format!("{}/api/v1/tenants/acme/tasks", server.url)),
    ];
    let mut answers = Vec::new();
    for request in requests {
        let response = request.bearer_auth(token).send().await.unwrap();
        let challenge = response.headers()["www-authenticate"].to_str().unwrap().to_owned();
        answers.push(format!("{} {challenge} {}", response.status().as_u16(), response.text().await.unwrap()));
    }
    answers
}
