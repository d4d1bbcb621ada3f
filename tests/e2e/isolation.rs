//! Nobody sees or touches what is not theirs: every route, every wrong caller, every trick with hosts and paths.

mod anonymous;
mod audited;
mod hosts;
mod indistinguishable;
mod paths;
mod raw;
mod routes;
mod table;

pub use indistinguishable::whole;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{TestServer, fixture};

/// Two tenants: `acme`, whose `private` needs a key and has two versions, and `other`, whose public `treasure` must
/// show up nowhere else.
pub struct Neighbours {
    pub server: TestServer,
    /// May do everything in `other`.
    pub other: String,
    /// May invoke in `acme`, but owns nothing.
    pub stranger: String,
    pub stranger_id: String,
    /// An issuer of tokens for `acme`.
    pub issuer: String,
    /// Ids of two operator keys beside the harness's: one to rotate, one to revoke.
    pub operator_keys: [String; 2],
    /// Signs cards.
    pub card_key: String,
    /// Finished, of the harness's invoke key.
    pub finished: String,
    /// Still running, of the same.
    pub running: String,
    /// Waits for its caller, of the same.
    pub waiting: String,
}

impl Neighbours {
    pub async fn start() -> Self {
        let server = TestServer::start().await;
        let other = server.other_tenant("other").await;
        deploy_treasure(&server, &other).await;
        server.deploy("minimal.wat", fixture("minimal.wat"), "&name=private").await;
        server.deploy("probe.wasm", fixture("probe.wasm"), "&name=private").await;
        let wish = json!({ "scopes": ["invoke"], "label": "stranger" });
        let (status, key) = server.api(Method::POST, "/tenants/acme/keys", &server.admin, Some(wish)).await;
        assert_eq!(status, 201, "{key}");
        let wish = json!({ "issuer": "https://acme.example", "scopes": ["invoke"], "jwks": { "keys": [
            { "kty": "OKP", "crv": "Ed25519", "kid": "one", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }] } });
        let (status, issuer) = server.api(Method::POST, "/tenants/acme/issuers", &server.admin, Some(wish)).await;
        assert_eq!(status, 201, "{issuer}");
        let call = |input: Value| json!({ "skill": "private", "message": input });
        let send = async |input: Value| {
            let (_, answer) = server.rpc_as(&server.invoke, "tasks/send", call(input)).await;
            answer["result"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
        };
        let finished = send(json!({ "do": "echo", "value": 1 })).await;
        let waiting = send(json!({ "do": "need_input", "prompt": "which?" })).await;
        let sleep = call(json!({ "do": "sleep", "ms": 25_000 }));
        let mut stream = server.rpc_stream(&server.invoke, "tasks/sendSubscribe", sleep, None).await;
        let first = stream.next().await.expect("a first event");
        let running = first.data["result"]["id"].as_str().unwrap_or_else(|| panic!("{first:?}")).to_owned();
        let text = |field: &str| key[field].as_str().unwrap().to_owned();
        let issuer = issuer["id"].as_str().unwrap().to_owned();
        let (_, keys) = server.api(Method::GET, "/card-keys", &server.operator, None).await;
        let card_key = keys["keys"][0]["id"].as_str().unwrap().to_owned();
        let operator_key = async || {
            let (status, key) = server.api(Method::POST, "/operator-keys", &server.operator, Some(json!({}))).await;
            assert_eq!(status, 201, "{key}");
            key["id"].as_str().unwrap().to_owned()
        };
        let operator_keys = [operator_key().await, operator_key().await];
        let (stranger, stranger_id) = (text("key"), text("id"));
        Self { stranger, stranger_id, issuer, operator_keys, card_key, server, other, finished, running, waiting }
    }
}

async fn deploy_treasure(server: &TestServer, key: &str) {
    let path = "/api/v1/tenants/other/functions?fileName=minimal.wat&name=treasure&visibility=public";
    let request = server.client.post(format!("{}{path}", server.url)).bearer_auth(key).body(fixture("minimal.wat"));
    assert_eq!(request.send().await.unwrap().status(), 201);
}
