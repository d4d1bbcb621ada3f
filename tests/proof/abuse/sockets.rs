//! Sockets that say nothing, or too little: one address holds thousands of them while another is served.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::harness::fixture;
use crate::node::Node;
use crate::options::Scale;
use crate::row::{Row, grouped};
use crate::streams::allow_files;

/// The address that holds the sockets; the node's other clients come from 127.0.0.1.
const HOLDER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// Every socket that was not answered must be closed by then.
const CLOSED_AFTER: Duration = Duration::from_secs(20);

/// What each socket sends before it falls silent.
const BEGINNINGS: &[&str] = &[
    "",
    "P",
    "PRI * HTTP/2.0\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "GET / HTTP/1.1\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    "\u{16}\u{3}\u{1}",
];

pub async fn prove(scale: Scale) -> Vec<Row> {
    let count = scale.pick(300, 4_000);
    allow_files();
    let node = Node::start().await;
    let tenant = node.tenant("sockets").await;
    node.deploy(&tenant, "echo", "echo.wasm", fixture("echo.wasm")).await;
    let mut held = Vec::with_capacity(count);
    let mut refused_holder = 0;
    for index in 0..count {
        match hold(node.address, BEGINNINGS[index % BEGINNINGS.len()]).await {
            Some(socket) => held.push(socket),
            None => refused_holder += 1,
        }
    }
    let began = Instant::now();
    let mut refused = Vec::new();
    for _ in 0..scale.pick(20, 500) {
        let called = node.call(&tenant, "echo", &json!({ "n": 1 })).await;
        if called.status != 200 {
            refused.push(format!("{} {}", called.status, called.body));
        }
        // Each on a connection of its own: those are what the sockets could use up.
        let fresh = fresh_call(node.address, &tenant.slug, &tenant.key).await;
        if !fresh.starts_with("HTTP/1.1 200") {
            refused.push(fresh);
        }
    }
    let mut open = Vec::new();
    for (index, socket) in held.into_iter().enumerate() {
        let rest = CLOSED_AFTER.saturating_sub(began.elapsed());
        if !closes(socket, rest).await {
            open.push(format!("{:?} is open after {CLOSED_AFTER:?}", BEGINNINGS[index % BEGINNINGS.len()]));
        }
    }
    refused.extend(node.faults());
    let tried = format!("{} silent sockets of one address ({refused_holder} not accepted)", grouped(count));
    vec![
        Row::none("abuse.sockets", format!("{tried}: calls from another address not served"), &refused),
        Row::none("abuse.sockets.open", format!("the same: open after {} s", CLOSED_AFTER.as_secs()), &open),
    ]
}

async fn hold(address: SocketAddr, beginning: &str) -> Option<TcpStream> {
    let socket = TcpSocket::new_v4().ok()?;
    socket.bind(SocketAddr::new(HOLDER, 0)).ok()?;
    let mut stream = socket.connect(address).await.ok()?;
    stream.write_all(beginning.as_bytes()).await.ok()?;
    Some(stream)
}

/// Reads what comes (a refusal, frames of HTTP/2) until the end.
async fn closes(mut socket: TcpStream, patience: Duration) -> bool {
    let mut buffer = [0; 1024];
    let end = async { while let Ok(1..) = socket.read(&mut buffer).await {} };
    tokio::time::timeout(patience, end).await.is_ok()
}

async fn fresh_call(address: SocketAddr, tenant: &str, key: &str) -> String {
    let target = format!("/t/{tenant}/echo");
    let request = crate::raw::request("POST", &target, "localhost", key, &[], r#"{"n":1}"#);
    crate::raw::exchange(address, &request).await.text
}
