//! What a card announces, and how a client begins with nothing but the card.

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use super::*;

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
#[expect(clippy::too_many_lines, reason = "the card is written out")]
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
    assert_json_snapshot!(hybrid(&source)["transport"], @r#"
    {
      "primary": "mcp-streamable-http",
      "protocols": [
        {
          "id": "mcp-streamable-http",
          "url": "https://my-tenant.pleat.example/mcp",
          "protocolVersions": [
            "2025-11-25",
            "2025-06-18",
            "2025-03-26"
          ],
          "handshake": {
            "method": "POST",
            "headers": {
              "Content-Type": "application/json",
              "Accept": "application/json, text/event-stream",
              "MCP-Protocol-Version": "2025-11-25"
            },
            "body": {
              "jsonrpc": "2.0",
              "id": 1,
              "method": "initialize",
              "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {
                  "name": "<your-agent-name>",
                  "version": "0.1.0"
                }
              }
            },
            "responseSessionHeader": {
              "name": "Mcp-Session-Id"
            },
            "postInitializeNotification": {
              "method": "POST",
              "headers": {
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2025-11-25",
                "Mcp-Session-Id": "<value-from-initialize-response>"
              },
              "body": {
                "jsonrpc": "2.0",
                "method": "notifications/initialized"
              }
            },
            "exampleNextCall": {
              "method": "POST",
              "headers": {
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2025-11-25",
                "Mcp-Session-Id": "<value-from-initialize-response>"
              },
              "body": {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/list"
              }
            },
            "endOfSession": {
              "method": "DELETE",
              "headers": {
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2025-11-25",
                "Mcp-Session-Id": "<value-from-initialize-response>"
              }
            },
            "exampleToolCall": {
              "method": "POST",
              "headers": {
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2025-11-25",
                "Mcp-Session-Id": "<value-from-initialize-response>"
              },
              "body": {
                "jsonrpc": "2.0",
                "id": 3,
                "method": "tools/call",
                "params": {
                  "name": "weather",
                  "arguments": {
                    "city": "Rome"
                  }
                }
              }
            }
          },
          "errorShape": {
            "missingInitialize": {
              "jsonrpc": "2.0",
              "id": null,
              "error": {
                "code": -32600,
                "message": "Invalid Request: server must receive a JSON-RPC 'initialize' before any other method.",
                "data": {
                  "expectedMethod": "initialize",
                  "transport": "streamable-http",
                  "recipeUrl": "https://my-tenant.pleat.example/.well-known/agent-card.json#/transport/protocols/0/handshake"
                }
              }
            }
          }
        },
        {
          "id": "mcp-streamable-http-stateless",
          "url": "https://my-tenant.pleat.example/mcp",
          "protocolVersions": [
            "2026-07-28"
          ],
          "handshake": {
            "method": "POST",
            "headers": {
              "Content-Type": "application/json",
              "Accept": "application/json, text/event-stream",
              "MCP-Protocol-Version": "2026-07-28",
              "Mcp-Method": "server/discover"
            },
            "body": {
              "jsonrpc": "2.0",
              "id": 1,
              "method": "server/discover",
              "params": {
                "_meta": {
                  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                  "io.modelcontextprotocol/clientCapabilities": {},
                  "io.modelcontextprotocol/clientInfo": {
                    "name": "<your-agent-name>",
                    "version": "0.1.0"
                  }
                }
              }
            },
            "exampleNextCall": {
              "method": "POST",
              "headers": {
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2026-07-28",
                "Mcp-Method": "tools/list"
              },
              "body": {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/list",
                "params": {
                  "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                    "io.modelcontextprotocol/clientInfo": {
                      "name": "<your-agent-name>",
                      "version": "0.1.0"
                    }
                  }
                }
              }
            },
            "exampleToolCall": {
              "method": "POST",
              "headers": {
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2026-07-28",
                "Mcp-Method": "tools/call",
                "Mcp-Name": "weather"
              },
              "body": {
                "jsonrpc": "2.0",
                "id": 3,
                "method": "tools/call",
                "params": {
                  "name": "weather",
                  "arguments": {
                    "city": "Rome"
                  },
                  "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                    "io.modelcontextprotocol/clientInfo": {
                      "name": "<your-agent-name>",
                      "version": "0.1.0"
                    }
                  }
                }
              }
            }
          },
          "errorShape": {
            "unsupportedVersion": {
              "jsonrpc": "2.0",
              "id": 1,
              "error": {
                "code": -32022,
                "message": "Unsupported protocol version",
                "data": {
                  "supported": [
                    "2026-07-28"
                  ],
                  "requested": "<the version that was sent>"
                }
              }
            }
          }
        },
        {
          "id": "a2a-jsonrpc",
          "url": "https://my-tenant.pleat.example/_a2a/",
          "protocolVersions": [
            "1.0",
            "0.3",
            "0.1"
          ],
          "handshake": {
            "method": "POST",
            "headers": {
              "Content-Type": "application/json",
              "Accept": "application/json, text/event-stream",
              "A2A-Version": "1.0"
            },
            "body": {
              "jsonrpc": "2.0",
              "id": 1,
              "method": "SendMessage",
              "params": {
                "message": {
                  "messageId": "<unique-id>",
                  "role": "ROLE_USER",
                  "parts": [
                    {
                      "text": "<your-message>"
                    }
                  ]
                },
                "metadata": {
                  "skill": "plain"
                }
              }
            }
          }
        },
        {
          "id": "http-json",
          "url": "https://my-tenant.pleat.example",
          "endpoints": [
            {
              "path": "/{skill}",
              "method": "GET"
            },
            {
              "path": "/{skill}",
              "method": "POST"
            }
          ]
        }
      ],
      "discoveryNote": "This block is the whole of what a client needs to begin; other files are advisory"
    }
    "#);
}
