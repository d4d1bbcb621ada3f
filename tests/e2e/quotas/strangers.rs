//! Requests without a valid key: limited by address, before any work is done for them, and without their bodies.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use pleat_gateway::StrangerLimits;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::{TestServer, read};

const FEW: StrangerLimits = StrangerLimits { per_minute: 6, burst: 5 };

async fn server() -> TestServer {
    TestServer::start_with(|_| {}, |gateway| gateway.strangers = FEW).await
}

async fn get(server: &TestServer, path: &str, key: &str) -> reqwest::Response {
    let request = server.client.get(format!("{}{path}", server.url));
    let request = if key.is_empty() { request } else { request.bearer_auth(key) };
    request.send().await.unwrap()
}

/// The limit that a refusal names.
async fn refused_limit(answer: reqwest::Response) -> Value {
    assert_eq!(answer.status(), 429);
    assert!(answer.headers()["retry-after"].to_str().unwrap().parse::<u32>().unwrap() >= 1);
    let (_, body) = read(answer).await;
    let details = body["error"].get("details").or(body["error"].get("data")).unwrap_or_else(|| panic!("{body}"));
    details["limit"].clone()
}

#[tokio::test]
async fn requests_without_a_key_are_refused_once_their_address_has_used_up_its_requests() {
    let server = server().await;
    // Seen once, this key is let in whatever strangers at its address do.
    assert_eq!(get(&server, "/api/v1/tenants/acme/functions", &server.read).await.status(), 200);
    for _ in 0..5 {
        assert_eq!(get(&server, "/t/acme/.well-known/agent-card.json", "").await.status(), 200);
    }
    for path in ["/t/acme/.well-known/agent-card.json", "/t/nobody/", "/api/v1/tenants", "/t/acme/_a2a/", "/t/acme/mcp"]
    {
        assert_eq!(refused_limit(get(&server, path, "").await).await, "stranger_requests_per_minute", "{path}");
    }
    for _ in 0..20 {
        assert_eq!(get(&server, "/api/v1/tenants/acme/functions", &server.read).await.status(), 200);
    }
}

#[tokio::test]
async fn failed_authentications_and_unknown_tenants_count_and_valid_keys_do_not() {
    let server = server().await;
    for _ in 0..20 {
        assert_eq!(get(&server, "/api/v1/tenants/acme/functions", &server.read).await.status(), 200);
    }
    for path in ["/api/v1/tenants/acme/functions", "/t/acme/mcp", "/t/nobody/echo"] {
        assert!(matches!(get(&server, path, "plt_wrong").await.status().as_u16(), 401 | 404), "{path}");
    }
    let a2a = server.rpc_response("ey.a.b", "tasks/send", json!({})).await;
    assert_eq!(a2a.status(), 401);
    assert_eq!(get(&server, "/api/v1/tenants", "plt_wrong").await.status(), 401);
    assert_eq!(refused_limit(get(&server, "/api/v1/tenants", "plt_wrong").await).await, "stranger_requests_per_minute");
    let a2a = server.rpc_response("plt_wrong", "tasks/send", json!({})).await;
    assert_eq!(refused_limit(a2a).await, "stranger_requests_per_minute");
    assert_eq!(get(&server, "/api/v1/tenants/acme/functions", &server.read).await.status(), 200);
}

#[tokio::test]
async fn clients_behind_a_trusted_proxy_have_a_rate_each() {
    let server = TestServer::start_with(
        |_| {},
        |gateway| {
            gateway.strangers = FEW;
            gateway.connections.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
        },
    )
    .await;
    let get = async |client: &str| {
        let request = server.client.get(format!("{}/t/acme/", server.url)).header("x-forwarded-for", client);
        request.send().await.unwrap().status().as_u16()
    };
    for _ in 0..5 {
        assert_eq!(get("198.51.100.7").await, 200);
    }
    assert_eq!(get("198.51.100.7").await, 429);
    assert_eq!(get("1.2.3.4, 198.51.100.7").await, 429, "what the client says itself does not count");
    assert_eq!(get("198.51.100.8").await, 200);
}

#[tokio::test]
async fn a_tenant_that_was_asked_for_too_early_works_when_it_is_created() {
    let server = TestServer::start().await;
    assert_eq!(get(&server, "/t/late/", "").await.status(), 404);
    server.other_tenant("late").await;
    assert_eq!(get(&server, "/t/late/", "").await.status(), 200);
}

/// One request by hand, whose body never comes.
async fn head_only(server: &TestServer, path: &str, key: &str) -> (String, Duration) {
    let address: SocketAddr = server.url.trim_start_matches("http://").parse().unwrap();
    let mut socket = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: 4000000\r\n\r\n"
    );
    let began = Instant::now();
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut buffer = [0; 4096];
    let count = tokio::time::timeout(Duration::from_secs(10), socket.read(&mut buffer)).await.unwrap().unwrap();
    (String::from_utf8_lossy(&buffer[..count]).into_owned(), began.elapsed())
}

#[tokio::test]
async fn a_refused_key_is_answered_before_the_body_is_read_in_every_protocol() {
    let server = TestServer::start().await;
    for path in [
        "/t/acme/_a2a/",
        "/t/acme/",
        "/t/acme/_a2a/rest/message:send",
        "/t/acme/mcp",
        "/t/acme/echo",
        "/mcp",
        "/api/v1/tenants/acme/functions",
        "/api/v1/tenants",
    ] {
        let (answer, took) = head_only(&server, path, "plt_wrong").await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{path}: {answer}");
        assert!(took < Duration::from_secs(3), "{path}: {took:?}");
    }
    let (answer, _) = head_only(&server, "/t/acme/_a2a/", "plt_wrong").await;
    assert!(answer.contains(r#""id":null"#) && answer.contains("-32052"), "{answer}");
    // A small body that is there already gives back its id.
    let (status, answer) = server.rpc_as("plt_wrong", "tasks/send", json!({})).await;
    assert_eq!((status, &answer["id"], &answer["error"]["code"]), (401, &json!(1), &json!(-32052)), "{answer}");
}
