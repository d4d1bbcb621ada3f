//! `pleat call --via mcp` and the bridge for clients that only speak over stdin and stdout.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::cli::Tenant;
use crate::harness::binary::run_with;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

#[tokio::test]
async fn a_call_over_mcp_prints_what_the_other_doors_print() {
    let tenant = Tenant::with_probe("mcp-call").await;
    let call = async |input: &str| tenant.pleat(&["call", "probe", input, "--via", "mcp"]).await;
    assert_eq!(call(r#"{"do":"echo","value":"two\nlines"}"#).await.ok().stdout, "two\nlines\n");
    assert_eq!(call(r#"{"do":"echo","value":{"a":[1,0.5]}}"#).await.ok().stdout, "{\"a\":[1,0.5]}\n");
    let failed = call(r#"{"do":"fail","code":"x","message":"no luck"}"#).await.failed(3);
    failed.says(&["`probe` failed", "no luck"]);
    let whole =
        tenant.pleat(&["call", "probe", r#"{"do":"echo","value":7}"#, "--via", "mcp", "--json"]).await.ok().json();
    assert_eq!((&whole["structuredContent"], &whole["resultType"]), (&json!(7), &json!("complete")));
    let progress = r#"{"do":"progress","done":1,"total":2,"note":"half"}"#;
    tenant.pleat(&["call", "probe", progress, "--via", "mcp", "--stream"]).await.ok();
    tenant.pleat(&["call", "none", "--via", "mcp"]).await.failed(1).says(&["unknown skill `none`"]);
}

/// Deploys a script under a name.
async fn with_script(tenant: &Tenant, name: &str, script: &str) {
    let file = tenant.file(&format!("{name}.js"), &format!("export const description = 'For a test';\n{script}"));
    tenant.pleat(&["deploy", &file]).await.ok();
}

#[tokio::test]
async fn a_function_whose_calls_are_tasks_is_followed_to_its_end() {
    let tenant = Tenant::new("mcp-task").await;
    let script = "export const annotations = { taskSupport: 'required' };
        export default async (input, ctx) => {
          if (input.fail) throw new Error('no luck');
          if (input.ask) return ctx.needInput('which one?');
          if (input.kind) return ctx.needClient(input.kind, { messages: [], maxTokens: 1 });
          await new Promise((go) => setTimeout(go, input.ms ?? 0));
          return { waited: input.ms ?? 0 };
        };";
    with_script(&tenant, "long", script).await;
    let call = async |input: &str| tenant.pleat(&["call", "long", input, "--via", "mcp"]).await;
    assert_eq!(call("{}").await.ok().stdout, "{\"waited\":0}\n");
    assert_eq!(call(r#"{"ms":1200}"#).await.ok().stdout, "{\"waited\":1200}\n");
    call(r#"{"fail":true}"#).await.failed(3).says(&["`long` failed", "no luck", "\n  task: task_"]);
    let waits = call(r#"{"ask":true}"#).await.failed(1);
    waits.says(&["`long` waits for an answer (input-required): which one?", "`pleat call long ANSWER --task task_"]);
    call(r#"{"kind":"sample"}"#).await.failed(1).says(&["it needs `sampling`"]);
    let waiting = tenant.pleat(&["tasks", "list", "--state", "input-required", "--json"]).await.ok().json();
    assert_eq!(waiting["tasks"].as_array().unwrap().len(), 1, "what nobody can answer was given up: {waiting}");
}

#[tokio::test]
async fn a_function_that_asks_says_what_it_needs_and_where_it_can_be_answered() {
    let tenant = Tenant::new("mcp-asks").await;
    let script = "export default (input, ctx) =>
        input.kind ? ctx.needClient(input.kind, { messages: [], maxTokens: 1 }) : ctx.needInput('who?');";
    with_script(&tenant, "asks", script).await;
    let call = async |input: &str| tenant.pleat(&["call", "asks", input, "--via", "mcp"]).await.failed(1);
    call("{}").await.says(&["`asks` asks", "it needs `elicitation`", "hint: call it with `--via http` or `--via a2a`"]);
    let sampling = call(r#"{"kind":"sample"}"#).await.says(&["it needs `sampling`", "hint: ", "`pleat mcp stdio`"]);
    assert!(!sampling.stderr.contains("--via http"), "no other door has a model: {sampling:?}");
}

#[tokio::test]
async fn what_a_terminal_does_not_show_is_named() {
    let tenant = Tenant::new("mcp-media").await;
    let script = "const media = [
          { type: 'image', data: 'AAECAwQ=', mimeType: 'image/png' },
          { type: 'audio', data: 'AAEC', mimeType: 'audio/wav' },
          { type: 'resource_link', uri: 'https://example.com/a.pdf', name: 'a', mimeType: 'application/pdf' },
          { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'abc' } }];
        export default (input, ctx) => {
          if (input.structured) return ctx.content(['in words', ...media], { n: 1.0, list: [1] });
          return ctx.content(input.silent ? media : ['first', ...media, 'second']);
        };";
    with_script(&tenant, "media", script).await;
    let call = async |input: &str, via: &str| tenant.pleat(&["call", "media", input, "--via", via]).await.ok();
    let named = "not shown: image, image/png, 5 B\nnot shown: audio, audio/wav, 3 B\n\
        not shown: link, application/pdf, https://example.com/a.pdf\nnot shown: resource, text/plain, 3 B, file:///a.txt\n";
    let texts = call("{}", "mcp").await;
    assert_eq!((texts.stdout.as_str(), texts.stderr.as_str()), ("first\nsecond\n", named));
    let silent = call(r#"{"silent":true}"#, "mcp").await;
    assert_eq!((silent.stdout.as_str(), silent.stderr.as_str()), ("", named));
    let structured = call(r#"{"structured":true}"#, "mcp").await;
    assert_eq!(structured.stdout, call(r#"{"structured":true}"#, "http").await.stdout);
    assert_eq!(structured.stderr, format!("not shown: text, 8 B\n{named}"));
}

#[tokio::test]
async fn the_bridge_passes_a_session_and_ends_it() {
    let tenant = Tenant::with_probe("mcp-stdio").await;
    let sent = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
            "name": "probe", "arguments": { "do": "sleep", "ms": 1500 } } }),
        json!({ "jsonrpc": "2.0", "id": 4, "method": "no/such" }),
    ];
    let text = sent.iter().map(|message| format!("{message}\n")).collect::<String>() + "not json\n";
    let ran = run_with(&mut tenant.command(&["mcp", "stdio"]), Some(text.as_bytes())).await.ok();
    let answers = lines(&ran.stdout);
    let of = |id: Value| answers.iter().find(|answer| answer["id"] == id).unwrap_or_else(|| panic!("{id}: {ran:?}"));
    assert_eq!(of(json!(1))["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(of(json!(2))["result"]["tools"][0]["name"], "probe");
    assert!(of(json!(3))["result"]["content"].is_array(), "over a stream: {ran:?}");
    assert_eq!(of(json!(4))["error"]["code"], -32601);
    assert_eq!(of(Value::Null)["error"]["code"], -32700);
}

#[tokio::test]
async fn the_bridge_makes_the_headers_that_requests_need_which_stand_for_themselves() {
    let tenant = Tenant::new("mcp-stateless").await;
    let script = "export const description = 'Routed'; export const input = { type: 'object', properties: \
        { region: { type: 'string', 'x-mcp-header': 'Region' } } }; export default (i) => i.region ?? 'none';";
    let file = tenant.file("routed.js", script);
    tenant.pleat(&["deploy", &file]).await.ok();
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
    let list = json!({ "jsonrpc": "2.0", "id": "l", "method": "tools/list", "params": { "_meta": meta } });
    let call = json!({ "jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {
        "name": "routed", "arguments": { "region": "größe" }, "_meta": meta } });
    // The bridge learns from the list which arguments are headers.
    let mut child = tenant.command(&["mcp", "stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = BufReader::new(stdout).lines();
    let mut ask = async |message: &Value| -> Value {
        stdin.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        serde_json::from_str(&answers.next_line().await.unwrap().unwrap()).unwrap()
    };
    let listed = ask(&list).await;
    assert_eq!(listed["result"]["tools"][0]["name"], "routed", "{listed}");
    let called = ask(&call).await;
    assert_eq!(called["result"]["content"][0]["text"], "größe", "{called}");
}

#[tokio::test]
async fn the_operators_door_is_bridged_too() {
    let tenant = Tenant::new("mcp-operators").await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} } } });
    let ran = run_with(&mut tenant.command(&["mcp", "stdio", "--operators"]), Some(format!("{list}\n").as_bytes()))
        .await
        .ok();
    let tools = &lines(&ran.stdout)[0]["result"]["tools"];
    assert!(tools.as_array().unwrap().iter().any(|tool| tool["name"] == "deploy_function"), "{ran:?}");
}
