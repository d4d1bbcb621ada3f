//! Resources: what functions offer, what is known of functions, and the caller's own tasks.

use serde_json::{Value, json};

use super::{Client, Modern};
use crate::harness::TestServer;

const OFFERING: &str = r#"
    export const description = "Offers things";
    export const examples = [{ n: 1 }];
    export const resources = [{ uri: "test://static", name: "Static", mimeType: "text/plain" }, { name: "no address" }];
    export const resourceTemplates = [{ uriTemplate: "test://item/{id}/data", name: "Item", values: { id: ["1", "12"] } }];
    export default () => null;
    export function readResource(uri, ctx) {
      if (uri === "test://item/404/data") throw new PleatError("not_found", "no such item");
      if (uri === "test://item/500/data") throw new Error("broken");
      return { contents: [{ uri, mimeType: "text/plain", text: `${uri} for ${ctx.caller}` }] };
    }"#;

async fn offering() -> TestServer {
    let server = TestServer::start().await;
    server.deploy("offering.js", OFFERING, "&visibility=public").await;
    server
}

#[tokio::test]
async fn what_functions_offer_is_listed_beside_their_documentation() {
    let server = offering().await;
    let client = Client::open(&server, json!({})).await;
    insta::assert_json_snapshot!(client.result("resources/list", json!({})).await);
    insta::assert_json_snapshot!(client.result("resources/templates/list", json!({})).await);
}

#[tokio::test]
async fn a_function_serves_what_it_offers() {
    let server = offering().await;
    let client = Client::open(&server, json!({})).await;
    for uri in ["test://static", "test://item/7/data"] {
        let read = client.result("resources/read", json!({ "uri": uri })).await;
        let contents = json!([{ "uri": uri, "mimeType": "text/plain", "text": format!("{uri} for anonymous") }]);
        assert_eq!(read["contents"], contents);
    }
    let docs = client.result("resources/read", json!({ "uri": "pleat://functions/offering" })).await;
    assert!(docs["contents"][0]["text"].as_str().unwrap().contains("\"n\": 1"), "{docs}");
}

#[tokio::test]
async fn what_is_not_there_is_said_in_the_words_of_the_era() {
    let server = offering().await;
    let session = Client::open(&server, json!({})).await;
    let modern = Modern::new(&server, json!({}));
    let task = format!("a2a://task/task_{}", "0".repeat(32));
    for uri in ["test://none", "test://item/404/data", "test://item/1/2/data", "pleat://functions/none", task.as_str()]
    {
        let answer = session.ask("resources/read", json!({ "uri": uri })).await;
        assert_eq!(
            (&answer["error"]["code"], &answer["error"]["data"]["uri"]),
            (&json!(-32002), &json!(uri)),
            "{answer}"
        );
        assert_eq!(modern.ask("resources/read", json!({ "uri": uri })).await.1["error"]["code"], -32602);
        assert_eq!(
            session.ask("resources/subscribe", json!({ "uri": uri })).await["error"].is_object(),
            uri != "test://item/404/data"
        );
    }
    let broken = session.ask("resources/read", json!({ "uri": "test://item/500/data" })).await;
    assert_eq!(broken["error"]["code"], -32603, "{broken}");
}

#[tokio::test]
async fn a_task_is_a_resource_of_its_caller() {
    let server = offering().await;
    server.deploy_echo().await;
    let mine = Client::open_as(&server, &server.invoke).await;
    let called = mine.call("echo", json!({ "a": 1 })).await;
    let uri = format!("a2a://task/{}", called["_meta"]["pleat/taskId"].as_str().unwrap());
    let read = mine.result("resources/read", json!({ "uri": uri })).await;
    let task: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&task["state"], &task["skill"]), (&json!("completed"), &json!("echo")));
    assert_eq!(task["artifacts"][0]["content"], json!([{ "type": "text", "text": r#"{"a":1}"# }]));
    for key in ["", server.read.as_str()] {
        if key.is_empty() {
            let stranger = Client::open_as(&server, key).await;
            assert_eq!(stranger.ask("resources/read", json!({ "uri": uri })).await["error"]["code"], -32002);
        }
    }
    let owner = Client::open_as(&server, &server.admin).await;
    assert!(owner.ask("resources/read", json!({ "uri": uri })).await["result"].is_object(), "the tenant sees all");
}

/// What a running task has said is not in its row yet.
#[tokio::test]
async fn a_running_task_is_read_with_what_it_has_said() {
    let server = TestServer::start().await;
    let slow = "export const description = 'Talks'; export default async (input, ctx) => { ctx.emit('so far'); \
        await new Promise((go) => setTimeout(go, 20000)); };";
    server.deploy("slow.js", slow, "&visibility=public").await;
    let mut running =
        server.rpc_stream("", "tasks/sendSubscribe", json!({ "skill": "slow", "message": {} }), None).await;
    let id = running.next().await.unwrap().data["result"]["id"].as_str().unwrap().to_owned();
    let client = Client::open(&server, json!({})).await;
    let said = async {
        loop {
            let read = client.result("resources/read", json!({ "uri": format!("a2a://task/{id}") })).await;
            let task: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(task["state"], "working", "{task}");
            if task["artifacts"][0]["content"][0]["text"] == "so far" {
                return;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), said).await.expect("it is there");
}

#[tokio::test]
async fn variables_of_templates_are_completed() {
    let server = offering().await;
    let client = Client::open(&server, json!({})).await;
    let reference = json!({ "type": "ref/resource", "uri": "test://item/{id}/data" });
    let ask = json!({ "ref": reference, "argument": { "name": "id", "value": "1" } });
    let completed = client.result("completion/complete", ask).await;
    assert_eq!(completed["completion"], json!({ "values": ["1", "12"], "total": 2, "hasMore": false }));
}
