//! Connections: silent, slow and too many of them, and whose they are behind a proxy.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use pleat_gateway::ConnectionLimits;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::harness::TestServer;

const PREFACE: &str = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEALTH: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

async fn server(limits: impl FnOnce(&mut ConnectionLimits)) -> TestServer {
    TestServer::start_with(|_| {}, |gateway| limits(&mut gateway.connections)).await
}

fn address(server: &TestServer) -> SocketAddr {
    server.url.trim_start_matches("http://").parse().unwrap()
}

async fn connect(server: &TestServer, beginning: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address(server)).await.unwrap();
    stream.write_all(beginning.as_bytes()).await.unwrap();
    stream
}

/// From another address of this machine than the tests' client has.
async fn connect_from(server: &TestServer, last: u8) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, last], 0).into()).unwrap();
    socket.connect(address(server)).await.unwrap()
}

/// What comes until the connection ends; `None` if it stays open.
async fn rest(stream: &mut TcpStream, patience: Duration) -> Option<String> {
    let mut read = Vec::new();
    let reading = async {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            read.extend_from_slice(&buffer[..count]);
        }
    };
    tokio::time::timeout(patience, reading).await.ok()?;
    Some(String::from_utf8_lossy(&read).into_owned())
}

/// The head of one answer.
async fn head(stream: &mut TcpStream) -> String {
    let mut buffer = [0; 4096];
    let count = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut buffer)).await.unwrap().unwrap_or(0);
    String::from_utf8_lossy(&buffer[..count]).into_owned()
}

#[tokio::test]
async fn silent_and_partial_beginnings_are_closed_after_the_header_timeout() {
    let server = server(|limits| limits.header = Duration::from_secs(1)).await;
    let began = Instant::now();
    let beginnings = [
        "",
        "P",
        "PRI * HTTP/2.0\r\n",
        PREFACE,
        "GET / HTTP/1.1\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        "\u{16}\u{3}\u{1}",
    ];
    for beginning in beginnings {
        let mut stream = connect(&server, beginning).await;
        assert!(rest(&mut stream, Duration::from_secs(10)).await.is_some(), "{beginning:?} stays open");
    }
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert_eq!(server.client.get(format!("{}/healthz", server.url)).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn connection_between_requests_is_closed_after_the_idle_timeout() {
    let server = server(|limits| (limits.header, limits.idle) = (Duration::from_secs(1), Duration::from_secs(3))).await;
    let mut stream = connect(&server, HEALTH).await;
    assert!(head(&mut stream).await.starts_with("HTTP/1.1 200"));
    let began = Instant::now();
    assert_eq!(rest(&mut stream, Duration::from_secs(20)).await.as_deref(), Some(""));
    assert!(began.elapsed() > Duration::from_secs(2), "{:?}", began.elapsed());
    // Half of a second request has the headers' limit.
    let mut stream = connect(&server, HEALTH).await;
    head(&mut stream).await;
    stream.write_all(b"GET /he").await.unwrap();
    assert!(rest(&mut stream, Duration::from_secs(20)).await.is_some());
}

#[tokio::test]
async fn stream_without_events_outlives_all_timeouts_of_connections() {
    let server = server(|limits| {
        (limits.header, limits.idle) = (Duration::from_secs(1), Duration::from_secs(1));
        limits.write = Duration::from_secs(1);
    })
    .await;
    server.deploy_probe().await;
    let input = json!({ "do": "sleep", "ms": 4_000 });
    let params = json!({ "skill": "probe", "message": input });
    let mut stream = server.rpc_stream(&server.invoke, "tasks/sendSubscribe", params, None).await;
    let mut last = None;
    while let Some(frame) = stream.next().await {
        last = Some(frame);
    }
    assert!(last.unwrap().data.to_string().contains("completed"));
    // An answer that takes its time is no idle connection either.
    let (status, body) = server.http(&server.invoke, "probe", json!({ "do": "sleep", "ms": 3_000 })).await;
    assert_eq!(status, 200, "{body}");
}

#[tokio::test]
async fn client_that_does_not_read_is_closed_after_the_write_timeout() {
    // More than the system's buffers take.
    let server = TestServer::start_with(
        |_| {},
        |gateway| {
            gateway.connections.write = Duration::from_secs(1);
            gateway.request_body = 16 << 20;
        },
    )
    .await;
    server.deploy_echo().await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(8 * 1024).unwrap();
    let mut stream = socket.connect(address(&server)).await.unwrap();
    let body = serde_json::to_string(&"x".repeat(7 << 20)).unwrap();
    let sent = format!(
        "POST /t/acme/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(sent.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(4)).await;
    let read = rest(&mut stream, Duration::from_secs(10)).await.expect("it is closed");
    assert!(read.len() < body.len(), "all {} bytes came", read.len());
}

#[tokio::test]
async fn connections_of_one_address_are_limited_and_other_addresses_are_served() {
    let server = server(|limits| limits.per_address = 5).await;
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(connect_from(&server, 7).await);
    }
    let mut closed = 0;
    for stream in &mut held {
        closed += usize::from(rest(stream, Duration::from_millis(200)).await.is_some());
    }
    assert_eq!(closed, 3);
    assert_eq!(server.client.get(format!("{}/healthz", server.url)).send().await.unwrap().status(), 200);
    let metrics = server.client.get(format!("{}/metrics", server.url)).bearer_auth(&server.operator);
    let metrics = metrics.send().await.unwrap().text().await.unwrap();
    assert!(
        metrics.contains(r#"pleat_connections_refused_total{limit="server.connections_per_address"}"#),
        "{metrics}"
    );
    // Room comes back with the end of a connection.
    drop(held);
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut stream = connect_from(&server, 7).await;
    stream.write_all(HEALTH.as_bytes()).await.unwrap();
    assert!(head(&mut stream).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn full_node_closes_silent_connections_for_new_ones() {
    let server = server(|limits| limits.connections = 16).await;
    let mut held = Vec::new();
    for index in 0..30 {
        held.push(connect_from(&server, 10 + index).await);
    }
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    for _ in 0..5 {
        let mut stream = connect(&server, HEALTH).await;
        assert!(head(&mut stream).await.starts_with("HTTP/1.1 200"));
        held.push(stream);
    }
}

#[tokio::test]
async fn proxy_header_names_the_client_and_is_demanded_of_trusted_proxies_alone() {
    let server = server(|limits| {
        limits.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
        limits.proxy_protocol = true;
        limits.per_address = 2;
    })
    .await;
    let header = "PROXY TCP4 198.51.100.7 10.0.0.1 4711 80\r\n";
    let mut held = Vec::new();
    for expected in ["HTTP/1.1 200", "HTTP/1.1 200", ""] {
        let mut stream = connect(&server, &format!("{header}{HEALTH}")).await;
        let head = head(&mut stream).await;
        assert_eq!(head.get(..12).unwrap_or_default(), expected, "{head}");
        held.push(stream);
    }
    let other = header.replace(".7 ", ".8 ");
    let mut stream = connect(&server, &format!("{other}{HEALTH}")).await;
    assert!(head(&mut stream).await.starts_with("HTTP/1.1 200"));
    // A proxy that says nothing is not served, and a stranger may not say anything.
    let mut silent = connect(&server, HEALTH).await;
    assert_eq!(head(&mut silent).await, "");
    let mut stranger = connect_from(&server, 9).await;
    stranger.write_all(format!("{header}{HEALTH}").as_bytes()).await.unwrap();
    assert!(!head(&mut stranger).await.starts_with("HTTP/1.1 200"));
}
