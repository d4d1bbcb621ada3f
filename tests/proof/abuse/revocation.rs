//! Streams and webhooks of a key that is revoked: they end, and nobody is told anything more. And webhooks as a relay:
//! no body is larger than its cap.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::guest::Guest;
use crate::harness::Stream;
use crate::node::{Node, Tenant};
use crate::options::Scale;
use crate::row::Row;

/// Streams look again at their key every 10 s.
const ALLOWED_SECONDS: f64 = 12.0;
/// One notification, headers aside.
const BODY_CAP: usize = 256 << 10;

/// Emits a line every 100 ms for as long as it is told.
const TICKER: &str = r#"
export const description = "says something every tenth of a second";
export const limits = { wallMs: 120000 };
export default async (input, ctx) => {
  for (let n = 0; n < input.ticks; n++) {
    ctx.emit(`tick ${n} `);
    await new Promise((done) => setTimeout(done, 100));
  }
  return "x".repeat(input.bytes ?? 1);
};
"#;

/// Every body that arrived, with its time.
type Heard = Arc<Mutex<Vec<(Instant, usize)>>>;

pub async fn prove(scale: Scale) -> Vec<Row> {
    let (heard, port) = receiver().await;
    let node = Node::start_with(&[("PLEAT_EGRESS_ALLOW", "127.0.0.1:*")]).await;
    let tenant = node.tenant("revoked").await;
    node.deploy(&tenant, "ticker", "ticker.js", TICKER.into()).await;
    node.deploy(&tenant, "sleep", "sleep.wat", Guest::sleeping(3_600_000_000_000).bytes()).await;
    let oversized = oversized(&node, &tenant, port, &heard, scale).await;
    let count = scale.pick(6, 100);
    let (key, id) = node.caller(&tenant).await;
    let mut streams = Vec::new();
    for index in 0..count {
        let (skill, input) = if index % 2 == 0 { ("ticker", json!({ "ticks": 600 })) } else { ("sleep", json!(1)) };
        streams.push(follow(&node, &tenant, &key, skill, input, port).await);
    }
    let path = format!("/tenants/{}/keys/{id}", tenant.slug);
    let (status, body) = node.api(Method::DELETE, &path, &tenant.key, None).await;
    assert_eq!(status, 204, "{body}");
    let revoked = Instant::now();
    let mut longest = Duration::ZERO;
    let mut open = Vec::new();
    for (index, stream) in streams.into_iter().enumerate() {
        let rest = Duration::from_secs(30).saturating_sub(revoked.elapsed());
        match tokio::time::timeout(rest, stream.all()).await {
            Ok(_) => longest = longest.max(revoked.elapsed()),
            Err(_) => open.push(format!("stream {index} is open {:?} after the key was revoked", revoked.elapsed())),
        }
    }
    let late: Vec<String> = told_after(&heard, revoked + Duration::from_secs(3));
    vec![
        Row::none("abuse.revoked.streams", format!("{count} streams of a key that is revoked: open 30 s later"), &open),
        Row::at_most("abuse.revoked.late", "the same: the last to end", ALLOWED_SECONDS, longest.as_secs_f64(), "s")
            .judged(scale.is_full()),
        Row::none("abuse.revoked.webhooks", "the same: notifications more than 3 s after it", &late),
        oversized,
    ]
}

async fn oversized(node: &Node, tenant: &Tenant, port: u16, heard: &Heard, scale: Scale) -> Row {
    let count = scale.pick(2, 20);
    for index in 0..count {
        let input = json!({ "ticks": 0, "bytes": (index + 1) * (400 << 10) });
        follow(node, tenant, &tenant.key, "ticker", input, port).await.all().await;
    }
    let patience = Instant::now() + Duration::from_secs(20);
    while heard.lock().expect("whole").len() < count && Instant::now() < patience {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let heard = heard.lock().expect("whole");
    let mut faults: Vec<String> =
        heard.iter().filter(|(_, size)| *size > BODY_CAP).map(|(_, size)| format!("{size} bytes")).collect();
    if heard.len() < count {
        faults.push(format!("{} of {count} tasks were told of", heard.len()));
    }
    let tried = format!("{count} results of 0.4 to {:.1} MB: notifications over 256 KiB, or none", count as f64 * 0.4);
    Row::none("abuse.webhooks", tried, &faults)
}

fn told_after(heard: &Heard, moment: Instant) -> Vec<String> {
    let heard = heard.lock().expect("whole");
    heard.iter().filter(|(at, _)| *at > moment).map(|(at, _)| format!("{:?} late", *at - moment)).collect()
}

/// A task with a stream and a webhook, both of this key.
async fn follow(node: &Node, tenant: &Tenant, key: &str, skill: &str, input: Value, port: u16) -> Stream {
    let push = json!({ "url": format!("http://127.0.0.1:{port}/") });
    let params = json!({ "skill": skill, "message": input, "pushNotification": push });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/sendSubscribe", "params": params });
    let url = format!("http://{}/t/{}/_a2a/", node.address, tenant.slug);
    let mut stream = Stream::of(node.client.post(url).bearer_auth(key).json(&body).send().await.expect("a stream"));
    let first = stream.next().await.expect("a first event");
    assert!(first.data["result"]["id"].is_string(), "{first:?}");
    stream
}

async fn receiver() -> (Heard, u16) {
    let heard = Heard::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let router = Router::new().fallback(hear).with_state(Arc::clone(&heard));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (heard, port)
}

async fn hear(State(heard): State<Heard>, body: Bytes) {
    heard.lock().expect("whole").push((Instant::now(), body.len()));
}
