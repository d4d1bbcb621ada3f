//! The card as clients get it, and beside the documented one.

use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::json;

use super::*;

fn source<'a>(skills: Vec<CardSkill<'a>>) -> CardSource<'a> {
    CardSource { tenant: "my-tenant", base_url: "https://my-tenant.pleat.example", version: "7", skills }
}

fn skill<'a>(name: &'a str, description: &'a str) -> CardSkill<'a> {
    CardSkill { name, title: None, description, tags: &[], examples: &[], input: None, output: None, public: true }
}

/// One line of JSON for each.
fn lines<T: serde::Serialize>(items: &[T]) -> String {
    items.iter().map(|item| serde_json::to_string(item).unwrap()).collect::<Vec<_>>().join("\n")
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
    let card = Card::new(&source);
    assert_snapshot!(lines(&card.skills), @r#"
    {"id":"weather-lookup","name":"weather-lookup","description":"Look up current weather for a city","tags":["weather"],"examples":["San Francisco","{\"city\":\"Rome\"}"],"inputModes":["application/json","text/plain"],"outputModes":["application/json","text/plain"],"inputSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}
    {"id":"add","name":"add","description":"Adds","tags":[],"inputModes":["application/json"],"outputModes":["application/json","text/plain"],"inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}}},"outputSchema":{"type":"number"}}
    {"id":"bare","name":"bare","description":"Runs the function bare","tags":[],"inputModes":["application/json","text/plain"],"outputModes":["application/json","text/plain"]}
    "#);
    assert_json_snapshot!(Card { skills: Vec::new(), ..card }, @r#"
    {
      "name": "pleat-my-tenant",
      "description": "AI agent powered by Pleat with 3 tool(s)",
      "url": "https://my-tenant.pleat.example",
      "version": "7",
      "capabilities": {
        "streaming": true,
        "pushNotifications": false,
        "stateTransitionHistory": false
      },
      "authentication": {
        "schemes": [
          "bearer"
        ]
      },
      "defaultInputModes": [
        "application/json",
        "text/plain"
      ],
      "defaultOutputModes": [
        "application/json",
        "text/plain"
      ],
      "skills": []
    }
    "#);
}

#[test]
fn an_agent_whose_skills_are_all_public_asks_for_no_key() {
    let card = serde_json::to_value(Card::new(&source(vec![skill("a", "A")]))).unwrap();
    assert_eq!(card.get("authentication"), None);
    let card = serde_json::to_value(Card::new(&source(Vec::new()))).unwrap();
    assert_eq!(card["skills"], json!([]));
    assert_eq!(card["description"], "AI agent powered by Pleat with 0 tool(s)");
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
    let ours = serde_json::to_value(Card::new(&source)).unwrap();
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
