//! What functions may use: granted, not granted, and too much of it. `reach.wasm` reaches out as its input says.

mod calls;
mod cli;
mod grants;
mod http;
mod key_value;
mod limits;
mod master_key;
mod secrets;
mod settings;

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{TestServer, fixture};

const FUNCTIONS: &str = "/tenants/acme/functions";

impl TestServer {
    /// The guest under the name `reach`, public; `grants` as in `&grant=kv`.
    async fn deploy_reach(&self, grants: &str) -> Value {
        self.deploy("reach.wasm", fixture("reach.wasm"), &format!("&name=reach&visibility=public{grants}")).await
    }

    /// A server on which it has everything that it asks for.
    async fn with_reach() -> Self {
        let server = Self::start().await;
        server.deploy_reach("&grant=all").await;
        server
    }

    /// What it answers.
    async fn reach(&self, input: Value) -> Value {
        let (status, answer) = self.http(&self.invoke, "reach", input.clone()).await;
        assert_eq!(status, 200, "{input}: {answer}");
        answer
    }

    /// The code and the message it fails with.
    async fn reach_fails(&self, input: Value) -> (String, String) {
        let (status, answer) = self.http(&self.invoke, "reach", input.clone()).await;
        assert_eq!(status, 422, "{input}: {answer}");
        let text = |field: &str| answer["error"][field].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        (text("code"), text("message"))
    }

    async fn put(&self, path: &str, value: &str) -> (u16, Value) {
        self.api(Method::PUT, &format!("/tenants/acme{path}"), &self.deploy, Some(json!({ "value": value }))).await
    }
}
