//! What is signed, and what is read as a signature.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::*;

/// What is signed is told apart from what is not by a signer that signs with the length and the first bytes.
#[test]
fn every_form_that_readers_look_for_is_signed_once() {
    let schema = json!({ "type": "object", "properties": {} });
    let with_empties = CardSkill { input: Some(&schema), ..skill("a", "A") };
    let sign = |message: &[u8]| Ok::<_, ()>(message.to_vec());
    let signer = signing::Signer { key_id: "k", key_set_url: "https://my-tenant.pleat.example/.well-known/jwks.json" };
    for (skills, shape, expected) in [
        (vec![skill("a", "A")], Shape::Pure, vec![signing::Coverage::Whole]),
        (vec![with_empties.clone()], Shape::Pure, vec![signing::Coverage::Whole, signing::Coverage::Filled10]),
        (vec![skill("a", "A")], Shape::Hybrid, vec![signing::Coverage::Whole, signing::Coverage::Fields10]),
    ] {
        let card = signing::signed(render(&source(skills), shape), signer, sign).unwrap();
        let payloads = signing::payloads(&card);
        assert_eq!(payloads.iter().map(|(coverage, _)| *coverage).collect::<Vec<_>>(), expected);
        let entries = card["signatures"].as_array().unwrap();
        assert_eq!(entries.len(), payloads.len());
        for (entry, (_, payload)) in entries.iter().zip(&payloads) {
            let signature = signing::Signature::parse(entry).unwrap();
            assert_eq!((signature.algorithm.as_str(), signature.key_id.as_str()), ("ES256", "k"));
            assert_eq!(signature.key_set_url.as_deref(), Some(signer.key_set_url));
            let signed = URL_SAFE_NO_PAD.decode(&signature.signature).unwrap();
            assert_eq!(signed, signature.input(payload).into_bytes(), "it is this payload that was signed");
        }
    }
}

#[test]
fn signatures_that_cannot_be_read_are_refused() {
    let encode = |header: Value| URL_SAFE_NO_PAD.encode(header.to_string());
    let entry = |header: Value| json!({ "protected": encode(header), "signature": "AAAA" });
    let parse = |entry: &Value| signing::Signature::parse(entry).map(|_| ()).unwrap_err();
    for malformed in [json!({}), json!("x"), json!({ "protected": "!", "signature": "AAAA" }), entry(json!("text"))] {
        let expected = if malformed.get("protected").is_some_and(|text| text != "!") {
            signing::BadSignature::Nameless
        } else {
            signing::BadSignature::Malformed
        };
        assert_eq!(parse(&malformed), expected, "{malformed}");
    }
    assert_eq!(parse(&entry(json!({ "alg": "ES256" }))), signing::BadSignature::Nameless);
    let critical = entry(json!({ "alg": "ES256", "kid": "k", "crit": ["b64"] }));
    assert_eq!(parse(&critical), signing::BadSignature::Critical);
}
