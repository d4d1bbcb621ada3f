//! Functions as tools: how they are listed, what they get, and what their results look like.

use serde_json::{Value, json};

use super::{Client, Modern};
use crate::harness::{TestServer, redacted};

const FULL: &str = r##"
    export const title = "Weather lookup";
    export const description = "Look up the weather";
    export const input = { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object",
      $defs: { c: { type: "string" } }, properties: { city: { $ref: "#/$defs/c" } }, required: ["city"] };
    export const output = { type: "object", properties: { t: { type: "number" } }, required: ["t"] };
    export const annotations = { readOnlyHint: true, idempotentHint: true, taskSupport: "optional" };
    export default (input) => input.city === "Oslo" ? { t: 4 } : { t: "none" };"##;

#[tokio::test]
async fn a_function_is_listed_with_all_that_it_says_of_itself() {
    let server = TestServer::start().await;
    server.deploy("weather.js", FULL, "&visibility=public").await;
    server.deploy_echo().await;
    let client = Client::open(&server, json!({})).await;
    insta::assert_json_snapshot!(client.result("tools/list", json!({})).await);
}

#[tokio::test]
async fn a_result_is_structured_where_a_schema_is_declared_and_text_always() {
    let server = TestServer::start().await;
    server.deploy("weather.js", FULL, "&visibility=public").await;
    let client = Client::open(&server, json!({})).await;
    let result = client.call("weather", json!({ "city": "Oslo" })).await;
    assert_eq!(result["structuredContent"], json!({ "t": 4 }));
    assert_eq!(result["content"], json!([{ "type": "text", "text": r#"{"t":4}"# }]));
    assert_eq!(result.get("isError"), None);
    // A result that breaks the promise does not leave as one.
    let broken = client.call("weather", json!({ "city": "Rome" })).await;
    assert_eq!(broken["isError"], true, "{broken}");
    assert_eq!(broken.get("structuredContent"), None);
}

#[tokio::test]
async fn what_a_model_can_mend_is_a_result_and_an_unknown_tool_an_error() {
    let server = TestServer::start().await;
    server.deploy("weather.js", FULL, "&visibility=public").await;
    server.deploy_probe().await;
    let client = Client::open(&server, json!({})).await;
    let wrong = client.call("weather", json!({})).await;
    assert_eq!(wrong["isError"], true);
    assert!(wrong["content"][0]["text"].as_str().unwrap().contains("city"), "{wrong}");
    let failed = client.call("probe", json!({ "do": "fail", "code": "x", "message": "no luck" })).await;
    assert_eq!((&failed["isError"], &failed["content"][0]["text"]), (&json!(true), &json!("no luck")));
    let unknown = client.ask("tools/call", json!({ "name": "nothing" })).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    // Nothing ran for what was refused.
    let (_, tasks) = server.api(reqwest::Method::GET, "/tenants/acme/tasks", &server.read, None).await;
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn blocks_go_one_to_one_and_traces_stay_behind() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let blocks = json!([
        { "type": "text", "text": "hi", "annotations": { "audience": ["user"] } },
        { "type": "image", "data": "iVBORw0=", "mimeType": "image/png" },
        { "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav" },
        { "type": "resource", "resource": { "uri": "test://x", "mimeType": "text/plain", "text": "x" } },
        { "type": "resource_link", "uri": "test://y", "name": "y" },
        { "type": "thinking", "thinking": "hidden" },
    ]);
    let client = Client::open(&server, json!({})).await;
    let result = client.call("probe", json!({ "do": "content", "blocks": blocks })).await;
    assert_eq!(result["content"].as_array().unwrap().as_slice(), &blocks.as_array().unwrap()[..5]);
}

#[tokio::test]
async fn a_call_is_a_task_like_any_other() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let client = Client::open_as(&server, &server.invoke).await;
    let result = client.call("echo", json!({ "a": 1 })).await;
    let id = result["_meta"]["pleat/taskId"].as_str().unwrap();
    let task = server.task(id).await;
    assert_eq!((&task["door"], &task["state"], &task["skill"]), (&json!("mcp"), &json!("completed"), &json!("echo")));
    let (_, seen) = server.rpc_as(&server.invoke, "tasks/get", json!({ "id": id })).await;
    assert_eq!(seen["result"]["status"]["state"], "completed", "the same task over A2A");
}

#[tokio::test]
async fn any_value_is_structured_in_the_version_that_allows_it() {
    let server = TestServer::start().await;
    let script =
        "export const description = 'Lists'; export const output = { type: 'array' }; export default () => [1, 2];";
    server.deploy("list.js", script, "&visibility=public").await;
    let old = Client::open(&server, json!({})).await;
    assert_eq!(old.result("tools/list", json!({})).await["tools"][0].get("outputSchema"), None);
    assert_eq!(old.call("list", json!({})).await.get("structuredContent"), None);
    let new = Modern::new(&server, json!({}));
    assert_eq!(new.result("tools/list", json!({})).await["tools"][0]["outputSchema"], json!({ "type": "array" }));
    let result = new.result("tools/call", json!({ "name": "list" })).await;
    assert_eq!(redacted(result)["structuredContent"], json!([1, 2]));
}

#[tokio::test]
async fn an_input_that_is_no_object_is_an_argument() {
    let server = TestServer::start().await;
    let script = "export const description = 'Shouts'; export const input = { type: 'string' }; export default (t) => t.toUpperCase();";
    server.deploy("shout.js", script, "&visibility=public").await;
    let client = Client::open(&server, json!({})).await;
    let listed = client.result("tools/list", json!({})).await;
    assert_eq!(listed["tools"][0]["inputSchema"]["properties"], json!({ "input": { "type": "string" } }));
    assert_eq!(client.call("shout", json!({ "input": "hi" })).await["content"][0]["text"], "HI");
}

/// The list is what may be called, for every kind of caller.
#[tokio::test]
async fn each_caller_sees_exactly_what_it_may_call() {
    let server = TestServer::start().await;
    for visibility in ["public", "listed", "unlisted"] {
        let query = format!("&name={visibility}&visibility={visibility}");
        server.deploy("echo.wasm", crate::harness::fixture("echo.wasm"), &query).await;
    }
    for key in ["", server.invoke.as_str(), server.admin.as_str()] {
        let client = Client::open_as(&server, key).await;
        let listed = client.result("tools/list", json!({})).await;
        let names: Vec<&str> =
            listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        for name in ["listed", "public", "unlisted"] {
            let answer = client.ask("tools/call", json!({ "name": name })).await;
            assert_eq!(names.contains(&name), answer.get("result").is_some(), "{name} as `{key}`: {answer}");
        }
    }
}

#[tokio::test]
async fn long_lists_come_in_pages_and_a_cursor_is_its_callers_own() {
    let server = TestServer::start().await;
    for number in 0..130 {
        let query = format!("&name=f{number:03}&visibility=public");
        server.deploy("echo.wasm", crate::harness::fixture("echo.wasm"), &query).await;
    }
    let client = Client::open(&server, json!({})).await;
    let first = client.result("tools/list", json!({})).await;
    assert_eq!(first["tools"].as_array().unwrap().len(), 100);
    let cursor = first["nextCursor"].clone();
    let second = client.result("tools/list", json!({ "cursor": cursor })).await;
    let names = |page: &Value| -> Vec<String> {
        page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let all: Vec<String> = names(&first).into_iter().chain(names(&second)).collect();
    assert_eq!(all, (0..130).map(|number| format!("f{number:03}")).collect::<Vec<_>>());
    assert_eq!(second.get("nextCursor"), None);
    let stranger = Client::open_as(&server, &server.invoke).await;
    let key = server.other_tenant("other").await;
    let url = format!("{}/api/v1/tenants/other/functions?fileName=echo.wasm&name=echo&visibility=public", server.url);
    let deployed = server.client.post(url).bearer_auth(&key).body(crate::harness::fixture("echo.wasm"));
    assert_eq!(deployed.send().await.unwrap().status(), 201);
    let there = format!("{}/t/other/mcp", server.url);
    let neighbour = Client::open_at(&server, &there, "", "2025-11-25", json!({})).await;
    for (client, method, cursor) in [
        (&stranger, "tools/list", cursor.clone()),
        (&neighbour, "tools/list", cursor.clone()),
        (&client, "prompts/list", cursor),
        (&client, "tools/list", json!("x")),
    ] {
        assert_eq!(client.ask(method, json!({ "cursor": cursor })).await["error"]["code"], -32602);
    }
}
