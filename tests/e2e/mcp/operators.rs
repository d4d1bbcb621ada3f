//! The operators' door: an assistant builds a function, ships it, looks at it, and takes it back.

use serde_json::{Value, json};

use super::Client;
use crate::harness::TestServer;

async fn open(server: &TestServer, key: &str) -> Client {
    Client::open_at(server, &format!("{}/mcp", server.url), key, "2025-11-25", json!({})).await
}

fn names(tools: &Value) -> Vec<&str> {
    tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_function_is_built_and_shipped_in_one_conversation() {
    let server = TestServer::start().await;
    let client = open(&server, &server.admin).await;
    let source = |word: &str| {
        format!(
            "export const description = 'Greets';\nexport default (input, ctx) => {{ ctx.log('greeting'); return '{word}, ' + input.name; }}"
        )
    };
    let broken = client.call("deploy_function", json!({ "name": "greet", "source": "export default (" })).await;
    assert_eq!(broken["isError"], true);
    assert!(broken["content"][0]["text"].as_str().unwrap().contains("greet.js"), "{broken}");
    for word in ["Hello", "Bonjour"] {
        let deployed = client.call("deploy_function", json!({ "name": "greet", "source": source(word) })).await;
        assert_eq!(deployed["structuredContent"]["name"], "greet", "{deployed}");
    }
    let called = client.call("call_function", json!({ "name": "greet", "input": { "name": "Ada" } })).await;
    assert!(called["content"][0]["text"].as_str().unwrap().contains("Bonjour, Ada"), "{called}");
    let rolled = client.call("rollback_function", json!({ "name": "greet" })).await;
    assert_eq!(rolled["structuredContent"], json!({ "name": "greet", "version": 1 }));
    let shown = client.call("show_function", json!({ "name": "greet" })).await;
    assert_eq!(shown["structuredContent"]["versions"].as_array().unwrap().len(), 2);
    assert_eq!(
        client.call("list_functions", json!({})).await["structuredContent"]["functions"].as_array().unwrap().len(),
        1
    );
    let logs = client.call("read_logs", json!({ "name": "greet" })).await;
    assert_eq!(logs["structuredContent"]["lines"][0]["message"], "greeting", "{logs}");
    let tasks = client.call("list_tasks", json!({ "limit": 1 })).await;
    assert_eq!(tasks["structuredContent"]["tasks"].as_array().unwrap().len(), 1);
    client.call("delete_function", json!({ "name": "greet" })).await;
    let gone = client.call("show_function", json!({ "name": "greet" })).await;
    assert_eq!(gone["isError"], true);
}

#[tokio::test]
async fn a_pipeline_is_put_together_and_run_in_one_conversation() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let client = open(&server, &server.admin).await;
    let deploy = |text: &str| client.call("deploy_pipeline", json!({ "definition": text, "activate": false }));
    let broken = deploy("name: p\nsteps: [{id: a, tool_name: ech}]").await;
    assert_eq!(broken["isError"], true, "{broken}");
    assert!(broken["content"][0]["text"].as_str().unwrap().contains("there is no skill `ech`"), "{broken}");
    let made = deploy("name: p\nsteps: [{id: a, tool_name: echo}]").await;
    assert_eq!(made["structuredContent"]["state"], "draft", "{made}");
    let run = client.call("run_pipeline", json!({ "name": "p", "input": { "x": 1 } })).await;
    assert_eq!(run["structuredContent"]["artifacts"][0]["value"], json!({ "x": 1 }), "{run}");
    let listed = client.call("list_pipelines", json!({})).await;
    assert_eq!(listed["structuredContent"]["pipelines"][0]["skill"], "pipeline:p", "{listed}");
}

/// What a function asks for is not given to it by whoever deploys over this door.
#[tokio::test]
async fn nothing_is_granted_here() {
    let server = TestServer::start().await;
    let client = open(&server, &server.admin).await;
    let source = "export const capabilities = { secrets: ['KEY'], keyValue: true }; export const visibility = 'public';\n\
        export default (i, ctx) => ctx.secrets.get('KEY');";
    let deployed = client.call("deploy_function", json!({ "name": "greedy", "source": source })).await;
    let (_, function) = server.api(reqwest::Method::GET, "/tenants/acme/functions/greedy", &server.read, None).await;
    assert_eq!(function["visibility"], "listed", "{deployed} {function}");
    assert_eq!(function["grants"]["secrets"].as_array().map_or(0, Vec::len), 0, "{function}");
    let refused = client
        .ask(
            "tools/call",
            json!({ "name": "deploy_function",
        "arguments": { "name": "greedy", "source": source, "grants": ["secrets:KEY"] } }),
        )
        .await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(refused["result"]["content"][0]["text"].as_str().unwrap().contains("unknown field `grants`"), "{refused}");
}

/// What went wrong in a call is no success of the tool that made it.
#[tokio::test]
async fn a_call_that_fails_is_told_as_one() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let client = open(&server, &server.admin).await;
    let fail = json!({ "do": "fail", "code": "x", "message": "no luck" });
    let failed = client.call("call_function", json!({ "name": "probe", "input": fail })).await;
    assert_eq!(failed["isError"], true, "{failed}");
    assert!(failed["content"][0]["text"].as_str().unwrap().contains("no luck"), "{failed}");
}

#[tokio::test]
async fn a_key_sees_and_uses_what_it_may() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let reader = open(&server, &server.read).await;
    let read = ["list_functions", "list_pipelines", "list_tasks", "read_logs", "show_function"];
    assert_eq!(names(&reader.result("tools/list", json!({})).await), read);
    let refused = reader.ask("tools/call", json!({ "name": "delete_function", "arguments": { "name": "echo" } })).await;
    assert_eq!(refused["error"]["code"], -32053, "{refused}");
    let deployer = open(&server, &server.deploy).await;
    let tools = deployer.result("tools/list", json!({})).await;
    assert!(names(&tools).contains(&"deploy_function") && !names(&tools).contains(&"call_function"));
    assert_eq!(deployer.ask("tools/call", json!({ "name": "none" })).await["error"]["code"], -32602);
    assert_eq!(deployer.ask("resources/list", json!({})).await["error"]["code"], -32601);
    // Another tenant's key is at home in its own.
    let other = server.other_tenant("other").await;
    let elsewhere = open(&server, &other).await;
    let listed = elsewhere.call("list_functions", json!({})).await;
    assert_eq!(listed["structuredContent"]["functions"], json!([]));
}

/// Who is turned away is told the scope that would have done.
#[tokio::test]
async fn a_key_that_is_not_enough_is_told_what_would_be() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", server.url);
    let challenge = |response: &reqwest::Response| response.headers()["www-authenticate"].to_str().unwrap().to_owned();
    let url = format!("{}/mcp", server.url);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let nobody = server.client.post(&url).json(&list).send().await.unwrap();
    assert_eq!(nobody.status(), 401);
    assert_eq!(challenge(&nobody), format!("Bearer resource_metadata=\"{metadata}\", scope=\"read\""));
    let caller = server.client.post(&url).bearer_auth(&server.invoke).json(&list).send().await.unwrap();
    assert_eq!(caller.status(), 403);
    assert!(challenge(&caller).ends_with("scope=\"read\", error=\"insufficient_scope\""), "{}", challenge(&caller));
    let reader = open(&server, &server.read).await;
    for (tool, scope) in [("delete_function", "deploy"), ("call_function", "invoke")] {
        let call = reader.body(1, "tools/call", json!({ "name": tool, "arguments": { "name": "echo" } }));
        let refused = reader.post(call).send().await.unwrap();
        assert_eq!(refused.status(), 403, "{tool}");
        let wanted = format!("scope=\"{scope}\", error=\"insufficient_scope\"");
        assert!(challenge(&refused).ends_with(&wanted), "{tool}: {}", challenge(&refused));
    }
}
