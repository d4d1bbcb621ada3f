//! Requests that are broken in every way: none is the server's fault, and none keeps a connection.

mod breakage;
mod requests;

use std::net::SocketAddr;
use std::time::Duration;

use futures::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::fixture;
use crate::node::Node;
use crate::options::Scale;
use crate::random::Random;
use crate::row::{Row, grouped};

const AT_ONCE: usize = 32;
/// After this the client says that nothing more will come.
const QUIET: Duration = Duration::from_millis(400);
/// After that the server must have closed.
const PATIENCE: Duration = Duration::from_secs(15);

pub async fn prove(scale: Scale) -> Vec<Row> {
    let node = Node::start().await;
    let tenant = node.tenant("target").await;
    node.deploy(&tenant, "echo", "echo.wasm", fixture("echo.wasm")).await;
    let whole = requests::all(&tenant);
    let count = scale.pick(1_500, 20_000);
    let mut random = Random::new(0xBAD);
    let broken: Vec<Vec<u8>> =
        (0..count).map(|index| breakage::broken(&whole[index % whole.len()], &mut random)).collect();
    let seen = futures::stream::iter(&broken).map(|request| send(node.address, request)).buffer_unordered(AT_ONCE);
    let seen: Vec<Ended> = seen.collect().await;
    let shown = |wanted: fn(&Ended) -> bool| -> Vec<String> {
        seen.iter().filter(|ended| wanted(ended)).map(|ended| format!("{ended:?}")).collect()
    };
    let faults = shown(|ended| ended.status.is_some_and(|status| status >= 500));
    let hung = shown(|ended| ended.hung);
    let tried = format!("{} broken requests of {} kinds", grouped(count), whole.len());
    vec![
        Row::none("malformed.faults", format!("{tried}: answers of 500 and above"), &faults),
        Row::none("malformed.hung", "the same: connections that were not let go", &hung),
        Row::none("malformed.panics", "the same: ends and panics of the server", &node.faults()),
    ]
}

#[derive(Debug)]
struct Ended {
    status: Option<u16>,
    hung: bool,
    #[expect(dead_code, reason = "for whoever reads what was found")]
    request: String,
}

async fn send(address: SocketAddr, request: &[u8]) -> Ended {
    let mut socket = TcpStream::connect(address).await.expect("the server accepts");
    // It may close before it has read everything.
    let _ = socket.write_all(request).await;
    let mut answer = Vec::new();
    let mut hung = false;
    if tokio::time::timeout(QUIET, read(&mut socket, &mut answer)).await.is_err() {
        let _ = socket.shutdown().await;
        hung = tokio::time::timeout(PATIENCE, read(&mut socket, &mut answer)).await.is_err();
    }
    let text = String::from_utf8_lossy(&answer);
    let status = text.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
    Ended { status, hung, request: String::from_utf8_lossy(request).chars().take(2_000).collect() }
}

/// To the end of the connection.
async fn read(socket: &mut TcpStream, answer: &mut Vec<u8>) {
    let mut buffer = [0; 8192];
    while let Ok(read @ 1..) = socket.read(&mut buffer).await {
        answer.extend_from_slice(&buffer[..read]);
    }
}
