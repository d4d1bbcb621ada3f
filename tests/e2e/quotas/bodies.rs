//! Memory for request bodies: what is held back is limited by tenant and by node, and given back.

use std::net::SocketAddr;
use std::time::Duration;

use pleat_gateway::BodyLimits;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::{TestServer, fixture};

const MIB: usize = 1 << 20;

/// Sends half of a JSON text and keeps the connection.
async fn hold(server: &TestServer, path: &str, key: &str, bytes: usize) -> TcpStream {
    let address: SocketAddr = server.url.trim_start_matches("http://").parse().unwrap();
    let mut socket = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n\"",
        bytes + MIB
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    // What is refused is not read to the end.
    let _ = socket.write_all(&vec![b'x'; bytes]).await;
    socket
}

async fn answer(socket: &mut TcpStream) -> String {
    let mut buffer = vec![0; 4096];
    let count = tokio::time::timeout(Duration::from_secs(10), socket.read(&mut buffer)).await.unwrap().unwrap();
    String::from_utf8_lossy(&buffer[..count]).into_owned()
}

async fn gauge(server: &TestServer) -> String {
    let answer = server.client.get(format!("{}/metrics", server.url)).bearer_auth(&server.operator);
    let text = answer.send().await.unwrap().text().await.unwrap();
    text.lines().find(|line| line.starts_with("pleat_body_bytes ")).unwrap().to_owned()
}

/// Waits until the server holds so many bytes: what it has not read yet is not held.
async fn until_held(server: &TestServer, bytes: usize) {
    let reached = async {
        while gauge(server).await.rsplit(' ').next().unwrap().parse::<f64>().unwrap() < bytes as f64 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reached).await.unwrap();
}

#[tokio::test]
async fn bodies_of_a_tenant_and_of_the_node_are_limited_and_given_back() {
    let limits = BodyLimits { node: 5 * MIB, owner: 3 * MIB };
    let server = TestServer::start_with(|_| {}, |gateway| gateway.bodies = limits).await;
    server.deploy_echo().await;
    let other = server.other_tenant("other").await;
    let third = server.other_tenant("third").await;
    let held = hold(&server, "/t/acme/echo", &server.invoke, 2 * MIB).await;
    until_held(&server, 2 * MIB).await;
    for path in ["/t/acme/echo", "/t/acme/_a2a/", "/t/acme/mcp", "/t/acme/_a2a/rest/message:send"] {
        let mut refused = hold(&server, path, &server.invoke, 2 * MIB).await;
        let text = answer(&mut refused).await;
        assert!(text.starts_with("HTTP/1.1 429") && text.contains("limits.tenant_bodies_mib"), "{path}: {text}");
        assert!(text.to_ascii_lowercase().contains("retry-after: 1"), "{path}: {text}");
    }
    // Uploads have the same budget, and other tenants theirs.
    let upload = hold(&server, "/api/v1/tenants/other/functions?fileName=a.wasm", &other, 2 * MIB).await;
    until_held(&server, 4 * MIB).await;
    let mut refused = hold(&server, "/api/v1/tenants/third/functions?fileName=a.wasm", &third, 2 * MIB).await;
    let text = answer(&mut refused).await;
    assert!(text.starts_with("HTTP/1.1 503") && text.contains("limits.bodies_mib"), "{text}");
    assert_ne!(gauge(&server).await, "pleat_body_bytes 0");
    drop((held, upload));
    let input = json!({ "n": "x".repeat(2 * MIB) });
    for _ in 0..100 {
        let (status, body): (u16, Value) = server.http(&server.invoke, "echo", input.clone()).await;
        if status == 200 {
            break;
        }
        assert_eq!(status, 429, "{body}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (status, _) = server.try_deploy("echo.wasm", fixture("echo.wasm"), "&name=again").await;
    assert!(matches!(status, 200 | 201), "{status}");
}
