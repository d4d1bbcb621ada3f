//! A function that needs its caller's user, model or directories gets them: over the stream of a session, or by a call
//! that is repeated.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::Messages;
use super::{Client, Modern};
use crate::harness::TestServer;

const ASKER: &str = r#"
    export const description = "Asks its caller's client";
    export default function (input, ctx) {
      if (ctx.turn === 1) return ctx.needClient(input.kind, input.params, { state: { step: 1 } });
      return { reply: ctx.reply, state: ctx.state, input };
    }"#;

const NAMED: &str = r#"
    export const description = "Asks for a name";
    export default function (input, ctx) {
      if (ctx.turn === 1) return ctx.needInput("who are you?", {
        schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } });
      return `Hello, ${input.name}!`;
    }"#;

fn everything() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": {} })
}

fn elicit() -> Value {
    let schema = json!({ "type": "object", "properties": { "ok": { "type": "boolean" } } });
    json!({ "kind": "elicit", "params": { "message": "sure?", "requestedSchema": schema } })
}

#[tokio::test]
async fn a_session_is_asked_on_the_stream_of_the_call_and_answers_anywhere() {
    let database = crate::harness::database().await;
    let store = || pleat_store::StoreConfig::new(database.clone());
    let server = TestServer::start_on(store(), |_| {}, |_| {}).await;
    let other = TestServer::start_on(store(), |_| {}, |_| {}).await;
    server.deploy("asker.js", ASKER, "&visibility=public").await;
    let client = Client::open(&server, everything()).await;
    for (kind, params, method, result) in [
        (
            "elicit",
            elicit()["params"].clone(),
            "elicitation/create",
            json!({ "action": "accept", "content": { "ok": true } }),
        ),
        (
            "sample",
            json!({ "messages": [], "maxTokens": 9 }),
            "sampling/createMessage",
            json!({ "role": "assistant", "content": {} }),
        ),
        ("roots", json!({}), "roots/list", json!({ "roots": [{ "uri": "file:///x" }] })),
    ] {
        let call = json!({ "name": "asker", "arguments": { "kind": kind, "params": params } });
        let mut stream = client.stream("tools/call", call.clone()).await;
        let asked = stream.next().await.unwrap();
        assert_eq!((&asked["method"], &asked["params"]), (&json!(method), &params), "{asked}");
        let there = Client { url: format!("{}/mcp", other.tenant_url()), ..client.clone() };
        assert_eq!(there.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result })).await, 202);
        let answer = tokio::time::timeout(Duration::from_secs(10), stream.next()).await.unwrap().unwrap();
        let value = &answer["result"]["structuredContent"];
        assert_eq!(value["reply"], result, "{answer}");
        assert_eq!((&value["state"], &value["input"]), (&json!({ "step": 1 }), &call["arguments"]));
    }
}

#[tokio::test]
async fn a_question_is_a_form_and_a_refusal_ends_the_task() {
    let server = TestServer::start().await;
    server.deploy("named.js", NAMED, "&visibility=public").await;
    let client = Client::open(&server, everything()).await;
    for (reply, expected) in [
        (json!({ "result": { "action": "accept", "content": { "name": "Ada" } } }), (json!(null), "Hello, Ada!")),
        (json!({ "result": { "action": "decline" } }), (json!(true), "the call was canceled")),
        (json!({ "error": { "code": -1, "message": "no" } }), (json!(true), "the call was canceled")),
    ] {
        let mut stream = client.stream("tools/call", json!({ "name": "named" })).await;
        let asked = stream.next().await.unwrap();
        assert_eq!(asked["params"]["message"], "who are you?");
        let mut message = reply;
        message["jsonrpc"] = json!("2.0");
        message["id"] = asked["id"].clone();
        assert_eq!(client.send(message).await, 202);
        let result = stream.next().await.unwrap()["result"].clone();
        assert_eq!((result["isError"].clone(), result["content"][0]["text"].as_str().unwrap()), expected, "{result}");
    }
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_what_is_missing() {
    let server = TestServer::start().await;
    server.deploy("asker.js", ASKER, "&visibility=public").await;
    server.deploy("named.js", NAMED, "&visibility=public").await;
    let call = json!({ "name": "asker", "arguments": { "kind": "sample", "params": {} } });
    let modern = Modern::new(&server, json!({ "elicitation": {} }));
    let (status, answer) = modern.ask("tools/call", call.clone()).await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32021)), "{answer}");
    assert_eq!(answer["error"]["data"]["requiredCapabilities"], json!({ "sampling": {} }));
    let session = Client::open(&server, json!({})).await;
    assert_eq!(session.ask("tools/call", call).await["error"]["code"], -32021);
    let told = session.call("named", json!({})).await;
    assert_eq!(told["isError"], true);
    assert!(told["content"][0]["text"].as_str().unwrap().starts_with("who are you?"), "{told}");
    // Nobody could answer, so that nothing waits; the plain question still does.
    let (_, waiting) =
        server.api(reqwest::Method::GET, "/tenants/acme/tasks?state=input-required", &server.read, None).await;
    assert_eq!(waiting["tasks"].as_array().unwrap().len(), 1);
    let (_, canceled) =
        server.api(reqwest::Method::GET, "/tenants/acme/tasks?state=canceled", &server.read, None).await;
    assert_eq!(canceled["tasks"].as_array().unwrap().len(), 2);
    // Another door has no clients to ask.
    let over_a2a =
        server.rpc("tasks/send", json!({ "skill": "asker", "message": { "kind": "sample", "params": {} } })).await;
    assert_eq!(over_a2a["result"]["status"]["state"], "failed");
}

#[tokio::test]
async fn a_repeated_call_brings_what_was_asked_for() {
    let server = TestServer::start().await;
    server.deploy("asker.js", ASKER, "&visibility=public").await;
    let client = Modern::new(&server, everything());
    let call = json!({ "name": "asker", "arguments": elicit() });
    let asked = client.result("tools/call", call.clone()).await;
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(asked["inputRequests"]["elicit"]["method"], "elicitation/create");
    let mut again = call.clone();
    again["requestState"] = asked["requestState"].clone();
    // Without the answer it is asked again.
    let still = client.result("tools/call", again.clone()).await;
    assert_eq!(still["resultType"], "input_required");
    again["inputResponses"] = json!({ "elicit": { "action": "accept", "content": { "ok": true } } });
    let done = client.result("tools/call", again.clone()).await;
    assert_eq!(done["resultType"], "complete", "{done}");
    assert_eq!(done["structuredContent"]["reply"]["content"], json!({ "ok": true }));
    // Sent twice, it is what it was.
    let twice = client.result("tools/call", again).await;
    assert_eq!(twice["_meta"]["pleat/taskId"], done["_meta"]["pleat/taskId"]);
}

#[tokio::test]
async fn several_are_asked_at_once_and_only_what_the_client_can() {
    let server = TestServer::start().await;
    server.deploy("asker.js", ASKER, "&visibility=public").await;
    let several = json!({ "kind": "several", "params": {
        "name": { "kind": "elicit", "params": { "message": "name?" } },
        "greeting": { "kind": "sample", "params": { "messages": [], "maxTokens": 1 } },
    } });
    let call = json!({ "name": "asker", "arguments": several });
    let all = Modern::new(&server, everything());
    let asked = all.result("tools/call", call.clone()).await;
    assert_eq!(asked["inputRequests"].as_object().unwrap().len(), 2);
    let narrow = Modern::new(&server, json!({ "sampling": {} }));
    let asked = narrow.result("tools/call", call.clone()).await;
    assert_eq!(asked["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["greeting"]);
    let mut again = call;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({ "greeting": { "role": "assistant", "content": {} }, "stray": 1 });
    let done = narrow.result("tools/call", again).await;
    assert_eq!(
        done["structuredContent"]["reply"],
        json!({ "greeting": { "role": "assistant", "content": {} } }),
        "{done}"
    );
}

/// A state opens for the caller, the tenant and the call that it was made for, unchanged.
#[tokio::test]
async fn a_state_is_good_for_one_caller_and_one_call() {
    let server = TestServer::start().await;
    server.deploy("asker.js", ASKER, "&visibility=public").await;
    let client = Modern::new(&server, everything()).with_key(&server.invoke);
    let call = json!({ "name": "asker", "arguments": elicit() });
    let state = client.result("tools/call", call.clone()).await["requestState"].as_str().unwrap().to_owned();
    let with = |state: &str, arguments: Value| {
        json!({ "name": "asker", "arguments": arguments, "requestState": state,
            "inputResponses": { "elicit": { "action": "accept" } } })
    };
    let mut flipped = state.clone().into_bytes();
    let middle = flipped.len() / 2;
    flipped[middle] = if flipped[middle] == b'A' { b'B' } else { b'A' };
    let flipped = String::from_utf8(flipped).unwrap();
    let other = json!({ "kind": "roots", "params": {} });
    for (who, params) in [
        (client.clone(), with(&flipped, elicit())),
        (client.clone(), with("", elicit())),
        (client.clone(), with(&state, other)),
        (client.clone().with_key(&server.admin), with(&state, elicit())),
        (client.clone().with_key(""), with(&state, elicit())),
    ] {
        let (_, answer) = who.ask("tools/call", params).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let (_, done) = client.ask("tools/call", with(&state, elicit())).await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
}

#[tokio::test]
async fn a_session_that_lost_its_stream_is_asked_again() {
    let server = TestServer::start().await;
    server.deploy("asker.js", ASKER, "&visibility=public").await;
    let client = Client::open(&server, everything()).await;
    let mut stream = client.stream("tools/call", json!({ "name": "asker", "arguments": elicit() })).await;
    let asked = stream.next().await.unwrap();
    let id = stream.last_id.clone().unwrap();
    drop(stream);
    let mut again = Messages::of(client.get().header("last-event-id", &id).send().await.unwrap());
    assert_eq!(again.next().await.unwrap()["id"], asked["id"]);
    let reply = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "accept" } });
    assert_eq!(client.send(reply).await, 202);
    assert_eq!(again.next().await.unwrap()["id"], 7);
}

/// What is no answer to the question is refused, and the question stays: over the wire that repeats its calls.
#[tokio::test]
async fn an_answer_that_is_none_does_not_use_up_the_question() {
    let server = TestServer::start().await;
    server.deploy("asker.js", ASKER, "&visibility=public").await;
    server.deploy("named.js", NAMED, "&visibility=public").await;
    let client = Modern::new(&server, everything());
    let sample = json!({ "kind": "sample", "params": { "messages": [], "maxTokens": 9 } });
    let roots = json!({ "kind": "roots", "params": {} });
    let accept = |content: Value| json!({ "action": "accept", "content": content });
    for (tool, arguments, bad, good) in [
        (
            "asker",
            elicit(),
            vec![json!(5), json!({ "action": "maybe" }), accept(json!({ "ok": "yes" }))],
            accept(json!({ "ok": true })),
        ),
        ("asker", sample, vec![json!({ "foo": 1 }), json!([])], json!({ "role": "assistant", "content": {} })),
        ("asker", roots, vec![json!({ "roots": 5 })], json!({ "roots": [] })),
        ("named", json!({}), vec![accept(json!({})), accept(json!({ "name": 3 }))], accept(json!({ "name": "Ada" }))),
    ] {
        let mut call = json!({ "name": tool, "arguments": arguments });
        let asked = client.result("tools/call", call.clone()).await;
        let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
        call["requestState"] = asked["requestState"].clone();
        for answer in bad {
            call["inputResponses"] = json!({ &key: answer });
            let (_, refused) = client.ask("tools/call", call.clone()).await;
            assert_eq!(refused["error"]["code"], -32602, "{answer}: {refused}");
        }
        call["inputResponses"] = json!({ &key: good });
        assert_eq!(client.result("tools/call", call.clone()).await["resultType"], "complete", "{tool} {key}");
    }
}

/// Nobody reads an answer to an answer: what is wrong with it is said by its status, and on the stream of the call.
#[tokio::test]
async fn in_a_session_an_answer_that_is_none_ends_the_call() {
    let server = TestServer::start().await;
    server.deploy("named.js", NAMED, "&visibility=public").await;
    let client = Client::open(&server, everything()).await;
    let mut stream = client.stream("tools/call", json!({ "name": "named" })).await;
    let asked = stream.next().await.unwrap();
    let answer =
        json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "accept", "content": { "name": 3 } } });
    assert_eq!(client.send(answer).await, 400);
    let result = stream.next().await.unwrap()["result"].clone();
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("the answer is not what was asked for") && text.contains("/name"), "{text}");
}
