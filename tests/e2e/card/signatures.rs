//! Signatures: checked here with nothing of the platform's own but its published keys.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pleat_engine::MasterKey;
use serde_json::{Value, json};

use super::{card, card_for, deploy};
use crate::harness::TestServer;

fn decode(text: &Value) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text.as_str().unwrap()).unwrap()
}

pub async fn key_set(server: &TestServer, base_url: &str) -> Value {
    let response = server.client.get(format!("{base_url}/.well-known/jwks.json")).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/jwk-set+json");
    assert_eq!(response.headers()["cache-control"], "public, max-age=60");
    response.json().await.unwrap()
}

pub fn header(signature: &Value) -> Value {
    serde_json::from_slice(&decode(&signature["protected"])).unwrap()
}

/// JSON of which the fields are in order, written without spaces: for cards without odd numbers and letters that is the
/// canonical form.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<_> = fields.keys().collect();
            names.sort();
            let fields: Vec<String> =
                names.into_iter().map(|name| format!("{}:{}", json!(name), canonical(&fields[name]))).collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

/// How many of the card's signatures fit it as it stands.
fn good(card: &Value, keys: &Value) -> usize {
    let mut content = card.clone();
    let signatures = content.as_object_mut().unwrap().remove("signatures").unwrap();
    let payload = URL_SAFE_NO_PAD.encode(canonical(&content));
    let fits = |signature: &&Value| {
        let id = header(signature)["kid"].clone();
        let key = keys["keys"].as_array().unwrap().iter().find(|key| key["kid"] == id);
        let Some(key) = key else { return false };
        let point = [vec![4], decode(&key["x"]), decode(&key["y"])].concat();
        let input = format!("{}.{payload}", signature["protected"].as_str().unwrap());
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
        key.verify(input.as_bytes(), &decode(&signature["signature"])).is_ok()
    };
    signatures.as_array().unwrap().iter().filter(fits).count()
}

#[tokio::test]
async fn both_shapes_are_signed_with_a_published_key() {
    let server = TestServer::start().await;
    deploy(&server, "one", "public", json!({ "description": "Grüße, \"one\"" })).await;
    let keys = key_set(&server, &server.tenant_url()).await;
    assert_eq!(keys, key_set(&server, &server.url).await, "the control host has the same");
    let [key] = keys["keys"].as_array().unwrap().as_slice() else { panic!("{keys}") };
    let names: Vec<&String> = key.as_object().unwrap().keys().collect();
    assert_eq!(names, ["kty", "crv", "use", "alg", "kid", "x", "y"], "and nothing that is private");
    for card in [card_for(&server, "1.0").await, card(&server).await] {
        assert_eq!(good(&card, &keys), 1, "one signature is over the whole card: {card}");
        let jku = format!("{}/.well-known/jwks.json", server.tenant_url());
        let expected = json!({ "alg": "ES256", "typ": "JOSE", "kid": key["kid"], "jku": jku });
        assert!(card["signatures"].as_array().unwrap().iter().all(|signature| header(signature) == expected));
    }
}

#[tokio::test]
async fn nothing_of_a_signed_card_can_be_changed() {
    let server = TestServer::start().await;
    deploy(&server, "one", "listed", json!({ "description": "d", "tags": ["a", "b"] })).await;
    let keys = key_set(&server, &server.url).await;
    let card = card_for(&server, "1.0").await;
    let changes: [fn(&mut Value); 6] = [
        |card| card["name"] = json!("pleat-evil"),
        |card| card["supportedInterfaces"][0]["url"] = json!("https://evil.example/_a2a/"),
        |card| card["skills"][0]["tags"] = json!(["b", "a"]),
        |card| card["capabilities"]["streaming"] = json!(false),
        |card| drop(card.as_object_mut().unwrap().remove("securityRequirements").unwrap()),
        |card| card["iconUrl"] = json!("https://evil.example/icon"),
    ];
    for (place, change) in changes.into_iter().enumerate() {
        let mut changed = card.clone();
        change(&mut changed);
        assert_ne!(changed, card, "{place}");
        assert_eq!(good(&changed, &keys), 0, "{place}");
    }
    let reordered: Value = serde_json::from_str(&canonical(&card)).unwrap();
    assert_eq!(good(&reordered, &keys), 1, "the order of fields means nothing");
}

#[tokio::test]
async fn the_key_follows_from_the_master_key() {
    let (one, same) = (TestServer::start().await, TestServer::start().await);
    let other = TestServer::start_with(|engine| engine.master_key = MasterKey::from_bytes([8; 32]), |_| {}).await;
    let mut keys = Vec::new();
    for server in [&one, &same, &other] {
        keys.push(key_set(server, &server.url).await);
    }
    assert_eq!(keys[0], keys[1], "on every node and at every start");
    assert_ne!(keys[0], keys[2]);
    insta::assert_json_snapshot!(keys[0], @r#"
    {
      "keys": [
        {
          "kty": "EC",
          "crv": "P-256",
          "use": "sig",
          "alg": "ES256",
          "kid": "3iPgsdpR2OtGTfogStDkHBuZbVwqjv-XJYOcgg4RKb8",
          "x": "_C9RUxt8b64NjHudkV6nEJdwNHW6ehhxA-Vng9uyxOk",
          "y": "qMNIKA3IbSlP5edCL6sCHTeorjllgQPvX3o5w6j-EqM"
        }
      ]
    }
    "#);
}
