//! Several readers, readers that leave, and readers that are slow: none disturbs the task or another.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::{assembled, assert_whole, send, task_id};
use crate::harness::{Frame, TestServer, frames};

/// A request over a socket of our own, without reading. HTTP/1.0 has no chunks: the stream is the body as it is.
async fn request(server: &TestServer, receive_buffer: u32, path: &str, body: &Value) -> TcpStream {
    let address = server.url.strip_prefix("http://").unwrap();
    let body = body.to_string();
    let head = format!(
        "POST /t/acme{path} HTTP/1.0\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(receive_buffer).unwrap();
    let mut connection = socket.connect(address.parse().unwrap()).await.unwrap();
    connection.write_all((head + &body).as_bytes()).await.unwrap();
    connection
}

fn rpc(method: &str, input: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": send(input) })
}

async fn read_to_end(mut connection: TcpStream) -> Vec<Frame> {
    let mut text = String::new();
    connection.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.0 200"), "{head}");
    frames(body)
}

#[tokio::test]
async fn all_readers_see_the_same_and_one_that_leaves_disturbs_nobody() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let input = json!({ "do": "emit", "chunks": 20, "delay_ms": 15 });
    let mut first = server.rpc_stream("", "tasks/sendSubscribe", send(&input), None).await;
    let mut told = vec![first.next().await.unwrap()];
    let id = task_id(&told);
    let second = server.rpc_stream("", "tasks/resubscribe", id.clone(), None).await;
    let mut leaver = server.rpc_stream("", "tasks/resubscribe", id.clone(), None).await;
    leaver.next().await.unwrap();
    drop(leaver);
    let third = server.rpc_stream("", "tasks/resubscribe", id, None).await;
    let rest = async {
        while let Some(frame) = first.next().await {
            told.push(frame);
        }
        told
    };
    let (told, second, third) = tokio::join!(rest, second.all(), third.all());
    assert_whole(&told);
    assert_eq!(second, told);
    assert_eq!(third, told);
}

#[tokio::test]
async fn the_task_goes_on_without_the_reader_that_began_it() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let input = json!({ "do": "emit", "chunks": 10, "delay_ms": 20 });
    let mut stream = server.rpc_stream("", "tasks/sendSubscribe", send(&input), None).await;
    let first = [stream.next().await.unwrap()];
    drop(stream);
    let told = server.rpc_stream("", "tasks/resubscribe", task_id(&first), None).await.all().await;
    assert_whole(&told);
    assert_eq!(told.last().unwrap().data["result"]["status"]["state"], "completed");
}

/// The client of a call that answers once goes away before the answer: its task is kept and finishes.
#[tokio::test]
async fn a_client_that_goes_away_does_not_lose_its_task() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let body = rpc("tasks/send", &json!({ "do": "emit", "chunks": 10, "delay_ms": 100 }));
    let connection = request(&server, 65_536, "/_a2a/", &body).await;
    let running = server.task_in("working").await;
    drop(connection);
    let id = running["id"].as_str().unwrap();
    let url = format!("{}/api/v1/tenants/acme/tasks/{id}/events", server.url);
    let watch = server.client.get(url).bearer_auth(&server.read).send().await.unwrap();
    let told = crate::harness::Stream::of(watch).all().await;
    assert_eq!(told.last().unwrap().data["body"]["status"]["state"], "completed");
    let task = server.task(id).await;
    assert_eq!((&task["state"], &task["artifacts"][1]["value"]), (&json!("completed"), &json!("done")), "{task}");
}

#[tokio::test]
async fn nor_does_a_client_of_the_plain_door() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let connection = request(&server, 65_536, "/probe", &json!({ "do": "sleep", "ms": 1_000 })).await;
    server.task_in("working").await;
    drop(connection);
    let done = server.task_in("completed").await;
    assert_eq!((&done["door"], &done["artifacts"][0]["value"]), (&json!("http"), &json!("done")), "{done}");
}

#[tokio::test]
async fn a_slow_reader_of_many_events_gets_them_all() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let body = rpc("tasks/sendSubscribe", &json!({ "do": "emit", "chunks": 1_100, "delay_ms": 0 }));
    let slow = request(&server, 4_096, "/_a2a/", &body).await;
    // It has not read a byte when the task is done: the task did not wait for it.
    let done = server.task_in("completed").await;
    let fast = server.rpc_stream("", "tasks/resubscribe", json!({ "id": done["id"] }), None).await.all().await;
    let told = read_to_end(slow).await;
    assert_whole(&told);
    assert!(told.len() >= 2_000, "{} events", told.len());
    let text: String = (1..=1_100).map(|chunk| format!("chunk {chunk}")).collect();
    assert_eq!(assembled(&told, "probe-stream"), text);
    assert_eq!(fast, told);
}
