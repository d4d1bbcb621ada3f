//! Requests as bytes, because a client library would tidy up what these tests are about.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::TestServer;

/// Status and everything after the status line. `lines` are joined as they are; the connection closes after one answer.
pub async fn send(server: &TestServer, lines: &[&str]) -> (u16, String) {
    send_bytes(server, format!("{}\r\nConnection: close\r\n\r\n", lines.join("\r\n")).as_bytes()).await
}

pub async fn send_bytes(server: &TestServer, request: &[u8]) -> (u16, String) {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.unwrap();
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no answer to {:?}: {text:?}", String::from_utf8_lossy(request))), text)
}

/// A request for one target at one host.
pub async fn get(server: &TestServer, host: &str, target: &str) -> (u16, String) {
    send(server, &[&format!("GET {target} HTTP/1.1"), &format!("Host: {host}")]).await
}
