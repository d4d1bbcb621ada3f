//! The card as clients get it, and beside the documented one.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::json;

use super::*;

const NOTHING: Served = Served { push_notifications: false, mcp: false };
const EVERYTHING: Served = Served { push_notifications: true, mcp: true };

fn source<'a>(skills: Vec<CardSkill<'a>>) -> CardSource<'a> {
    CardSource {
        tenant: "my-tenant",
        base_url: "https://my-tenant.pleat.example",
        version: "7",
        skills,
        issuers: &[],
        served: NOTHING,
    }
}

fn skill<'a>(name: &'a str, description: &'a str) -> CardSkill<'a> {
    CardSkill { name, title: None, description, tags: &[], examples: &[], input: None, output: None, public: true }
}

fn pure(source: &CardSource<'_>) -> Value {
    Value::Object(render(source, Shape::Pure))
}

fn hybrid(source: &CardSource<'_>) -> Value {
    Value::Object(render(source, Shape::Hybrid))
}

/// One line of JSON for each.
fn lines(items: &Value) -> String {
    items.as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// Without what has a test of its own.
fn outline(mut card: Value) -> Value {
    card["skills"] = json!([]);
    if card.get("transport").is_some() {
        card["transport"] = json!("…");
    }
    if let Some(extensions) = card["capabilities"].get_mut("extensions") {
        extensions.as_array_mut().unwrap().iter_mut().for_each(|extension| extension["params"] = json!("…"));
    }
    card
}

#[test]
fn a_card_says_what_is_deployed() {
    let input = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let pair = json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}});
    let output = json!({"type": "number"});
    let tags = ["weather".to_owned()];
    let examples = [json!("San Francisco"), json!({"city": "Rome"})];
    let weather = CardSkill {
        tags: &tags,
        examples: &examples,
        input: Some(&input),
        public: false,
        ..skill("weather-lookup", "Look up current weather for a city")
    };
    let add = CardSkill { title: Some("Adds"), input: Some(&pair), output: Some(&output), ..skill("add", "") };
    let source = source(vec![weather, add, skill("bare", "")]);
    let (pure, hybrid) = (pure(&source), hybrid(&source));
    assert_snapshot!(lines(&pure["skills"]), @"");
    assert_snapshot!(lines(&hybrid["skills"]), @"");
    assert_json_snapshot!(outline(pure.clone()), @"");
    assert_json_snapshot!(outline(hybrid), @"");
    assert_json_snapshot!(pure["capabilities"]["extensions"][1], @"");
}

#[test]
fn a_pure_card_has_the_fields_of_its_version_and_no_others() {
    let issuers = ["https://id.example".to_owned()];
    let closed = CardSkill { public: false, ..skill("closed", "c") };
    for skills in [vec![], vec![skill("open", "o")], vec![skill("open", "o"), closed.clone()], vec![closed]] {
        for served in [NOTHING, EVERYTHING] {
            let source = CardSource { issuers: &issuers, served, ..source(skills.clone()) };
            let pure = pure(&source);
            assert_eq!(schema::check(&pure), [], "{pure}");
            let projected = Value::Object(schema::project(pure.as_object().unwrap()));
            assert_eq!(projected, pure, "no field is there that says nothing");
            assert!(!schema::check(&hybrid(&source)).is_empty());
        }
    }
}

#[test]
fn faults_of_a_card_are_named_with_their_places() {
    let mut card = pure(&source(vec![skill("a", "A")]));
    card["skills"][0]["inputSchema"] = json!({});
    card["skills"][0]["tags"] = json!("none");
    card["capabilities"]["streaming"] = json!("yes");
    card["securitySchemes"]["bearer"]["mtlsSecurityScheme"] = json!({});
    card.as_object_mut().unwrap().remove("version");
    let faults: Vec<String> =
        schema::check(&card).into_iter().map(|fault| format!("{}: {}", fault.pointer, fault.message)).collect();
    assert_snapshot!(faults.join("\n"), @"");
    assert_eq!(schema::check(&json!([]))[0].message, "must be an object");
}

#[test]
fn keys_are_asked_for_where_they_are_needed() {
    let issuers = ["https://id.example".to_owned(), "backend".to_owned()];
    let closed = CardSkill { public: false, ..skill("closed", "c") };
    let open = hybrid(&source(vec![skill("a", "A")]));
    for field in ["authentication", "security", "securityRequirements"] {
        assert_eq!(open.get(field), None);
    }
    let mixed = hybrid(&source(vec![skill("a", "A"), closed.clone()]));
    assert_eq!(mixed["authentication"], json!({ "schemes": ["bearer"] }));
    assert_eq!((mixed.get("security"), mixed["skills"][0].get("security")), (None, None));
    assert_eq!(mixed["skills"][1]["security"], json!([{ "bearer": ["invoke"] }]));
    let all = hybrid(&CardSource { issuers: &issuers, ..source(vec![closed]) });
    assert_eq!(all["security"], json!([{ "bearer": ["invoke"] }, { "jwt": ["invoke"] }]));
    assert_json_snapshot!(json!({
        "securitySchemes": all["securitySchemes"], "securityRequirements": all["securityRequirements"],
    }), @"");
}

#[test]
fn an_agent_without_skills_has_a_card() {
    let card = hybrid(&source(Vec::new()));
    assert_eq!(card["skills"], json!([]));
    assert_eq!(card["description"], "AI agent powered by Pleat with 0 tool(s)");
    assert_eq!(card.get("authentication"), None);
}

#[test]
fn a_card_announces_what_is_served() {
    let source = source(vec![skill("a", "A")]);
    let ids = |card: &Value| -> Vec<String> {
        let protocols = card["transport"]["protocols"].as_array().unwrap();
        protocols.iter().map(|protocol| protocol["id"].as_str().unwrap().to_owned()).collect()
    };
    let little = hybrid(&source);
    assert_eq!(little["capabilities"]["pushNotifications"], false);
    assert_eq!(
        (ids(&little), &little["transport"]["primary"]),
        (vec!["a2a-jsonrpc".to_owned(), "http-json".to_owned()], &json!("a2a-jsonrpc"))
    );
    let all = hybrid(&CardSource { served: EVERYTHING, ..source });
    assert_eq!(all["capabilities"]["pushNotifications"], true);
    assert_eq!(all["transport"]["primary"], "mcp-streamable-http");
    let doors = ["mcp-streamable-http", "mcp-streamable-http-stateless", "a2a-jsonrpc", "http-json"];
    assert_eq!(ids(&all), doors);
}

/// The pointer in the error leads to the handshake, in either shape.
#[test]
fn a_lost_client_finds_its_way_back() {
    let examples = [json!("text"), json!({"city": "Rome"})];
    let weather = CardSkill { examples: &examples, ..skill("weather", "w") };
    let source = CardSource { served: EVERYTHING, ..source(vec![skill("plain", "p"), weather]) };
    for (card, shape) in [(pure(&source), Shape::Pure), (hybrid(&source), Shape::Hybrid)] {
        let url = transport::recipe_url(source.base_url, shape);
        let (address, pointer) = url.split_once('#').unwrap();
        assert_eq!(address, "https://my-tenant.pleat.example/.well-known/agent-card.json");
        let handshake = card.pointer(pointer).unwrap();
        assert_eq!(handshake["body"]["method"], "initialize");
        let protocol = card.pointer(pointer.strip_suffix("/handshake").unwrap()).unwrap();
        assert_eq!(protocol["errorShape"]["missingInitialize"]["error"]["data"]["recipeUrl"], url);
    }
    assert_json_snapshot!(hybrid(&source)["transport"], @"");
}

#[test]
fn the_version_that_is_asked_for_decides_the_shape() {
    for version in ["1.0", "1", "1.1", " 1.0 "] {
        assert_eq!(Shape::of_version(Some(version)), Shape::Pure, "{version}");
    }
    for version in [None, Some(""), Some("0.3"), Some("2.0"), Some("10.0"), Some("one")] {
        assert_eq!(Shape::of_version(version), Shape::Hybrid, "{version:?}");
    }
}

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

/// The documented card, whose every field must be there with the same type (and the same value where it is a promise).
#[test]
fn the_documented_card_is_a_part_of_ours() {
    let documented: Value = serde_json::from_str(
        r#"{
  "name": "fold-my-tenant",
  "description": "AI agent powered by fold.run with 3 tool(s)",
  "url": "https://my-tenant.fold.run",
  "version": "0.1.0",
  "capabilities": {
    "streaming": true,
    "pushNotifications": false
  },
  "skills": [
    {
      "id": "weather-lookup",
      "name": "weather-lookup",
      "description": "Look up current weather for a city",
      "inputModes": ["application/json"],
      "outputModes": ["application/json"]
    }
  ],
  "defaultInputModes": ["application/json"],
  "defaultOutputModes": ["application/json"]
}"#,
    )
    .unwrap();
    let weather = skill("weather-lookup", "Look up current weather for a city");
    let source = CardSource {
        base_url: "https://my-tenant.fold.run",
        version: "0.1.0",
        ..source(vec![weather.clone(), weather.clone(), weather])
    };
    let ours = hybrid(&source);
    let renamed = |text: &Value| text.as_str().unwrap().replace("fold.run", "Pleat").replace("fold-", "pleat-");
    for field in ["name", "description"] {
        assert_eq!(ours[field], renamed(&documented[field]));
    }
    for field in ["url", "version"] {
        assert_eq!(ours[field], documented[field]);
    }
    for (flag, value) in documented["capabilities"].as_object().unwrap() {
        assert_eq!(&ours["capabilities"][flag], value);
    }
    for field in ["id", "name", "description"] {
        assert_eq!(ours["skills"][0][field], documented["skills"][0][field]);
    }
    let first = |modes: &Value| modes[0].clone();
    for field in ["inputModes", "outputModes"] {
        assert_eq!(first(&ours["skills"][0][field]), first(&documented["skills"][0][field]));
    }
    for field in ["defaultInputModes", "defaultOutputModes"] {
        assert_eq!(first(&ours[field]), first(&documented[field]));
    }
}
