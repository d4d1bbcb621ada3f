//! Streams of a caller that is not allowed in any more: they end with an error, at every protocol, and others go on.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::harness::{Frame, Stream, TestServer};

/// Longer than any stream of these tests may live.
const PATIENCE: Duration = Duration::from_secs(15);

async fn server() -> TestServer {
    let server = TestServer::start_with(|_| {}, |gateway| gateway.caller_check = Duration::from_millis(200)).await;
    server.deploy_probe().await;
    server
}

/// A key that may invoke and read, and its id.
async fn key(server: &TestServer, more: Value) -> (String, String) {
    let mut wish = json!({ "scopes": ["invoke", "read"], "label": "short-lived" });
    wish.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (status, made) = server.api(Method::POST, "/tenants/acme/keys", &server.admin, Some(wish)).await;
    assert_eq!(status, 201, "{made}");
    (made["key"].as_str().unwrap().to_owned(), made["id"].as_str().unwrap().to_owned())
}

async fn revoke(server: &TestServer, id: &str) {
    let (status, body) = server.api(Method::DELETE, &format!("/tenants/acme/keys/{id}"), &server.admin, None).await;
    assert_eq!(status, 204, "{body}");
}

/// Chunks every 50 ms, for 30 s.
fn ticking() -> Value {
    json!({ "do": "emit", "chunks": 600, "delay_ms": 50 })
}

async fn open(request: RequestBuilder) -> Stream {
    let mut stream = Stream::of(request.send().await.unwrap());
    assert_eq!(stream.status, 200);
    stream.next().await.expect("a first event");
    stream
}

/// What a stream ends with.
async fn last(stream: Stream) -> Frame {
    let frames = tokio::time::timeout(PATIENCE, stream.all()).await.expect("the stream ends");
    frames.into_iter().last().expect("a last event")
}

fn rpc(server: &TestServer, key: &str, method: &str, params: &Value) -> RequestBuilder {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    server.client.post(format!("{}/_a2a/", server.tenant_url())).bearer_auth(key).json(&body)
}

#[tokio::test]
async fn streams_of_a_revoked_key_end_with_an_error_and_others_go_on() {
    let server = server().await;
    let (key, id) = key(&server, json!({})).await;
    let params = json!({ "skill": "probe", "message": ticking() });
    let mut kept = open(rpc(&server, &server.invoke, "tasks/sendSubscribe", &params)).await;
    let mut sent = Stream::of(rpc(&server, &key, "tasks/sendSubscribe", &params).send().await.unwrap());
    let first = sent.next().await.expect("a first event");
    let task = first.data["result"]["id"].as_str().unwrap().to_owned();
    let message = json!({ "messageId": "m-1", "role": "ROLE_USER", "metadata": { "skill": "probe" },
                          "parts": [{ "data": ticking() }] });
    let by_http = server.client.post(format!("{}/probe", server.tenant_url())).json(&ticking());
    let events = server.client.get(format!("{}/api/v1/tenants/acme/tasks/{task}/events", server.url));
    let streams = [
        ("0.1 send", sent),
        ("0.1 resubscribe", open(rpc(&server, &key, "tasks/resubscribe", &json!({ "id": task }))).await),
        ("1.0 send", open(rpc(&server, &key, "SendStreamingMessage", &json!({ "message": message }))).await),
        ("1.0 subscribe", open(rpc(&server, &key, "SubscribeToTask", &json!({ "id": task }))).await),
        ("http", open(by_http.bearer_auth(&key).header("accept", "text/event-stream")).await),
        ("control", open(events.bearer_auth(&key)).await),
    ];
    revoke(&server, &id).await;
    for (name, stream) in streams {
        let last = last(stream).await;
        assert_eq!(last.event.as_deref(), Some("error"), "{name}: {last:?}");
        assert!(last.data.to_string().contains("this needs a valid key"), "{name}: {last:?}");
    }
    for _ in 0..10 {
        let event = kept.next().await.expect("another event");
        assert_eq!(event.event, None, "{event:?}");
    }
}

#[tokio::test]
async fn stream_of_an_expired_key_and_of_a_removed_tenant_ends() {
    let server = server().await;
    let soon = time::OffsetDateTime::now_utc() + Duration::from_secs(3);
    let (key, _) = key(&server, json!({ "expiresAt": pleat_domain::timestamp::format(soon) })).await;
    let params = json!({ "skill": "probe", "message": ticking() });
    let expiring = open(rpc(&server, &key, "tasks/sendSubscribe", &params)).await;
    let lasting = open(rpc(&server, &server.invoke, "tasks/sendSubscribe", &params)).await;
    assert_eq!(last(expiring).await.event.as_deref(), Some("error"));
    let (status, body) = server.api(Method::DELETE, "/tenants/acme", &server.operator, None).await;
    assert_eq!(status, 204, "{body}");
    last(lasting).await;
}
