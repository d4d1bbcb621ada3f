//! A function that was granted every host reaches no private address, however it is spelled, and nobody is told of a task
//! at one.
//!
//! A canary listens on every address of this machine, at a port that outbound requests may use: what connects to it
//! is counted, and so is every answer that is not a refusal.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::fixture;
use crate::node::{Node, Tenant};
use crate::options::Scale;
use crate::row::{Row, grouped};

/// Those that outbound requests may use; one of them is free.
const PORTS: [u16; 4] = [8443, 8080, 443, 80];
/// Fewer than a tenant may have under way at once.
const AT_ONCE: usize = 20;
const PATIENCE: Duration = Duration::from_secs(30);

const GUEST: &str = r#"
export const description = "fetches what it is told";
export const capabilities = { hosts: ["*"] };
export const limits = { cpuMs: 10000 };
export default (urls) => Promise.all(urls.map(async (url) => {
  try {
    return `answered ${(await fetch(url)).status}`;
  } catch (error) {
    return `refused: ${error?.message ?? error}`;
  }
}));
"#;

pub async fn prove(scale: Scale) -> Vec<Row> {
    let Some((canary, port)) = canary().await else {
        let tried = format!("private URLs through a function: none of the ports {PORTS:?} is free to listen on");
        return vec![Row::none("ssrf.dialled", tried, &["nothing was tried".to_owned()])];
    };
    let node = Node::start().await;
    let tenant = node.tenant("curious").await;
    node.deploy_granted(&tenant, "fetcher", "fetcher.js", GUEST.into()).await;
    let all = String::from_utf8(fixture("private_urls.txt")).expect("UTF-8");
    let urls: Vec<String> = all.lines().map(|line| private(line, port)).step_by(scale.pick(10, 1)).collect();
    let mut answered = Vec::new();
    for some in urls.chunks(AT_ONCE) {
        answered.extend(fetched(&node, &tenant, some).await);
    }
    let told = registered(&node, &tenant, &urls).await;
    let tried =
        format!("{} disguised private URLs through a function that was granted every host", grouped(urls.len()));
    let dialled = heard(&canary, port).await;
    let deaf = if hears_what_is_allowed(&canary, port).await { vec![] } else { vec!["nothing was heard".to_owned()] };
    vec![
        Row::none("ssrf.dialled", format!("{tried}: connections"), &dialled),
        Row::none("ssrf.answered", "the same: answers that are no refusal", &answered),
        Row::none("ssrf.told", "the same as receivers of push notifications: not refused", &told),
        Row::none("ssrf.deaf", "one of them where the operator allows it: not heard", &deaf),
    ]
}

/// Hears every address of this machine, of both kinds where there are two.
async fn canary() -> Option<(TcpListener, u16)> {
    for port in PORTS {
        for address in ["[::]", "0.0.0.0"] {
            if let Ok(listener) = TcpListener::bind(format!("{address}:{port}")).await {
                return Some((listener, port));
            }
        }
    }
    None
}

/// By https, because `http://` would be refused before its address is looked at.
fn private(line: &str, port: u16) -> String {
    let url = line.replace("PORT", &port.to_string());
    match url.get(..5) {
        Some(scheme) if scheme.eq_ignore_ascii_case("http:") => format!("https:{}", &url[5..]),
        _ => url,
    }
}

async fn fetched(node: &Node, tenant: &Tenant, urls: &[String]) -> Vec<String> {
    let called = node.call(tenant, "fetcher", &json!(urls)).await;
    let Value::Array(answers) = &called.body else { panic!("{} {}", called.status, called.body) };
    assert_eq!(answers.len(), urls.len());
    let refused = |answer: &Value| answer.as_str().is_some_and(|answer| answer.starts_with("refused: "));
    let others = urls.iter().zip(answers).filter(|(_, answer)| !refused(answer));
    others.map(|(url, answer)| format!("{url}: {answer}")).collect()
}

/// Those that were taken as receivers of what becomes of a task.
async fn registered(node: &Node, tenant: &Tenant, urls: &[String]) -> Vec<String> {
    let task = node.call(tenant, "fetcher", &json!([])).await.task.expect("a task");
    let mut taken = Vec::new();
    for url in urls {
        let params = json!({ "id": task, "pushNotificationConfig": { "url": url } });
        let answer = node.rpc(&tenant.slug, &tenant.key, "tasks/pushNotification/set", params).await;
        if answer["error"]["code"] != -32602 {
            taken.push(format!("{url}: {answer}"));
        }
    }
    taken
}

/// A canary that hears nothing would prove nothing.
async fn hears_what_is_allowed(canary: &TcpListener, port: u16) -> bool {
    let rule = format!("127.0.0.1:{port}");
    let node = Node::start_with(&[("PLEAT_EGRESS_ALLOW", &rule)]).await;
    let tenant = node.tenant("curious").await;
    node.deploy_granted(&tenant, "fetcher", "fetcher.js", GUEST.into()).await;
    let heard = async { tokio::time::timeout(PATIENCE, canary.accept()).await.is_ok() };
    let urls = [format!("http://0x7f.1:{port}/")];
    let (heard, _) = tokio::join!(heard, fetched(&node, &tenant, &urls));
    heard
}

/// Who connected before we do ourselves.
async fn heard(canary: &TcpListener, port: u16) -> Vec<String> {
    let ours = TcpStream::connect(("127.0.0.1", port)).await.expect("the canary listens");
    let own = ours.local_addr().expect("an address").port();
    let mut heard = Vec::new();
    loop {
        let (_, from) = canary.accept().await.expect("the canary hears");
        if from.port() == own {
            return heard;
        }
        heard.push(format!("a connection from {from}"));
    }
}
