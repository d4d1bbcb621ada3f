//! The first demo, in one test: deploy a script, discover it, use it, see the task.

use serde_json::json;

use crate::harness::{TestServer, example};

#[tokio::test]
async fn a_deployed_script_is_an_agent() {
    let server = TestServer::start().await;
    server.deploy("hello.js", example("hello.js"), "&visibility=public").await;
    let card = server.client.get(format!("{}/.well-known/agent-card.json", server.tenant_url())).send().await.unwrap();
    let card: serde_json::Value = card.json().await.unwrap();
    assert_eq!(card["skills"][0]["id"], "hello");
    let answer = server.rpc("tasks/send", json!({ "skill": "hello", "message": { "name": "Ada" } })).await;
    assert_eq!(answer["result"]["status"]["state"], "completed", "{answer}");
    let id = answer["result"]["id"].as_str().unwrap();
    let again = server.rpc("tasks/get", json!({ "id": id })).await;
    assert_eq!(again["result"]["artifacts"], answer["result"]["artifacts"]);
}
