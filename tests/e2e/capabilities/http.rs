//! HTTP from functions: to granted hosts, through the guard, several at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Redirect;
use axum::routing::{any, get};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Barrier;

use crate::harness::{TestServer, fixture};

/// A server of the outside world, here on this machine, and how often it was asked.
struct World {
    port: u16,
    asked: Arc<AtomicUsize>,
}

#[derive(Clone)]
struct Served {
    asked: Arc<AtomicUsize>,
    together: Arc<Barrier>,
}

impl World {
    async fn start() -> Self {
        let asked = Arc::new(AtomicUsize::new(0));
        let served = Served { asked: Arc::clone(&asked), together: Arc::new(Barrier::new(5)) };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let router = Router::new()
            .route("/echo", any(echo))
            .route("/away", get(|| async { Redirect::temporary("https://elsewhere.example/") }))
            .route("/home", get(|| async { Redirect::temporary("/echo") }))
            .route("/never", get(std::future::pending::<StatusCode>))
            .route("/large", get(|| async { vec![b'x'; 5 << 20] }))
            .route("/together", get(together))
            .with_state(served);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { port, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The guest, asking for this server's port.
    fn guest(&self) -> Vec<u8> {
        let (from, to) = ("127.0.0.1:65535", format!("127.0.0.1:{}", self.port));
        assert_eq!(from.len(), to.len(), "a port of five digits");
        let mut bytes = fixture("reach.wasm");
        let places: Vec<usize> =
            (0..bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from.as_bytes())).collect();
        assert!(!places.is_empty(), "the guest names its host");
        for at in places {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
        bytes
    }

    /// A platform whose operator lets functions reach this server, with the guest deployed.
    async fn platform(&self, allowed: bool) -> TestServer {
        let rule = format!("127.0.0.1:{}", self.port).parse::<pleat_egress::AllowRule>().unwrap();
        let server = TestServer::start_with(
            |config| {
                if allowed {
                    config.egress.allow.push(rule);
                }
            },
            |_| {},
        )
        .await;
        let query = "&name=reach&visibility=public&grant=all";
        server.deploy("reach.wasm", self.guest(), query).await;
        server
    }
}

async fn echo(State(served): State<Served>, headers: HeaderMap, method: axum::http::Method, body: String) -> String {
    served.asked.fetch_add(1, SeqCst);
    let headers: Vec<(String, String)> = headers
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();
    json!({ "method": method.as_str(), "headers": headers, "body": body }).to_string()
}

/// Answers when five are there.
async fn together(State(served): State<Served>) -> &'static str {
    served.together.wait().await;
    "all here"
}

fn ask(url: String) -> Value {
    json!({ "do": "http", "method": "GET", "url": url, "follow": true })
}

#[tokio::test]
async fn a_granted_host_is_asked_and_its_answer_comes_back() {
    let world = World::start().await;
    let server = world.platform(true).await;
    let headers = json!([["x-mine", "1"], ["content-type", "text/plain"]]);
    let input =
        json!({ "do": "http", "method": "POST", "url": world.url("/echo"), "headers": headers, "body": "hello" });
    let answer = server.reach(input).await;
    assert_eq!((&answer["status"], &answer["url"]), (&json!(200), &json!(world.url("/echo"))));
    let seen: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
    assert_eq!((&seen["method"], &seen["body"]), (&json!("POST"), &json!("hello")));
    let seen = seen["headers"].to_string();
    assert!(seen.contains(r#"["x-mine","1"]"#) && seen.contains(r#"["x-pleat-tenant","acme"]"#), "{seen}");
    let answer = server.reach(ask(world.url("/home"))).await;
    assert_eq!(answer["url"], world.url("/echo"), "redirects to where it may go are followed");
    let stay = json!({ "do": "http", "method": "GET", "url": world.url("/home"), "follow": false });
    assert_eq!(server.reach(stay).await["status"], 307);
}

#[tokio::test]
async fn what_was_not_granted_is_not_asked() {
    let world = World::start().await;
    let server = world.platform(true).await;
    for url in
        ["https://example.com/", "https://reach.test/", "https://localhost/", "https://a.reach.test.evil.example/"]
    {
        assert_eq!(server.reach_fails(ask(url.to_owned())).await.0, "not_granted", "{url}");
    }
    let away = server.reach_fails(ask(world.url("/away"))).await;
    assert_eq!(away.0, "not_granted", "nor by a redirect: {away:?}");
    for url in
        ["", "nonsense", "ftp://127.0.0.1/", "http://user:pass@127.0.0.1/", "http://127.0.0.1:1/", "http://localhost/"]
    {
        let refused = server.reach_fails(ask(url.to_owned())).await;
        assert!(["invalid_request", "not_granted"].contains(&refused.0.as_str()), "{url}: {refused:?}");
    }
    assert_eq!(world.asked.load(SeqCst), 0);
}

#[tokio::test]
async fn a_grant_alone_does_not_open_the_operators_network() {
    let world = World::start().await;
    let server = world.platform(false).await;
    let refused = server.reach_fails(ask(world.url("/echo"))).await;
    assert!(["denied_address", "invalid_request"].contains(&refused.0.as_str()), "{refused:?}");
    assert_eq!(world.asked.load(SeqCst), 0);
}

#[tokio::test]
async fn several_requests_are_under_way_at_the_same_time() {
    let world = World::start().await;
    let server = world.platform(true).await;
    let urls = vec![world.url("/together"); 5];
    // Each is answered only when all five are there.
    let answers = server.reach(json!({ "do": "http_all", "urls": urls })).await;
    let bodies: Vec<&Value> = answers.as_array().unwrap().iter().map(|answer| &answer["body"]).collect();
    assert_eq!(bodies, vec!["all here"; 5], "{answers}");
}

#[tokio::test]
async fn time_and_size_have_an_end() {
    let world = World::start().await;
    let server = world.platform(true).await;
    let patient = json!({ "do": "http", "method": "GET", "url": world.url("/never"), "timeout_ms": 200 });
    let refused = server.reach_fails(patient).await;
    assert_eq!(refused.0, "timeout", "{refused:?}");
    assert_eq!(server.reach_fails(ask(world.url("/large"))).await.0, "too_large");
    // A canceled task does not go on waiting.
    let params = json!({ "skill": "reach", "message": ask(world.url("/never")) });
    let mut stream = server.rpc_stream(&server.invoke, "tasks/sendSubscribe", params, None).await;
    let first = stream.next().await.unwrap();
    let id = first.data["result"]["id"].clone();
    let canceled = server.rpc_as(&server.invoke, "tasks/cancel", json!({ "id": id }));
    let (_, answer) = tokio::time::timeout(Duration::from_secs(20), canceled).await.unwrap();
    assert_eq!(answer["result"]["status"]["state"], "canceled", "{answer}");
}
