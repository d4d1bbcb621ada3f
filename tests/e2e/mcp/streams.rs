//! What a client hears while a call runs, and how it finds the rest of a stream that it lost.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Messages, PassingKey};
use super::{Client, Modern};
use crate::harness::TestServer;

const TALKER: &str = r#"
    export const description = "Talks while it works";
    export const annotations = { callerLogs: true };
    export default async function (input, ctx) {
      for (const [done, note] of [[0, "begun"], [50, "halfway"], [50, "again"], [100, "done"]]) {
        ctx.progress(done, 100, note);
        ctx.log.debug(`fine: ${note}`);
        ctx.log.info(`at ${done}`);
        await new Promise((go) => setTimeout(go, 30));
      }
      return "finished";
    }"#;

fn methods(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["method"].as_str().unwrap_or("result")).collect()
}

#[tokio::test]
async fn progress_goes_up_and_comes_before_the_result() {
    let server = TestServer::start().await;
    server.deploy("talker.js", TALKER, "&visibility=public").await;
    let params = json!({ "name": "talker", "_meta": { "progressToken": "p1" } });
    let session = Client::open(&server, json!({})).await;
    let mut modern = Modern::new(&server, json!({}));
    modern.meta = json!({ "progressToken": "p1" });
    for messages in [session.stream("tools/call", params.clone()).await, modern.stream("tools/call", params).await] {
        let messages = messages.all().await;
        let progress: Vec<&Value> = messages
            .iter()
            .filter(|message| message["method"] == "notifications/progress")
            .map(|one| &one["params"])
            .collect();
        let seen: Vec<_> = progress.iter().map(|one| (one["progress"].clone(), one["message"].clone())).collect();
        assert_eq!(seen, [(json!(0), json!("begun")), (json!(50), json!("halfway")), (json!(100), json!("done"))]);
        assert!(progress.iter().all(|one| one["progressToken"] == "p1" && one["total"] == 100));
        assert_eq!(messages.last().unwrap()["result"]["content"][0]["text"], "finished");
        assert!(!methods(&messages).contains(&"notifications/message"), "nobody asked for logs");
    }
}

#[tokio::test]
async fn logs_come_at_the_level_that_was_asked_for() {
    let server = TestServer::start().await;
    server.deploy("talker.js", TALKER, "&visibility=public").await;
    let client = Client::open(&server, json!({})).await;
    client.result("logging/setLevel", json!({ "level": "info" })).await;
    let messages = client.stream("tools/call", json!({ "name": "talker" })).await.all().await;
    let lines: Vec<&Value> = messages
        .iter()
        .filter(|message| message["method"] == "notifications/message")
        .map(|one| &one["params"])
        .collect();
    assert_eq!(lines.len(), 4, "{messages:?}");
    assert_eq!(*lines[0], json!({ "level": "info", "logger": "talker", "data": "at 0" }));
    client.result("logging/setLevel", json!({ "level": "debug" })).await;
    let messages = client.stream("tools/call", json!({ "name": "talker" })).await.all().await;
    assert_eq!(methods(&messages).iter().filter(|method| **method == "notifications/message").count(), 8);
    let mut modern = Modern::new(&server, json!({}));
    modern.meta = json!({ "io.modelcontextprotocol/logLevel": "warning" });
    let messages = modern.stream("tools/call", json!({ "name": "talker" })).await.all().await;
    assert_eq!(methods(&messages), ["result"], "nothing was that loud");
    let bad = client.ask("logging/setLevel", json!({ "level": "loud" })).await;
    assert_eq!(bad["error"]["code"], -32602);
}

/// What a function logs is the tenant's, unless the function says otherwise.
#[tokio::test]
async fn logs_go_to_the_tenants_own_and_to_whom_the_function_lets() {
    let server = TestServer::start().await;
    let private = TALKER.replace("callerLogs: true", "callerLogs: false");
    server.deploy("talker.js", private, "&visibility=public").await;
    for (key, heard) in [("", 0), (server.invoke.as_str(), 0), (server.admin.as_str(), 4)] {
        let client = Client::open_as(&server, key).await;
        client.result("logging/setLevel", json!({ "level": "info" })).await;
        let messages = client.stream("tools/call", json!({ "name": "talker" })).await.all().await;
        let lines = methods(&messages).iter().filter(|method| **method == "notifications/message").count();
        assert_eq!(lines, heard, "as `{key}`");
    }
}

#[tokio::test]
async fn a_quick_call_is_answered_in_one_piece_and_a_slow_one_over_a_stream() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let client = Client::open(&server, json!({})).await;
    let sleep = |ms: u32| json!({ "name": "probe", "arguments": { "do": "sleep", "ms": ms } });
    assert!(!client.stream("tools/call", sleep(50)).await.streamed);
    let mut slow = client.stream("tools/call", sleep(1_500)).await;
    assert!(slow.streamed);
    assert!(slow.next().await.unwrap()["result"]["content"].is_array());
    assert!(slow.last_id.is_some());
    // A client that takes no stream waits.
    let request =
        client.http.post(&client.url).header("accept", "application/json").header("mcp-session-id", &client.session);
    let response = request.json(&client.body(1, "tools/call", sleep(1_500))).send().await.unwrap();
    assert!(!Messages::of(response).streamed);
}

#[tokio::test]
async fn a_lost_stream_is_found_again_at_another_node() {
    let database = crate::harness::database().await;
    let store = || pleat_store::StoreConfig::new(database.clone());
    let server = TestServer::start_on(store(), |_| {}, |_| {}).await;
    let other = TestServer::start_on(store(), |_| {}, |_| {}).await;
    server.deploy_probe().await;
    let client = Client::open(&server, json!({})).await;
    let params =
        json!({ "name": "probe", "arguments": { "do": "sleep", "ms": 2_500 }, "_meta": { "progressToken": 1 } });
    let body = client.body(42, "tools/call", params);
    let mut lost = Messages::of(client.post(body).send().await.unwrap());
    // The first event carries nothing but a place to come back to.
    let id = tokio::time::timeout(Duration::from_millis(1_500), async {
        loop {
            if let Ok(None) = tokio::time::timeout(Duration::from_millis(100), lost.next()).await {
                panic!("the stream ended");
            }
            if let Some(id) = lost.last_id.clone() {
                return id;
            }
        }
    });
    let id = id.await.expect("a first event");
    drop(lost);
    let there = Client { url: format!("{}/mcp", other.tenant_url()), ..client.clone() };
    let response = there.get().header("last-event-id", &id).send().await.unwrap();
    let answer = Messages::of(response).last().await;
    assert_eq!(answer["id"], 42, "{answer}");
    assert!(answer["result"]["content"].is_array(), "{answer}");
    // Somebody else's id leads nowhere.
    let stranger = Client::open_as(&server, &server.invoke).await;
    let refused = stranger.get().header("last-event-id", &id).send().await.unwrap();
    let refused = Messages::of(refused).last().await;
    assert!(refused.get("result").is_none(), "{refused}");
}

const COUNTER: &str = r#"
    export const description = "Counts slowly";
    export const annotations = { callerLogs: true };
    export default async function (input, ctx) {
      for (let count = 1; count <= 12; count++) {
        ctx.progress(count, 12);
        ctx.log.info(`at ${count}`);
        await new Promise((go) => setTimeout(go, 250));
      }
      return "counted";
    }"#;

/// Progress goes on from where it was told to, at any node; log lines where the call runs.
#[tokio::test]
async fn a_stream_that_is_found_again_goes_on_saying_what_happens() {
    let database = crate::harness::database().await;
    let store = || pleat_store::StoreConfig::new(database.clone());
    let server = TestServer::start_on(store(), |_| {}, |_| {}).await;
    let other = TestServer::start_on(store(), |_| {}, |_| {}).await;
    server.deploy("counter.js", COUNTER, "&visibility=public").await;
    let client = Client::open(&server, json!({})).await;
    client.result("logging/setLevel", json!({ "level": "info" })).await;
    let there = Client { url: format!("{}/mcp", other.tenant_url()), ..client.clone() };
    let params = json!({ "name": "counter", "_meta": { "progressToken": "p1" } });
    let mut stream = client.stream("tools/call", params).await;
    let (mut counts, mut lines) = (Vec::new(), 0);
    for back in [there, client] {
        // Heard once, then lost.
        while let Some(message) = stream.next().await {
            if message["method"] == "notifications/progress" {
                assert_eq!(message["params"]["progressToken"], "p1", "{message}");
                counts.push(message["params"]["progress"].as_u64().unwrap());
                break;
            }
        }
        let id = stream.last_id.clone().expect("a place to come back to");
        drop(stream);
        stream = Messages::of(back.get().header("last-event-id", &id).send().await.unwrap());
    }
    let rest = stream.all().await;
    for message in &rest {
        counts.extend(message["params"]["progress"].as_u64());
        lines += usize::from(message["method"] == "notifications/message");
    }
    assert!(counts.is_sorted_by(|one, next| one < next) && counts.len() > 4, "{counts:?}");
    assert_eq!(counts.last(), Some(&12));
    assert!(lines > 1, "{rest:?}");
    assert_eq!(rest.last().unwrap()["result"]["content"][0]["text"], "counted");
}

#[tokio::test]
async fn an_old_stream_is_closed_and_its_client_comes_back() {
    let server = TestServer::start_with(|_| {}, |config| config.mcp_stream = Duration::from_millis(300)).await;
    server.deploy_probe().await;
    let client = Client::open(&server, json!({})).await;
    let params =
        json!({ "name": "probe", "arguments": { "do": "sleep", "ms": 2_000 }, "_meta": { "progressToken": 1 } });
    let mut first = client.stream("tools/call", params).await;
    assert_eq!(first.next().await, None, "no result yet");
    let mut id = first.last_id.expect("a place to come back to");
    let answer = loop {
        let mut again = Messages::of(client.get().header("last-event-id", &id).send().await.unwrap());
        match again.next().await {
            Some(answer) => break answer,
            None => id = again.last_id.expect("another place"),
        }
    };
    assert_eq!(answer["id"], 7);
    assert!(answer["result"]["content"].is_array());
}

/// The stream of a call ends with the key that began it, as every other does.
#[tokio::test]
async fn a_call_is_not_told_to_who_has_lost_its_key() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let key = PassingKey::of(&server).await;
    let params =
        json!({ "name": "probe", "arguments": { "do": "sleep", "ms": 25_000 }, "_meta": { "progressToken": 1 } });
    let session = Client::open_as(&server, &key.text).await;
    let modern = Modern::new(&server, json!({})).with_key(&key.text);
    let (in_session, alone) =
        (session.stream("tools/call", params.clone()).await, modern.stream("tools/call", params).await);
    assert!(in_session.streamed && alone.streamed);
    key.revoke(&server).await;
    let both = async { (in_session.all().await, alone.all().await) };
    let (in_session, alone) = tokio::time::timeout(Duration::from_secs(20), both).await.expect("they end");
    assert!([in_session, alone].iter().flatten().all(|message| message.get("result").is_none()));
}
