//! Clients of both eras are told of deploys and of tasks, each on its own kind of stream.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Messages, PassingKey};
use super::{Client, Modern};
use crate::harness::{TestServer, fixture};

async fn soon(messages: &mut Messages) -> Value {
    tokio::time::timeout(Duration::from_secs(10), messages.next()).await.expect("in time").expect("a message")
}

async fn nothing(messages: &mut Messages) {
    let waited = tokio::time::timeout(Duration::from_millis(700), messages.next()).await;
    assert!(waited.is_err(), "{waited:?}");
}

async fn two_nodes() -> (TestServer, TestServer) {
    let database = crate::harness::database().await;
    let store = || pleat_store::StoreConfig::new(database.clone());
    let server = TestServer::start_on(store(), |_| {}, |_| {}).await;
    let other = TestServer::start_on(store(), |_| {}, |_| {}).await;
    server.deploy_probe().await;
    (server, other)
}

#[tokio::test]
async fn deploys_and_deletes_are_told_at_every_node() {
    let (server, other) = two_nodes().await;
    let session = Client::open(&server, json!({})).await;
    let there = Client { url: format!("{}/mcp", other.tenant_url()), ..session.clone() };
    let mut by_session = Messages::of(there.get().send().await.unwrap());
    let mut modern = Modern::new(&server, json!({}));
    modern.url = format!("{}/mcp", other.tenant_url());
    let mut by_listening =
        modern.stream("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } })).await;
    let acknowledged = soon(&mut by_listening).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({ "toolsListChanged": true }));
    assert_eq!(acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "m1");
    server.deploy("echo.wasm", fixture("echo.wasm"), "&name=fresh&visibility=public").await;
    assert_eq!(soon(&mut by_session).await["method"], "notifications/tools/list_changed");
    let told = soon(&mut by_listening).await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "m1");
    // The session hears of the other lists too, the listener only of what it asked for.
    let rest = [soon(&mut by_session).await["method"].clone(), soon(&mut by_session).await["method"].clone()];
    assert_eq!(rest, ["notifications/prompts/list_changed", "notifications/resources/list_changed"]);
    nothing(&mut by_listening).await;
    // What this caller cannot see is no news.
    server.deploy("echo.wasm", fixture("echo.wasm"), "&name=hidden").await;
    nothing(&mut by_listening).await;
    let (status, _) = server.api(reqwest::Method::DELETE, "/tenants/acme/functions/fresh", &server.deploy, None).await;
    assert_eq!(status, 204);
    assert_eq!(soon(&mut by_listening).await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_subscribed_task_is_told_of_in_both_eras() {
    let (server, other) = two_nodes().await;
    let session = Client::open(&server, json!({})).await;
    let sleep = json!({ "skill": "probe", "message": { "do": "sleep", "ms": 2500 } });
    let mut running = server.rpc_stream("", "tasks/sendSubscribe", sleep, None).await;
    let id = running.next().await.unwrap().data["result"]["id"].as_str().unwrap().to_owned();
    let uri = format!("a2a://task/{id}");
    let there = Client { url: format!("{}/mcp", other.tenant_url()), ..session.clone() };
    let mut by_session = Messages::of(there.get().send().await.unwrap());
    // Subscribed at one node while the stream is at another.
    session.result("resources/subscribe", json!({ "uri": uri })).await;
    let modern = Modern::new(&server, json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    let wanted = json!({ "notifications": { "resourceSubscriptions": [uri, "a2a://task/none"], "taskIds": [id] } });
    let mut by_listening = modern.stream("subscriptions/listen", wanted).await;
    let accepted = soon(&mut by_listening).await["params"]["notifications"].clone();
    assert_eq!(accepted, json!({ "resourceSubscriptions": [uri], "taskIds": [id] }), "only what it may see");
    let told = soon(&mut by_session).await;
    assert_eq!((&told["method"], &told["params"]), (&json!("notifications/resources/updated"), &json!({ "uri": uri })));
    let mut seen = Vec::new();
    while seen.len() < 2 {
        let message = soon(&mut by_listening).await;
        if message["method"] == "notifications/tasks" {
            assert_eq!(message["params"]["taskId"], id, "{message}");
        }
        if !seen.contains(&message["method"]) {
            seen.push(message["method"].clone());
        }
    }
    session.result("resources/unsubscribe", json!({ "uri": uri })).await;
}

/// A task goes by the name that its caller has given it, too.
#[tokio::test]
async fn a_task_is_watched_by_the_name_that_its_caller_gave_it() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let named = json!({ "id": "mine", "skill": "probe", "message": { "do": "sleep", "ms": 1500 } });
    let mut running = server.rpc_stream(&server.invoke, "tasks/sendSubscribe", named, None).await;
    running.next().await.unwrap();
    let modern = Modern::new(&server, json!({})).with_key(&server.invoke);
    let wanted = json!({ "notifications": { "resourceSubscriptions": ["a2a://task/mine"] } });
    let mut listening = modern.stream("subscriptions/listen", wanted).await;
    let accepted = soon(&mut listening).await;
    assert_eq!(accepted["params"]["notifications"]["resourceSubscriptions"], json!(["a2a://task/mine"]), "{accepted}");
    assert_eq!(soon(&mut listening).await["params"]["uri"], "a2a://task/mine");
}

#[tokio::test]
async fn a_stream_ends_with_its_session_and_in_order_when_the_node_stops() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let session = Client::open(&server, json!({})).await;
    let mut by_session = Messages::of(session.get().send().await.unwrap());
    let modern = Modern::new(&server, json!({}));
    let mut by_listening = modern.stream("subscriptions/listen", json!({ "notifications": {} })).await;
    soon(&mut by_listening).await;
    let ended = session.headers(session.http.delete(&session.url)).send().await.unwrap();
    assert_eq!(ended.status(), 204);
    let over = tokio::time::timeout(Duration::from_secs(10), by_session.next()).await.expect("it ends");
    assert_eq!(over, None);
    let engine = server.engine.clone();
    let draining = tokio::spawn(async move { engine.drain().await });
    let last = soon(&mut by_listening).await;
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!("m1"), &json!("complete")), "{last}");
    assert_eq!(by_listening.next().await, None);
    draining.await.unwrap();
}

/// A session's stream on which nothing was told yet, and the id of its first event.
async fn quiet(client: &Client) -> (Messages, String) {
    let mut stream = Messages::of(client.get().send().await.unwrap());
    let first = tokio::time::timeout(Duration::from_millis(500), stream.next()).await;
    assert!(first.is_err());
    let id = stream.last_id.clone().expect("a place to come back to");
    (stream, id)
}

#[tokio::test]
async fn who_comes_back_learns_that_something_changed_meanwhile() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let client = Client::open(&server, json!({})).await;
    let (stream, id) = quiet(&client).await;
    drop(stream);
    server.deploy("echo.wasm", fixture("echo.wasm"), "&name=fresh&visibility=public").await;
    let mut again = Messages::of(client.get().header("last-event-id", id).send().await.unwrap());
    assert_eq!(soon(&mut again).await["method"], "notifications/tools/list_changed");
}

/// An event names one message, and who has heard only the first of several that one change brings hears the others.
#[tokio::test]
async fn events_have_ids_of_their_own_and_a_change_that_was_half_heard_is_told_again() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let client = Client::open(&server, json!({})).await;
    let (mut stream, first) = quiet(&client).await;
    let mut ids = vec![first];
    server.deploy("echo.wasm", fixture("echo.wasm"), "&name=fresh&visibility=public").await;
    let mut told = Vec::new();
    for _ in 0..3 {
        told.push(soon(&mut stream).await["method"].clone());
        ids.push(stream.last_id.clone().unwrap());
    }
    let different: std::collections::HashSet<&String> = ids.iter().collect();
    assert_eq!(different.len(), 4, "{ids:?}");
    drop(stream);
    let mut again = Messages::of(client.get().header("last-event-id", &ids[1]).send().await.unwrap());
    let heard = [soon(&mut again).await, soon(&mut again).await, soon(&mut again).await];
    assert!(heard.iter().all(|message| told.contains(&message["method"])), "{heard:?}");
    drop(again);
    let mut whole = Messages::of(client.get().header("last-event-id", &ids[3]).send().await.unwrap());
    let nothing = tokio::time::timeout(Duration::from_millis(700), whole.next()).await;
    assert!(nothing.is_err(), "who has heard all of it hears nothing: {nothing:?}");
}

/// Whatever changes what is listed is told: an older version, and a pipeline that becomes active.
#[tokio::test]
async fn a_rollback_and_a_pipeline_are_told() {
    let server = TestServer::start().await;
    for text in ["Says one thing", "Says another"] {
        let source = format!("export const description = '{text}';\nexport default () => 1;");
        server.deploy("said.js", source, "&visibility=public").await;
    }
    let modern = Modern::new(&server, json!({}));
    let mut stream =
        modern.stream("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } })).await;
    soon(&mut stream).await;
    let path = "/tenants/acme/functions/said/rollback";
    let (status, body) = server.api(reqwest::Method::POST, path, &server.deploy, Some(json!({}))).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(soon(&mut stream).await["method"], "notifications/tools/list_changed");
    let define = server.client.post(format!("{}/api/v1/tenants/acme/pipelines?visibility=public", server.url));
    let define = define.bearer_auth(&server.deploy).header("content-type", "application/yaml");
    let defined = define.body("name: twice\nsteps: [{id: a, tool_name: said}]").send().await.unwrap();
    assert_eq!(defined.status(), 201);
    nothing(&mut stream).await;
    let path = "/tenants/acme/pipelines/twice/activate";
    let (status, body) = server.api(reqwest::Method::POST, path, &server.deploy, None).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(soon(&mut stream).await["method"], "notifications/tools/list_changed");
}

/// A message goes to a client once, on the stream that it opened last.
#[tokio::test]
async fn of_two_streams_of_a_session_the_newest_is_told() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let client = Client::open(&server, json!({})).await;
    let open = async || {
        let mut stream = Messages::of(client.get().send().await.unwrap());
        nothing(&mut stream).await;
        stream
    };
    let (mut older, mut newer) = (open().await, open().await);
    server.deploy("echo.wasm", fixture("echo.wasm"), "&name=first&visibility=public").await;
    for _ in 0..3 {
        soon(&mut newer).await;
    }
    nothing(&mut older).await;
    drop(newer);
    // The server has to notice that it is gone, which it does when it writes to it: another change, or two.
    let told = async {
        for number in 0.. {
            let query = format!("&name=next-{number}&visibility=public");
            server.deploy("echo.wasm", fixture("echo.wasm"), &query).await;
            if let Ok(told) = tokio::time::timeout(Duration::from_secs(1), older.next()).await {
                return told;
            }
        }
        None
    };
    let told = tokio::time::timeout(Duration::from_secs(30), told).await.expect("the older one is told again");
    assert_eq!(told.unwrap()["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_stream_ends_with_the_key_that_opened_it() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let key = PassingKey::of(&server).await;
    let session = Client::open_as(&server, &key.text).await;
    let mut by_session = Messages::of(session.get().send().await.unwrap());
    let modern = Modern::new(&server, json!({})).with_key(&key.text);
    let mut by_listening = modern.stream("subscriptions/listen", json!({ "notifications": {} })).await;
    soon(&mut by_listening).await;
    key.revoke(&server).await;
    let ended = async { (by_session.next().await, by_listening.next().await, by_listening.next().await) };
    let ended = tokio::time::timeout(Duration::from_secs(30), ended).await.expect("both end");
    assert!(ended.0.is_none() && ended.2.is_none(), "{ended:?}");
    assert_eq!(ended.1.unwrap()["result"]["resultType"], "complete", "in order");
}

#[tokio::test]
async fn a_caller_listens_on_so_many_streams() {
    let few = |config: &mut pleat_engine::EngineConfig| config.sessions.listeners = 2;
    let server = TestServer::start_with(few, |_| {}).await;
    server.deploy_echo().await;
    let modern = Modern::new(&server, json!({}));
    let listen = json!({ "notifications": {} });
    let mut open = Vec::new();
    for _ in 0..2 {
        open.push(modern.stream("subscriptions/listen", listen.clone()).await);
        soon(open.last_mut().unwrap()).await;
    }
    let (status, refused) = modern.ask("subscriptions/listen", listen.clone()).await;
    assert_eq!((status, &refused["error"]["code"]), (503, &json!(-32051)), "{refused}");
    let other = modern.with_key(&server.invoke).stream("subscriptions/listen", listen).await;
    assert_eq!(other.status, 200, "another caller has its own");
}
