//! Bodies that are sent almost whole and then held back: the bytes in flight are limited, and others are served.

use std::net::SocketAddr;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::fixture;
use crate::memory::Memory;
use crate::node::Node;
use crate::options::Scale;
use crate::row::Row;

const BODY: usize = 4 << 20;
const MEGABYTE: f64 = 1024.0;

pub async fn prove(scale: Scale) -> Vec<Row> {
    let count = scale.pick(60, 200);
    let node = Node::start().await;
    let flood = node.tenant("flood").await;
    let honest = node.tenant("honest").await;
    for tenant in [&flood, &honest] {
        node.deploy(tenant, "echo", "echo.wasm", fixture("echo.wasm")).await;
    }
    let before = Memory::settled(node.process()).await;
    let mut held = Vec::new();
    let mut refused_bodies = 0;
    for _ in 0..count {
        let (socket, refused) = hold(node.address, &flood.slug, &flood.key).await;
        refused_bodies += usize::from(refused);
        held.push(socket);
    }
    let most = Memory::of(node.process()).since(before) / MEGABYTE;
    let mut refused = Vec::new();
    for _ in 0..20 {
        let called = node.call(&honest, "echo", &json!({ "n": "x".repeat(64 << 10) })).await;
        if called.status != 200 {
            refused.push(format!("{} {}", called.status, called.body));
        }
    }
    refused.extend(node.faults());
    drop(held);
    let (stranger, read) = unread(node.address, &flood.slug).await;
    let tried = format!("{count} bodies of 4 MiB, held back before the last byte ({refused_bodies} refused)");
    vec![
        Row::at_most("abuse.bodies", format!("{tried}: memory, more than before"), 160.0, most, "MB"),
        Row::none("abuse.bodies.served", "the same: calls of another tenant that were not served", &refused),
        Row::none("abuse.bodies.unread", format!("a wrong key with 4 MiB: read before the answer {stranger}"), &read),
    ]
}

/// Sends all but one byte. Whether the server has answered already.
async fn hold(address: SocketAddr, tenant: &str, key: &str) -> (TcpStream, bool) {
    let mut socket = TcpStream::connect(address).await.expect("the server accepts");
    let head = format!(
        "POST /t/{tenant}/echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {BODY}\r\n\r\n\""
    );
    let _ = socket.write_all(head.as_bytes()).await;
    let piece = vec![b'x'; 64 << 10];
    for _ in 0..BODY / piece.len() - 1 {
        if socket.write_all(&piece).await.is_err() {
            return (socket, true);
        }
    }
    let _ = socket.write_all(&piece[..piece.len() - 2]).await;
    let mut one = [0; 1];
    let refused = tokio::time::timeout(std::time::Duration::from_millis(50), socket.read(&mut one)).await.is_ok();
    (socket, refused)
}

/// A request with a wrong key is answered before its body has been sent.
async fn unread(address: SocketAddr, tenant: &str) -> (String, Vec<String>) {
    let mut socket = TcpStream::connect(address).await.expect("the server accepts");
    let head = format!(
        "POST /t/{tenant}/_a2a/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer plt_wrong\r\n\
         Content-Type: application/json\r\nContent-Length: {BODY}\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).await.expect("it reads");
    let mut answer = vec![0; 4096];
    let read = tokio::time::timeout(std::time::Duration::from_secs(5), socket.read(&mut answer)).await;
    match read {
        Ok(Ok(count @ 1..)) => {
            let text = String::from_utf8_lossy(&answer[..count]).into_owned();
            (text.lines().next().unwrap_or_default().to_owned(), Vec::new())
        }
        other => ("none".to_owned(), vec![format!("no answer without the body: {other:?}")]),
    }
}
