//! Requests as bytes, because a client library would tidy up what this is about.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const PATIENCE: Duration = Duration::from_secs(20);

/// Everything that came back. The request must make the server close the connection.
pub async fn exchange(address: SocketAddr, request: &[u8]) -> Answer {
    let mut bytes = Vec::new();
    let whole = tokio::time::timeout(PATIENCE, async {
        let mut socket = TcpStream::connect(address).await.expect("the server accepts");
        // A server that has seen enough may close before it has been told everything.
        let _ = socket.write_all(request).await;
        let mut buffer = [0; 16 << 10];
        while let Ok(read @ 1..) = socket.read(&mut buffer).await {
            bytes.extend_from_slice(&buffer[..read]);
        }
    });
    let in_time = whole.await.is_ok();
    Answer { text: String::from_utf8_lossy(&bytes).into_owned(), in_time }
}

#[derive(Debug)]
pub struct Answer {
    pub text: String,
    /// The connection was closed before the client lost patience.
    pub in_time: bool,
}

impl Answer {
    /// Nothing came, or no HTTP.
    pub fn status(&self) -> Option<u16> {
        self.text.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()
    }

    /// All of it but the time and the signatures of a card, with what the request named taken out.
    pub fn without(&self, named: &str) -> String {
        let lines = self.text.split("\r\n").filter(|line| !line.to_ascii_lowercase().starts_with("date:"));
        unsigned(&lines.collect::<Vec<_>>().join("\r\n")).replace(named, "<named>")
    }
}

/// The same key signs the same card differently each time, and a card is signed anew every few seconds. What was signed
/// stays.
fn unsigned(text: &str) -> String {
    const BEGIN: &str = "\"signature\":\"";
    let mut parts = text.split(BEGIN);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, part| {
        let behind = part.split_once('"').map_or("", |(_, behind)| behind);
        format!("{before}{BEGIN}\"{behind}")
    })
}

/// A request in the ordinary form, to be altered or sent as it is. An empty key is none.
pub fn request(method: &str, target: &str, host: &str, key: &str, more: &[&str], body: &str) -> Vec<u8> {
    let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    if !key.is_empty() {
        head.push_str(&format!("Authorization: Bearer {key}\r\n"));
    }
    for line in more {
        head.push_str(line);
        head.push_str("\r\n");
    }
    if !body.is_empty() {
        head.push_str("Content-Type: application/json\r\n");
    }
    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}
