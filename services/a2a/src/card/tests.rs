//! The card as clients get it.

mod documented;
mod first_call;
mod signed;

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
        let params = extensions.as_array_mut().unwrap().iter_mut().filter_map(|extension| extension.get_mut("params"));
        params.for_each(|params| *params = json!("…"));
    }
    card
}

#[test]
#[expect(clippy::too_many_lines, reason = "the card is written out")]
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
    assert_snapshot!(lines(&pure["skills"]), @r#"
    {"id":"weather-lookup","name":"weather-lookup","description":"Look up current weather for a city","tags":["weather"],"examples":["San Francisco","{\"city\":\"Rome\"}"],"inputModes":["application/json","text/plain"],"outputModes":["application/json","text/plain"],"securityRequirements":[{"schemes":{"bearer":{"list":["invoke"]}}}]}
    {"id":"add","name":"add","description":"Adds","tags":["function"],"inputModes":["application/json"],"outputModes":["application/json"]}
    {"id":"bare","name":"bare","description":"Runs the function bare","tags":["function"],"inputModes":["application/json","text/plain"],"outputModes":["application/json","text/plain"]}
    "#);
    assert_snapshot!(lines(&hybrid["skills"]), @r#"
    {"id":"weather-lookup","name":"weather-lookup","description":"Look up current weather for a city","tags":["weather"],"examples":["San Francisco","{\"city\":\"Rome\"}"],"inputModes":["application/json","text/plain"],"outputModes":["application/json","text/plain"],"securityRequirements":[{"schemes":{"bearer":{"list":["invoke"]}}}],"inputSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]},"security":[{"bearer":["invoke"]}]}
    {"id":"add","name":"add","description":"Adds","tags":["function"],"inputModes":["application/json"],"outputModes":["application/json"],"inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}}},"outputSchema":{"type":"number"}}
    {"id":"bare","name":"bare","description":"Runs the function bare","tags":["function"],"inputModes":["application/json","text/plain"],"outputModes":["application/json","text/plain"]}
    "#);
    assert_json_snapshot!(outline(pure.clone()), @r#"
    {
      "name": "pleat-my-tenant",
      "description": "AI agent powered by Pleat with 3 tool(s)",
      "supportedInterfaces": [
        {
          "url": "https://my-tenant.pleat.example/_a2a/",
          "protocolBinding": "JSONRPC",
          "protocolVersion": "1.0"
        },
        {
          "url": "https://my-tenant.pleat.example/_a2a/rest",
          "protocolBinding": "HTTP+JSON",
          "protocolVersion": "1.0"
        },
        {
          "url": "https://my-tenant.pleat.example/_a2a/",
          "protocolBinding": "JSONRPC",
          "protocolVersion": "0.3"
        }
      ],
      "version": "7",
      "capabilities": {
        "streaming": true,
        "pushNotifications": false,
        "extendedAgentCard": true,
        "extensions": [
          {
            "uri": "urn:pleat:a2a:transport:v1",
            "description": "How to make the first call through each door, ready to be sent",
            "params": "…"
          },
          {
            "uri": "urn:pleat:a2a:schemas:v1",
            "description": "JSON Schema of what skills take and give, by the skill's id",
            "params": "…"
          },
          {
            "uri": "urn:pleat:a2a:task-list:v1",
            "description": "The method tasks/list for callers of 0.3: ListTasks in the words of that version"
          },
          {
            "uri": "urn:pleat:a2a:message-once:v1",
            "description": "A message counts once, by its messageId: sent again, it is answered with its task"
          }
        ]
      },
      "securitySchemes": {
        "bearer": {
          "httpAuthSecurityScheme": {
            "description": "A key of this agent's tenant: plt_…",
            "scheme": "Bearer"
          }
        }
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
    assert_json_snapshot!(outline(hybrid), @r#"
    {
      "name": "pleat-my-tenant",
      "description": "AI agent powered by Pleat with 3 tool(s)",
      "supportedInterfaces": [
        {
          "url": "https://my-tenant.pleat.example/_a2a/",
          "protocolBinding": "JSONRPC",
          "protocolVersion": "1.0"
        },
        {
          "url": "https://my-tenant.pleat.example/_a2a/rest",
          "protocolBinding": "HTTP+JSON",
          "protocolVersion": "1.0"
        },
        {
          "url": "https://my-tenant.pleat.example/_a2a/",
          "protocolBinding": "JSONRPC",
          "protocolVersion": "0.3"
        }
      ],
      "version": "7",
      "capabilities": {
        "streaming": true,
        "pushNotifications": false,
        "extendedAgentCard": true,
        "extensions": [
          {
            "uri": "urn:pleat:a2a:task-list:v1",
            "description": "The method tasks/list for callers of 0.3: ListTasks in the words of that version"
          },
          {
            "uri": "urn:pleat:a2a:message-once:v1",
            "description": "A message counts once, by its messageId: sent again, it is answered with its task"
          }
        ],
        "stateTransitionHistory": false
      },
      "securitySchemes": {
        "bearer": {
          "type": "http",
          "description": "A key of this agent's tenant: plt_…",
          "scheme": "Bearer",
          "httpAuthSecurityScheme": {
            "description": "A key of this agent's tenant: plt_…",
            "scheme": "Bearer"
          }
        }
      },
      "defaultInputModes": [
        "application/json",
        "text/plain"
      ],
      "defaultOutputModes": [
        "application/json",
        "text/plain"
      ],
      "skills": [],
      "url": "https://my-tenant.pleat.example",
      "preferredTransport": "JSONRPC",
      "protocolVersion": "0.3.0",
      "additionalInterfaces": [
        {
          "url": "https://my-tenant.pleat.example",
          "transport": "JSONRPC"
        },
        {
          "url": "https://my-tenant.pleat.example/_a2a/",
          "transport": "JSONRPC"
        }
      ],
      "supportsAuthenticatedExtendedCard": true,
      "authentication": {
        "schemes": [
          "bearer"
        ]
      },
      "transport": "…"
    }
    "#);
    assert_json_snapshot!(pure["capabilities"]["extensions"][1], @r#"
    {
      "uri": "urn:pleat:a2a:schemas:v1",
      "description": "JSON Schema of what skills take and give, by the skill's id",
      "params": {
        "skills": {
          "weather-lookup": {
            "inputSchema": {
              "type": "object",
              "properties": {
                "city": {
                  "type": "string"
                }
              },
              "required": [
                "city"
              ]
            }
          },
          "add": {
            "inputSchema": {
              "type": "object",
              "properties": {
                "a": {
                  "type": "number"
                },
                "b": {
                  "type": "number"
                }
              }
            },
            "outputSchema": {
              "type": "number"
            }
          }
        }
      }
    }
    "#);
}

#[test]
fn the_kinds_of_output_follow_the_output_schema() {
    let modes = |schema: &Value| {
        let skill = CardSkill { output: Some(schema), ..skill("a", "A") };
        pure(&source(vec![skill]))["skills"][0]["outputModes"].clone()
    };
    assert_eq!(modes(&json!({ "type": "string" })), json!(["text/plain"]));
    for schema in [json!({ "type": "object" }), json!({ "type": ["array", "null"] })] {
        assert_eq!(modes(&schema), json!(["application/json"]), "{schema}");
    }
    for schema in [json!({}), json!(true), json!({ "type": ["string", "null"] }), json!({ "enum": ["a", 1] })] {
        assert_eq!(modes(&schema), json!(["application/json", "text/plain"]), "{schema}");
    }
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
    assert_snapshot!(faults.join("\n"), @r"
    /skills/0/tags: must be an array of strings
    /skills/0/inputSchema: is no field of A2A 1.0
    /capabilities/streaming: must be true or false
    /securitySchemes/bearer: must have exactly one of apiKeySecurityScheme, httpAuthSecurityScheme, oauth2SecurityScheme, openIdConnectSecurityScheme, mtlsSecurityScheme
    : must have `version`
    ");
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
    }), @r#"
    {
      "securitySchemes": {
        "bearer": {
          "type": "http",
          "description": "A key of this agent's tenant: plt_…",
          "scheme": "Bearer",
          "httpAuthSecurityScheme": {
            "description": "A key of this agent's tenant: plt_…",
            "scheme": "Bearer"
          }
        },
        "jwt": {
          "type": "http",
          "description": "A token for this agent from https://id.example or backend",
          "scheme": "Bearer",
          "bearerFormat": "JWT",
          "httpAuthSecurityScheme": {
            "description": "A token for this agent from https://id.example or backend",
            "scheme": "Bearer",
            "bearerFormat": "JWT"
          }
        }
      },
      "securityRequirements": [
        {
          "schemes": {
            "bearer": {
              "list": [
                "invoke"
              ]
            }
          }
        },
        {
          "schemes": {
            "jwt": {
              "list": [
                "invoke"
              ]
            }
          }
        }
      ]
    }
    "#);
}

#[test]
fn an_agent_without_skills_has_a_card() {
    let card = hybrid(&source(Vec::new()));
    assert_eq!(card["skills"], json!([]));
    assert_eq!(card["description"], "AI agent powered by Pleat with 0 tool(s)");
    assert_eq!(card.get("authentication"), None);
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
