//! Guardrails at every door: what is blocked, redacted and warned of, in values and in streams, and what is recorded.

mod blocking;
mod hiding;
mod offers;
mod policies;
mod redacting;
mod streams;
mod violations;

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::TestServer;

/// What the functions of these tests are made of: the input comes back.
const ECHO: &str = "export const description = 'Gives back what it gets';\nexport default (input) => input;\n";

const EMAIL: &str = "jane.doe@example.com";
const CARD: &str = "4111 1111 1111 1111";

/// A platform with the public functions `echo` and `pieces` and this default policy.
async fn guarded(policy: Value) -> TestServer {
    let server = TestServer::start().await;
    server.deploy("echo.js", ECHO, "&visibility=public").await;
    set(&server, "", policy).await;
    server
}

fn checks(checks: Value) -> Value {
    json!({ "checks": checks })
}

/// Sets the default, or the policy of a skill.
async fn set(server: &TestServer, skill: &str, policy: Value) {
    let (status, body) = try_set(server, skill, policy).await;
    assert_eq!(status, 204, "{body}");
}

async fn try_set(server: &TestServer, skill: &str, policy: Value) -> (u16, Value) {
    let path = if skill.is_empty() { String::new() } else { format!("/skills/{skill}") };
    server.api(Method::PUT, &format!("/tenants/acme/guard{path}"), &server.deploy, Some(policy)).await
}

/// What was found, the latest first.
async fn violations(server: &TestServer, query: &str) -> Vec<Value> {
    let path = format!("/tenants/acme/guard/violations{query}");
    let (status, body) = server.api(Method::GET, &path, &server.read, None).await;
    assert_eq!(status, 200, "{body}");
    body["violations"].as_array().unwrap().clone()
}

async fn tasks(server: &TestServer) -> Vec<Value> {
    let (_, body) = server.api(Method::GET, "/tenants/acme/tasks", &server.read, None).await;
    body["tasks"].as_array().unwrap().clone()
}
