//! A request that is refused before its body was read leaves the connection usable, or the answer says that it ends.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::harness::TestServer;

type Socket = BufReader<TcpStream>;

async fn connect(server: &TestServer) -> Socket {
    let address = server.url.strip_prefix("http://").unwrap();
    let socket = TcpStream::connect(address).await.unwrap();
    socket.set_nodelay(true).unwrap();
    BufReader::new(socket)
}

/// Headers first, and what follows them a little later, as many clients send it.
async fn post(socket: &mut Socket, path: &str, headers: &str, length: usize, body: &str) {
    let head = format!("POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\n{headers}\r\n\r\n");
    socket.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(30)).await;
    socket.write_all(body.as_bytes()).await.unwrap();
}

/// The head of the next answer; its body is read too.
async fn answer(socket: &mut Socket) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(socket.read_line(&mut head).await.unwrap(), 0, "closed behind {head:?}");
    }
    let head = head.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
    socket.read_exact(&mut vec![0; length.parse().unwrap()]).await.unwrap();
    head
}

const JSON: &str = "Content-Type: application/json";
const MESSAGE: &str = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":1}]}}"#;

#[tokio::test]
async fn a_connection_outlives_requests_that_are_refused_unread() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let mut socket = connect(&server).await;
    for (path, headers, status) in [
        ("/t/acme/_a2a/rest/message:send", "Content-Type: application/json\r\nA2A-Version: 99.0", "400"),
        ("/t/acme/_a2a/rest/message:send", "Content-Type: text/plain", "400"),
        ("/t/acme/_a2a/rest/nothing", JSON, "404"),
        ("/t/acme/_a2a/", "Content-Type: text/plain", "415"),
        ("/t/nobody/_a2a/", JSON, "404"),
        ("/nowhere", JSON, "404"),
    ] {
        post(&mut socket, path, headers, MESSAGE.len(), MESSAGE).await;
        let refused = answer(&mut socket).await;
        assert!(refused.starts_with(&format!("http/1.1 {status}")), "{path}: {refused}");
        assert!(!refused.contains("connection: close"), "{path}: {refused}");
        post(&mut socket, "/t/acme/_a2a/rest/message:send", JSON, MESSAGE.len(), MESSAGE).await;
        let served = answer(&mut socket).await;
        assert!(served.starts_with("http/1.1 200"), "behind {path}: {served}");
    }
}

/// More than is worth reading, what never comes, and what its sender wants to be asked for.
#[tokio::test]
async fn where_the_rest_is_not_waited_for_the_answer_says_that_the_connection_ends() {
    let server = TestServer::start().await;
    let large = "x".repeat(400_000);
    for (headers, length, body) in [
        ("Content-Type: text/plain", large.len(), large.as_str()),
        ("Content-Type: text/plain", 1_000, "and no more"),
        ("Content-Type: text/plain\r\nExpect: 100-continue", 1_000, ""),
    ] {
        let mut socket = connect(&server).await;
        post(&mut socket, "/t/acme/_a2a/", headers, length, body).await;
        let refused = answer(&mut socket).await;
        assert!(refused.starts_with("http/1.1 415") && refused.contains("connection: close"), "{headers}: {refused}");
    }
}
