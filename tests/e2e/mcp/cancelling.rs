//! Cancelling, in each era's way, stops the guest; leaving does so in one of them only.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use super::client::Messages;
use super::{Client, Modern};
use crate::harness::TestServer;

const SLEEP: &str = r#"{ "do": "sleep", "ms": 20000 }"#;

fn sleeping() -> serde_json::Value {
    json!({ "name": "probe", "arguments": serde_json::from_str::<serde_json::Value>(SLEEP).unwrap() })
}

#[tokio::test]
async fn a_session_cancels_by_the_id_of_its_request_at_any_node() {
    let database = crate::harness::database().await;
    let store = || pleat_store::StoreConfig::new(database.clone());
    let server = TestServer::start_on(store(), |_| {}, |_| {}).await;
    let other = TestServer::start_on(store(), |_| {}, |_| {}).await;
    server.deploy_probe().await;
    let client = Client::open(&server, json!({})).await;
    let request = client.post(client.body(5, "tools/call", sleeping()));
    let running = tokio::spawn(async move { Messages::of(request.send().await.unwrap()).last().await });
    let task = server.task_in("working").await;
    let cancelled = |id: serde_json::Value| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    let stranger = Client::open_as(&server, &server.invoke).await;
    assert_eq!(stranger.send(cancelled(json!(5))).await, 202, "another session's request is none of its own");
    assert_eq!(client.send(cancelled(json!("5"))).await, 202, "a text is no number");
    assert_eq!(server.task(task["id"].as_str().unwrap()).await["state"], "working");
    let there = Client { url: format!("{}/mcp", other.tenant_url()), ..client };
    assert_eq!(there.send(cancelled(json!(5))).await, 202);
    let answer = tokio::time::timeout(Duration::from_secs(10), running).await.unwrap().unwrap();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(server.task(task["id"].as_str().unwrap()).await["state"], "canceled");
}

#[tokio::test]
async fn who_leaves_a_session_has_cancelled_nothing() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let client = Client::open(&server, json!({})).await;
    let sleep = json!({ "name": "probe", "arguments": { "do": "sleep", "ms": 1500 }, "_meta": { "progressToken": 1 } });
    let stream = client.stream("tools/call", sleep).await;
    let task = server.task_in("working").await;
    drop(stream);
    let id = task["id"].as_str().unwrap();
    loop {
        let state = server.task(id).await["state"].clone();
        if state != "working" {
            assert_eq!(state, "completed");
            break;
        }
    }
}

#[tokio::test]
async fn without_a_session_leaving_is_cancelling() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let mut client = Modern::new(&server, json!({}));
    for streamed in [true, false] {
        if streamed {
            client.meta = json!({ "progressToken": 1 });
        } else {
            client.meta = json!({});
        }
        let request = client.post("tools/call", sleeping());
        let leaving = tokio::spawn(async move {
            let response = request.send().await.unwrap();
            Messages::of(response).last().await
        });
        let task = server.task_in("working").await;
        leaving.abort();
        let id = task["id"].as_str().unwrap().to_owned();
        let ended = async { while server.task(&id).await["state"] == "working" {} };
        tokio::time::timeout(Duration::from_secs(10), ended).await.expect("it is cancelled");
        assert_eq!(server.task(&id).await["state"], "canceled", "streamed: {streamed}");
    }
}

const ASKER: &str = r#"
    export const description = "Asks its caller's user";
    export default function (input, ctx) {
      if (ctx.turn === 1) return ctx.needClient("elicit", { message: "sure?", requestedSchema: { type: "object" } });
      return "asked";
    }"#;

fn cancelled(request: u32) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": request } })
}

async fn until_canceled(server: &TestServer, task: &Value) {
    let id = task["id"].as_str().unwrap();
    let ended = async { while server.task(id).await["state"] != "canceled" {} };
    tokio::time::timeout(Duration::from_secs(10), ended).await.expect("it is cancelled");
}

#[tokio::test]
async fn a_session_cancels_a_call_that_waits_for_its_user() {
    let server = TestServer::start().await;
    server.deploy("asker.js", ASKER, "&visibility=public").await;
    let client = Client::open(&server, json!({ "elicitation": {} })).await;
    let mut stream = client.stream("tools/call", json!({ "name": "asker" })).await;
    assert_eq!(stream.next().await.unwrap()["method"], "elicitation/create");
    assert_eq!(client.send(cancelled(7)).await, 202);
    let answer = tokio::time::timeout(Duration::from_secs(10), stream.next()).await.expect("it ends").unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "the call was canceled", "{answer}");
}

/// Whether its client lost the stream, or the server ended it, and whether it found the rest of it or not.
#[tokio::test]
async fn a_session_cancels_a_call_whose_stream_is_gone() {
    let server = TestServer::start_with(|_| {}, |config| config.mcp_stream = Duration::from_millis(400)).await;
    server.deploy_probe().await;
    let client = Client::open(&server, json!({})).await;
    let mut params = sleeping();
    params["_meta"] = json!({ "progressToken": 1 });
    let lost = client.stream("tools/call", params.clone()).await;
    let task = server.task_in("working").await;
    drop(lost);
    assert_eq!(client.send(cancelled(7)).await, 202);
    until_canceled(&server, &task).await;
    let mut ended = client.stream("tools/call", params).await;
    assert_eq!(ended.next().await, None, "no result yet");
    let place = ended.last_id.expect("a place to come back to");
    let task = server.task_in("working").await;
    // In another session of the same caller, where its first one is gone.
    let next = Client::open(&server, json!({})).await;
    let found = next.get().header("last-event-id", &place).send().await.unwrap();
    assert_eq!(found.status(), 200);
    assert_eq!(next.send(cancelled(7)).await, 202);
    until_canceled(&server, &task).await;
}

/// A cancel may overtake the call that it is about.
#[tokio::test]
async fn a_cancel_that_comes_too_early_is_not_lost() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let client = Client::open(&server, json!({})).await;
    assert_eq!(client.send(cancelled(7)).await, 202);
    let answer = client.ask("tools/call", sleeping()).await;
    assert_eq!(answer["result"]["content"][0]["text"], "the call was canceled", "{answer}");
}

/// What is over within a moment is a call like any other's: nothing is written for it but its task.
#[tokio::test]
async fn requests_are_noted_while_they_last_and_quick_ones_never() {
    let database = crate::harness::database().await;
    let server = TestServer::start_on(pleat_store::StoreConfig::new(database.clone()), |_| {}, |_| {}).await;
    server.deploy_probe().await;
    let mut outside = PgConnection::connect(&database).await.unwrap();
    for statement in [
        "CREATE TABLE noted (request_id text)",
        "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
         $$ BEGIN INSERT INTO public.noted VALUES (new.request_id); RETURN new; END $$",
        "CREATE TRIGGER note BEFORE INSERT ON mcp_calls FOR EACH ROW EXECUTE FUNCTION note()",
    ] {
        sqlx::query(statement).execute(&mut outside).await.unwrap();
    }
    let client = Client::open(&server, json!({})).await;
    let sleep = |ms: u32| json!({ "do": "sleep", "ms": ms });
    for ms in [0, 60] {
        client.call("probe", sleep(ms)).await;
    }
    client.call("probe", sleep(600)).await;
    let noted: Vec<String> = sqlx::query_scalar("SELECT request_id FROM noted").fetch_all(&mut outside).await.unwrap();
    assert_eq!(noted, ["7"], "only the one that lasted");
    let mut left =
        async || -> i64 { sqlx::query_scalar("SELECT count(*) FROM mcp_calls").fetch_one(&mut outside).await.unwrap() };
    let forgotten = async { while left().await > 0 {} };
    tokio::time::timeout(Duration::from_secs(10), forgotten).await.expect("it is forgotten with its end");
}
