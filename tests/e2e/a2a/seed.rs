//! The requests of the product's first document work as they are printed there.

use serde_json::{Value, json};

use super::{code, post, result_text};
use crate::harness::{TestServer, answering, read, redacted};

const SEND: &str = r#"{
    "jsonrpc": "2.0",
    "id": "1",
    "method": "tasks/send",
    "params": {
      "skill": "weather-lookup",
      "message": { "city": "San Francisco" }
    }
  }"#;

const ANSWER: &str = r#"{
  "jsonrpc": "2.0",
  "id": "1",
  "result": {
    "id": "task_abc123",
    "status": { "state": "completed" },
    "artifacts": [
      {
        "name": "weather-lookup-result",
        "parts": [{ "type": "text", "text": "{\"temp\":62,\"condition\":\"foggy\"}" }]
      }
    ]
  }
}"#;

const GET: &str = r#"{
    "jsonrpc": "2.0",
    "id": "2",
    "method": "tasks/get",
    "params": { "id": "task_abc123" }
  }"#;

const CANCEL: &str = r#"{
    "jsonrpc": "2.0",
    "id": "3",
    "method": "tasks/cancel",
    "params": { "id": "task_abc123" }
  }"#;

const WEATHER: &str = r#"
export const description = "Look up current weather for a city";
export const input = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
export default async function (input, ctx) {
  if (input.city !== "San Francisco") throw new Error(`no station in ${input.city}`);
  return { temp: 62, condition: "foggy" };
}
"#;

#[tokio::test]
async fn the_documented_requests_work_verbatim() {
    let server = TestServer::start().await;
    server.deploy("weather-lookup.js", WEATHER, "&visibility=public").await;
    let (status, sent) = post(&server, SEND).await;
    assert_eq!(status, 200);
    assert_eq!(
        redacted(sent.clone()),
        json!({
            "jsonrpc": "2.0",
            "id": "1",
            "result": {
                "id": "task_#",
                "sessionId": "ctx_#",
                "contextId": "ctx_#",
                "kind": "task",
                "status": { "state": "completed", "timestamp": "#" },
                "artifacts": [{
                    "artifactId": "weather-lookup-result",
                    "name": "weather-lookup-result",
                    "index": 0,
                    "parts": [{ "type": "text", "kind": "text", "text": "{\"temp\":62,\"condition\":\"foggy\"}" }]
                }]
            }
        })
    );
    let id = sent["result"]["id"].as_str().unwrap();
    assert_has(&sent, &serde_json::from_str(&ANSWER.replace("task_abc123", id)).unwrap());

    let (_, found) = post(&server, GET.replace("task_abc123", id)).await;
    assert_eq!(found, json!({ "jsonrpc": "2.0", "id": "2", "result": sent["result"] }));

    let (status, refused) = post(&server, CANCEL.replace("task_abc123", id)).await;
    let error = json!({ "code": -32002, "message": "the task is already completed and cannot be canceled" });
    assert_eq!((status, refused), (200, json!({ "jsonrpc": "2.0", "id": "3", "error": error })));
}

/// `task_abc123` is not of our form: it is unknown, not malformed.
#[tokio::test]
async fn the_documented_id_is_an_unknown_task() {
    let server = TestServer::start().await;
    for request in [GET, CANCEL] {
        let (status, answer) = post(&server, request).await;
        assert_eq!(status, 200);
        assert_eq!(answer["error"], json!({ "code": -32001, "message": "task not found" }));
    }
}

#[tokio::test]
async fn every_address_of_the_agent_takes_requests() {
    let server = TestServer::start().await;
    deploy_weather(&server).await;
    let address = server.url.strip_prefix("http://").unwrap();
    let port = address.rsplit_once(':').unwrap().1;
    let by_path = ["/t/acme/_a2a/", "/t/acme/_a2a", "/t/acme/", "/t/acme"].map(|path| (address.to_owned(), path));
    let hosts = [
        format!("acme.localhost:{port}"),
        format!("ACME.LocalHost:{port}"),
        format!("acme.localhost.:{port}"),
        "acme.localhost".to_owned(),
    ];
    let by_host = hosts.into_iter().flat_map(|host| ["/_a2a/", "/_a2a", "/"].map(|path| (host.clone(), path)));
    for (host, path) in by_path.into_iter().chain(by_host) {
        let (status, answer) = post_to(&server, &host, path).await;
        assert_eq!(status, 200, "{host}{path} {answer}");
        assert_eq!(result_text(&answer), r#"{"temp":62,"condition":"foggy"}"#, "{host}{path}");
    }
}

#[tokio::test]
async fn no_other_address_does() {
    let server = TestServer::start().await;
    deploy_weather(&server).await;
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let unknown = json!({ "error": { "code": "unknown_tenant", "message": "there is no such tenant" } });
    for (host, path) in [
        (address.as_str(), "/t/nobody/_a2a/"),
        (address.as_str(), "/t/NO..BODY/"),
        ("nobody.localhost", "/_a2a/"),
        ("x.acme.localhost", "/_a2a/"),
    ] {
        assert_eq!(post_to(&server, host, path).await, (404, unknown.clone()), "{host}{path}");
    }
    for (host, path, expected) in [
        (address.as_str(), "/_a2a/", 404),
        (address.as_str(), "/t/acme/_a2a/x", 404),
        ("acme.localhost", "/_a2a/x", 404),
        ("elsewhere.example", "/t/acme/_a2a/", 421),
        ("acme.elsewhere.example", "/_a2a/", 421),
    ] {
        let (status, answer) = post_to(&server, host, path).await;
        assert_eq!(status, expected, "{host}{path} {answer}");
    }
}

#[tokio::test]
async fn the_door_is_for_post() {
    let server = TestServer::start().await;
    let response = server.client.get(format!("{}/_a2a/", server.tenant_url())).send().await.unwrap();
    let (status, body) = read(response).await;
    let error = json!({ "code": "method_not_allowed", "message": "this path does not take that method" });
    assert_eq!((status, body), (405, json!({ "error": error })));
    // The documented card's address shows a reader where the doors are.
    let landing = server.client.get(server.tenant_url()).send().await.unwrap();
    let base = server.tenant_url();
    let doors = json!({
        "agent": "acme",
        "card": format!("{base}/.well-known/agent-card.json"),
        "a2a": format!("{base}/_a2a/"),
        "mcp": format!("{base}/mcp"),
        "http": format!("{base}/{{function}}"),
    });
    assert_eq!(read(landing).await, (200, doors));
}

#[tokio::test]
async fn an_unknown_task_and_a_failed_one_are_told_apart() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let input = json!({ "do": "fail", "code": "closed", "message": "the order is closed", "retryable": true,
                        "details": { "order": 17 } });
    let (status, failed) = server.rpc_as("", "tasks/send", json!({ "skill": "probe", "message": input })).await;
    assert_eq!(status, 200);
    assert_eq!(
        redacted(failed)["result"],
        json!({
            "id": "task_#",
            "sessionId": "ctx_#",
            "contextId": "ctx_#",
            "kind": "task",
            "status": {
                "state": "failed",
                "timestamp": "#",
                "message": {
                    "kind": "message",
                    "messageId": "task_#-#",
                    "role": "agent",
                    "parts": [{ "type": "text", "kind": "text", "text": "the order is closed" }],
                    "taskId": "task_#",
                    "contextId": "ctx_#"
                }
            },
            "artifacts": [],
            "metadata": { "failure": { "reason": "function_error", "code": "closed", "retryable": true } }
        })
    );
    let unknown = server.rpc("tasks/get", json!({ "id": format!("task_{}", "0".repeat(32)) })).await;
    assert_eq!(code(&unknown), -32001);
}

async fn deploy_weather(server: &TestServer) {
    let manifest = json!({ "description": "Look up current weather for a city" });
    let guest = answering(&manifest, r#"{"temp":62,"condition":"foggy"}"#);
    server.deploy("weather.wat", guest, "&name=weather-lookup&visibility=public").await;
}

async fn post_to(server: &TestServer, host: &str, path: &str) -> (u16, Value) {
    let request = server.client.post(format!("{}{path}", server.url)).header("host", host);
    read(request.header("content-type", "application/json").body(SEND).send().await.unwrap()).await
}

/// Everything in `expected` is in `actual`, lists item by item.
fn assert_has(actual: &Value, expected: &Value) {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            expected.iter().for_each(|(name, value)| assert_has(actual.get(name).expect(name), value));
        }
        (Value::Array(actual), Value::Array(expected)) => {
            assert_eq!(actual.len(), expected.len());
            actual.iter().zip(expected).for_each(|(actual, expected)| assert_has(actual, expected));
        }
        (actual, expected) => assert_eq!(actual, expected),
    }
}
