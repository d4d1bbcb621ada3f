//! The card that the product's documentation shows, held against ours.

use serde_json::Value;

use super::*;

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
