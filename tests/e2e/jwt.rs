//! Tokens: taken from the tenant's issuers, for what they may do, and refused with the one answer that bad keys get.

mod callers;
mod forge;
mod refusals;
mod registering;
mod rotation;
mod scopes;
pub mod signer;

use reqwest::Method;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::harness::{TestServer, fixture};
use signer::Signer;

pub const ISSUERS: &str = "/tenants/acme/issuers";
pub const ISSUER: &str = "https://id.example";

fn now() -> i64 {
    OffsetDateTime::now_utc().unix_timestamp()
}

/// A server whose tenant `acme` has the function `echo`, for keys and tokens that may invoke.
async fn serve(server: TestServer) -> TestServer {
    server.deploy("echo.wasm", fixture("echo.wasm"), "&name=echo").await;
    server
}

fn wish(keys: &[&Signer], scopes: &[&str]) -> Value {
    json!({ "issuer": ISSUER, "jwks": signer::key_set(keys), "scopes": scopes })
}

/// Registers an issuer and gives its id.
async fn register(server: &TestServer, wish: Value) -> String {
    let (status, body) = server.api(Method::POST, ISSUERS, &server.admin, Some(wish)).await;
    assert_eq!(status, 201, "{body}");
    body["id"].as_str().unwrap().to_owned()
}

/// What a good token says.
fn claims(server: &TestServer) -> Value {
    let now = now();
    json!({
        "iss": ISSUER, "aud": server.tenant_url(), "sub": "ada", "iat": now, "exp": now + 300, "scope": "invoke",
    })
}

/// The same with one claim otherwise; `null` takes it out.
fn with(server: &TestServer, name: &str, value: Value) -> Value {
    let mut claims = claims(server);
    claims[name] = value;
    claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    claims
}

async fn status(server: &TestServer, token: &str) -> u16 {
    server.http(token, "echo", json!({ "a": 1 })).await.0
}
