//! A pipeline among the tools, prompts and resources of MCP: one name everywhere, and told how far it is.

use serde_json::{Value, json};

use super::server;
use crate::mcp::{Client, Modern};

const TWICE: &str = "name: twice\ndescription: Says it\nsteps: [{id: a, tool_name: echo}, {id: b, tool_name: echo}]";

fn names<'a>(list: &'a Value, of: &str, field: &str) -> Vec<&'a str> {
    list[of].as_array().unwrap().iter().map(|one| one[field].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_pipeline_has_one_name_among_tools_prompts_and_resources() {
    let server = server().await;
    server.activate(TWICE).await;
    let client = Client::open(&server, json!({})).await;
    assert!(names(&client.result("tools/list", json!({})).await, "tools", "name").contains(&"pipeline_twice"));
    let prompts = client.result("prompts/list", json!({})).await;
    assert!(names(&prompts, "prompts", "name").contains(&"use-pipeline_twice"), "{prompts}");
    let resources = client.result("resources/list", json!({})).await;
    assert!(names(&resources, "resources", "uri").contains(&"pleat://functions/pipeline_twice"), "{resources}");
    for name in ["pipeline_twice", "pipeline:twice"] {
        let used = client.result("prompts/get", json!({ "name": format!("use-{name}") })).await;
        let text = used["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.starts_with("Use the tool `pipeline_twice`."), "{text}");
        let read = client.result("resources/read", json!({ "uri": format!("pleat://functions/{name}") })).await;
        assert!(read["contents"][0]["text"].as_str().unwrap().contains("Says it"), "{read}");
    }
}

#[tokio::test]
async fn a_long_name_is_cut_for_models_and_stays_callable() {
    let server = server().await;
    let (first, second) = ("x".repeat(63), format!("{}y", "x".repeat(62)));
    for name in [&first, &second] {
        server.activate(&format!("name: {name}\nsteps: [{{id: a, tool_name: echo}}]")).await;
    }
    let client = Client::open(&server, json!({})).await;
    let tools = client.result("tools/list", json!({})).await;
    let mut cut = names(&tools, "tools", "name");
    cut.retain(|name| name.starts_with("pipeline_"));
    assert!(cut.len() == 2 && cut[0] != cut[1] && cut.iter().all(|name| name.len() == 64), "{cut:?}");
    for name in cut.into_iter().chain([format!("pipeline:{first}").as_str()]) {
        let called = client.call(name, json!({ "a": 1 })).await;
        assert_eq!(called["structuredContent"], json!({ "a": 1 }), "{name}");
    }
}

#[tokio::test]
async fn the_steps_of_a_run_are_its_progress() {
    let server = server().await;
    server.activate(TWICE).await;
    let mut client = Modern::new(&server, json!({}));
    client.meta = json!({ "progressToken": "p" });
    let call = json!({ "name": "pipeline_twice", "arguments": { "x": 1 } });
    let messages = client.stream("tools/call", call).await.all().await;
    let told: Vec<&Value> =
        messages.iter().filter(|one| one["method"] == "notifications/progress").map(|one| &one["params"]).collect();
    // The end of the last step is that of the run.
    let expected = json!({ "progressToken": "p", "progress": 1, "total": 2, "message": "step 1 of 2" });
    assert_eq!(told, [&expected], "{messages:?}");
    assert_eq!(messages.last().unwrap()["result"]["structuredContent"], json!({ "x": 1 }));
}
