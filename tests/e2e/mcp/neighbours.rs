//! What one tenant's door has given out opens nothing at another's, even for the same nobody.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::Messages;
use super::{Client, Modern};
use crate::harness::{TestServer, fixture, read};

const ASKER: &str = r#"
    export const description = "Asks its caller's user";
    export default function (input, ctx) {
      if (ctx.turn === 1) return ctx.needClient("elicit", { message: "sure?", requestedSchema: { type: "object" } });
      return ctx.reply;
    }"#;

fn able() -> Value {
    json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

/// Two tenants with the same public functions, and nobody's client at each.
async fn neighbours() -> (TestServer, Modern, Modern) {
    let server = TestServer::start().await;
    let key = server.other_tenant("other").await;
    server.deploy("asker.js", ASKER, "&visibility=public").await;
    server.deploy_probe().await;
    for (file, name, source) in
        [("asker.js", "asker", ASKER.as_bytes().to_vec()), ("probe.wasm", "probe", fixture("probe.wasm"))]
    {
        let query = format!("fileName={file}&name={name}&visibility=public");
        let url = format!("{}/api/v1/tenants/other/functions?{query}", server.url);
        let deployed = server.client.post(url).bearer_auth(&key).body(source).send().await.unwrap();
        assert_eq!(deployed.status(), 201);
    }
    let here = Modern::new(&server, able());
    let there = Modern { url: format!("{}/t/other/mcp", server.url), ..here.clone() };
    (server, here, there)
}

#[tokio::test]
async fn a_state_is_good_at_its_own_tenant_only() {
    let (server, _, there) = neighbours().await;
    let (here, there) = (Modern::new(&server, json!({ "elicitation": {} })), there);
    let asked = here.result("tools/call", json!({ "name": "asker" })).await;
    let again = json!({ "name": "asker", "requestState": asked["requestState"],
        "inputResponses": { "elicit": { "action": "accept" } } });
    let (_, refused) = there.ask("tools/call", again.clone()).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(here.result("tools/call", again).await["resultType"], "complete");
}

#[tokio::test]
async fn a_neighbours_task_is_none_to_ask_for_and_none_to_listen_to() {
    let (_server, here, there) = neighbours().await;
    let sleep = json!({ "name": "probe", "arguments": { "do": "sleep", "ms": 20000 } });
    let id = here.result("tools/call", sleep).await["taskId"].clone();
    let random = json!(format!("task_{}", "1".repeat(32)));
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let (_, theirs) = there.ask(method, json!({ "taskId": id })).await;
        let (_, nobodys) = there.ask(method, json!({ "taskId": random })).await;
        assert_eq!((&theirs["error"]["code"], &theirs["error"]), (&json!(-32602), &nobodys["error"]), "{method}");
    }
    let uri = format!("a2a://task/{}", id.as_str().unwrap());
    assert_eq!(there.ask("resources/read", json!({ "uri": uri })).await.1["error"]["code"], -32602);
    let wanted =
        json!({ "notifications": { "toolsListChanged": true, "resourceSubscriptions": [uri], "taskIds": [id] } });
    let mut listening = there.stream("subscriptions/listen", wanted).await;
    let accepted = listening.next().await.unwrap();
    assert_eq!(accepted["params"]["notifications"], json!({ "toolsListChanged": true }), "{accepted}");
    here.result("tasks/cancel", json!({ "taskId": id })).await;
    let told = tokio::time::timeout(Duration::from_millis(700), listening.next()).await;
    assert!(told.is_err(), "{told:?}");
}

/// The ids that a session's client has been given: of a stream, of a question, of a request, of a task.
#[tokio::test]
async fn what_a_session_was_given_leads_nowhere_next_door() {
    let (server, ..) = neighbours().await;
    let open = async |tenant: &str| {
        let url = format!("{}/t/{tenant}/mcp", server.url);
        Client::open_at(&server, &url, "", "2025-11-25", json!({ "elicitation": {} })).await
    };
    let (here, there) = (open("acme").await, open("other").await);
    let mut stream = here.stream("tools/call", json!({ "name": "asker" })).await;
    let asked = stream.next().await.unwrap();
    let place = stream.last_id.clone().unwrap();
    let strange = format!("task_{}.{}", "0".repeat(32), place.split_once('.').unwrap().1);
    let lost = async |id: &str| read(there.get().header("last-event-id", id).send().await.unwrap()).await;
    assert_eq!(lost(&place).await, lost(&strange).await);
    assert_eq!(lost(&place).await.0, 400);
    let reply =
        |from: &str| json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline", "from": from } });
    assert_eq!(there.send(reply("there")).await, 202);
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    assert_eq!(there.send(cancel).await, 202);
    let id = asked["id"].as_str().unwrap().split('.').next().unwrap();
    for method in ["resources/subscribe", "resources/read"] {
        let refused = there.ask(method, json!({ "uri": format!("a2a://task/{id}") })).await;
        assert_eq!(refused["error"]["code"], -32002, "{method}: {refused}");
    }
    assert!(tokio::time::timeout(Duration::from_millis(1_500), stream.next()).await.is_err(), "nothing has happened");
    assert_eq!(here.send(reply("here")).await, 202);
    assert_eq!(
        stream.next().await.unwrap()["result"]["structuredContent"],
        json!({ "action": "decline", "from": "here" })
    );
    // Nor is a neighbour told of what is deployed here.
    let mut listening = Messages::of(there.get().send().await.unwrap());
    server.deploy_echo().await;
    let told = tokio::time::timeout(Duration::from_millis(700), listening.next()).await;
    assert!(told.is_err(), "{told:?}");
}

/// A router in front of us goes by the header: it must not lead to another task than the body.
#[tokio::test]
async fn a_header_that_names_another_task_is_refused() {
    let (_server, here, _) = neighbours().await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let mut request = here.post(method, json!({ "taskId": "one" })).build().unwrap();
        request.headers_mut().insert("mcp-name", "two".parse().unwrap());
        let (status, refused) = read(here.http.execute(request).await.unwrap()).await;
        assert_eq!((status, &refused["error"]["code"]), (400, &json!(-32020)), "{method}: {refused}");
    }
}
