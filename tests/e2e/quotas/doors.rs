//! The same refusals in the words of the doors that the other tests do not use: MCP, and the HTTP+JSON binding of A2A.

use std::time::Duration;

use pleat_domain::{Plan, Plans};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::{FREE, Refusal, echo, limited, most, sleeper, until_refused};
use crate::harness::{TestServer, Tongue};
use crate::mcp::client::Modern;

async fn over_mcp(server: &TestServer) -> Response {
    let client = Modern::new(server, json!({})).with_key(&server.invoke);
    client.post("tools/call", json!({ "name": "probe", "arguments": echo(1) })).send().await.unwrap()
}

async fn over_rest(server: &TestServer) -> Response {
    let mut message = Tongue::Rest.call("probe", echo(1));
    message["messageId"] = json!(pleat_domain::TaskId::new().to_string());
    let request = Tongue::Rest.request(server, Method::POST, "/message:send").bearer_auth(&server.invoke);
    request.json(&json!({ "message": message })).send().await.unwrap()
}

/// What an error of `google.rpc` says in its first detail.
fn facts(refusal: &Refusal) -> &Value {
    &refusal.details[0]["metadata"]
}

#[tokio::test]
async fn a_rate_is_said_over_mcp_and_over_rest() {
    let server = limited(Plan { requests_per_minute: most(60), request_burst: Some(5), ..FREE }).await;
    server.deploy_probe().await;
    until_refused(async || over_mcp(&server).await).await.is_limit("requests_per_minute", 60, 1);
    let refusal = until_refused(async || over_rest(&server).await).await;
    assert_eq!((refusal.status, &refusal.code, refusal.retry_after), (429, &json!(429), Some(1)), "{refusal:?}");
    assert_eq!((&facts(&refusal)["limit"], &facts(&refusal)["most"]), (&json!("requests_per_minute"), &json!("60")));
}

#[tokio::test]
async fn a_full_node_is_said_over_mcp_and_over_rest() {
    let (server, _runtime, _directory) = TestServer::start_alone_with(2, |config| {
        config.plans = Plans::generous();
        config.slot_wait = Duration::from_millis(50);
    })
    .await;
    server.deploy_probe().await;
    let (_task, _stream) = sleeper(&server, &server.invoke).await;
    let refusal = Refusal::of(over_mcp(&server).await).await;
    assert_eq!((refusal.status, &refusal.code, refusal.retry_after), (503, &json!(-32051), Some(1)), "{refusal:?}");
    assert_eq!(refusal.details["limit"], "instance slots");
    let refusal = Refusal::of(over_rest(&server).await).await;
    assert_eq!((refusal.status, &refusal.code, refusal.retry_after), (503, &json!(503), Some(1)), "{refusal:?}");
    assert_eq!(facts(&refusal)["limit"], "instance slots");
}
