//! Streams that nothing comes through: thousands of them, and what each holds.

use std::net::SocketAddr;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::guest::Guest;
use crate::harness::Stream;
use crate::memory::Memory;
use crate::node::{Node, Tenant};
use crate::options::Scale;
use crate::row::{Row, grouped};

const TASKS: usize = 20;
const HOUR: u64 = 3_600_000_000_000;

pub async fn prove(scale: Scale) -> Vec<Row> {
    let count = scale.pick(300, 5_000);
    let most = allow_files();
    assert!(most > count as u64 + 500, "{count} streams need as many files, and this process may have {most}");
    // All clients of this proof have one address and one key.
    let more = [("PLEAT_SERVER_CONNECTIONS_PER_ADDRESS", "8000"), ("PLEAT_LIMITS_STREAMS_PER_CALLER", "8000")];
    let node = Node::start_with(&more).await;
    let tenant = node.tenant("sleeper").await;
    node.deploy(&tenant, "sleep", "sleep.wat", Guest::sleeping(HOUR).bytes()).await;
    let mut tasks = Vec::new();
    for _ in 0..TASKS {
        tasks.push(begin(&node, &tenant).await);
    }
    // What the first streams cost once is not what each one costs.
    drop(open(&node, &tenant, &tasks, 100).await);
    let before = Memory::settled(node.process()).await;
    let streams = open(&node, &tenant, &tasks, count).await;
    let after = Memory::settled(node.process()).await;
    let mut faults = closed(&streams);
    faults.extend(node.faults());
    let tried = format!("{} idle streams on {TASKS} tasks", grouped(count));
    vec![
        Row::at_most(
            "streams.memory",
            format!("{tried}: memory of one"),
            40.0,
            after.since(before) / count as f64,
            "kB",
        )
        .judged(scale.is_full()),
        Row::none("streams.closed", "the same: streams that did not stay open", &faults),
    ]
}

/// As many open files as the system lets this process, and those that it starts, have.
pub fn allow_files() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let all = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, all).expect("the soft limit may be raised");
    limit.maximum.unwrap_or(u64::MAX)
}

/// A task that runs on, and its own stream.
async fn begin(node: &Node, tenant: &Tenant) -> (String, Stream) {
    let params = json!({ "skill": "sleep", "message": 1 });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/sendSubscribe", "params": params });
    let url = format!("http://{}/t/{}/_a2a/", node.address, tenant.slug);
    let sent = node.client.post(url).bearer_auth(&tenant.key).json(&body).send().await;
    let mut stream = Stream::of(sent.expect("a stream"));
    let first = stream.next().await.expect("a first event");
    (first.data["result"]["id"].as_str().unwrap_or_else(|| panic!("{first:?}")).to_owned(), stream)
}

/// Plain sockets, so that the client costs little.
async fn open(node: &Node, tenant: &Tenant, tasks: &[(String, Stream)], count: usize) -> Vec<TcpStream> {
    let mut streams = Vec::with_capacity(count);
    for index in 0..count {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/resubscribe", "params": { "id": tasks[index % TASKS].0 } });
        streams.push(subscribe(node.address, tenant, &body.to_string()).await);
    }
    streams
}

/// Open once its headers and first event have come.
async fn subscribe(address: SocketAddr, tenant: &Tenant, body: &str) -> TcpStream {
    let request = format!(
        "POST /t/{}/_a2a/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        tenant.slug,
        tenant.key,
        body.len()
    );
    let mut socket = TcpStream::connect(address).await.expect("the server accepts");
    socket.write_all(request.as_bytes()).await.expect("it reads");
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while !text.contains("data:") {
        let read = socket.read(&mut buffer).await.expect("an answer");
        assert!(read > 0, "the stream ended: {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..read]));
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    }
    socket
}

fn closed(streams: &[TcpStream]) -> Vec<String> {
    let ended = |stream: &&TcpStream| {
        let mut buffer = [0; 4096];
        // Comments that keep it open are there to be read.
        loop {
            match stream.try_read(&mut buffer) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return error.kind() != std::io::ErrorKind::WouldBlock,
            }
        }
    };
    streams.iter().filter(ended).map(|stream| format!("{:?} was closed", stream.local_addr())).collect()
}
