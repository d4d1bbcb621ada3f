//! Two small clients that hide nothing: one of the session era, and one whose requests stand for themselves.

use std::collections::VecDeque;

use futures::StreamExt;
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};

use crate::harness::TestServer;

pub const ACCEPT: &str = "application/json, text/event-stream";
pub const STATELESS: &str = "2026-07-28";

pub fn initialize_params(version: &str, capabilities: Value) -> Value {
    json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": { "name": "test", "version": "1" } })
}

/// A session.
#[derive(Clone)]
pub struct Client {
    pub http: reqwest::Client,
    pub url: String,
    pub key: String,
    pub session: String,
    pub version: String,
}

impl Client {
    /// Opens a session at the tenant's door, as nobody, with these capabilities.
    pub async fn open(server: &TestServer, capabilities: Value) -> Self {
        Self::open_at(server, &format!("{}/mcp", server.tenant_url()), "", "2025-11-25", capabilities).await
    }

    pub async fn open_as(server: &TestServer, key: &str) -> Self {
        Self::open_at(server, &format!("{}/mcp", server.tenant_url()), key, "2025-11-25", json!({})).await
    }

    pub async fn open_at(server: &TestServer, url: &str, key: &str, version: &str, capabilities: Value) -> Self {
        let mut client = Self {
            http: server.client.clone(),
            url: url.to_owned(),
            key: key.to_owned(),
            session: String::new(),
            version: version.to_owned(),
        };
        let sent = client.body(0, "initialize", initialize_params(version, capabilities));
        let response = client.post(sent).send().await.unwrap();
        assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
        client.session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let answer: Value = response.json().await.unwrap();
        client.version = answer["result"]["protocolVersion"].as_str().unwrap().to_owned();
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.post(ready).send().await.unwrap().status(), 202);
        client
    }

    pub fn body(&self, id: u32, method: &str, params: Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }

    pub fn post(&self, body: Value) -> RequestBuilder {
        self.headers(self.http.post(&self.url)).json(&body)
    }

    pub fn get(&self) -> RequestBuilder {
        self.headers(self.http.get(&self.url))
    }

    pub fn headers(&self, request: RequestBuilder) -> RequestBuilder {
        let mut request = request.header("accept", ACCEPT);
        if !self.session.is_empty() {
            request = request.header("mcp-session-id", &self.session).header("mcp-protocol-version", &self.version);
        }
        if !self.key.is_empty() {
            request = request.bearer_auth(&self.key);
        }
        request
    }

    /// The last message of the answer, whether it came as JSON or over a stream.
    pub async fn ask(&self, method: &str, params: Value) -> Value {
        self.stream(method, params).await.last().await
    }

    /// The result.
    pub async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub async fn call(&self, name: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({ "name": name, "arguments": arguments })).await
    }

    pub async fn stream(&self, method: &str, params: Value) -> Messages {
        Messages::of(self.post(self.body(7, method, params)).send().await.unwrap())
    }

    pub async fn send(&self, message: Value) -> u16 {
        self.post(message).send().await.unwrap().status().as_u16()
    }
}

/// A key that may invoke, for as long as it is there.
pub struct PassingKey {
    id: String,
    pub text: String,
}

impl PassingKey {
    pub async fn of(server: &TestServer) -> Self {
        let wish = json!({ "label": "passing", "scopes": ["invoke"] });
        let (status, key) = server.api(reqwest::Method::POST, "/tenants/acme/keys", &server.admin, Some(wish)).await;
        assert_eq!(status, 201, "{key}");
        let text = |name: &str| key[name].as_str().unwrap().to_owned();
        Self { id: text("id"), text: text("key") }
    }

    pub async fn revoke(&self, server: &TestServer) {
        let path = format!("/tenants/acme/keys/{}", self.id);
        let (status, body) = server.api(reqwest::Method::DELETE, &path, &server.admin, None).await;
        assert_eq!(status, 204, "{body}");
    }
}

/// Requests of the stateless era.
#[derive(Clone)]
pub struct Modern {
    pub http: reqwest::Client,
    pub url: String,
    pub key: String,
    pub capabilities: Value,
    /// Further members of `_meta`.
    pub meta: Value,
}

impl Modern {
    pub fn new(server: &TestServer, capabilities: Value) -> Self {
        let url = format!("{}/mcp", server.tenant_url());
        Self { http: server.client.clone(), url, key: String::new(), capabilities, meta: json!({}) }
    }

    pub fn with_key(mut self, key: &str) -> Self {
        self.key = key.to_owned();
        self
    }

    pub fn params(&self, mut params: Value) -> Value {
        let mut meta = json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        });
        for (name, value) in self.meta.as_object().unwrap() {
            meta[name] = value.clone();
        }
        params["_meta"] = meta;
        params
    }

    pub fn post(&self, method: &str, params: Value) -> RequestBuilder {
        let name = ["name", "uri", "taskId"].iter().find_map(|field| params[*field].as_str().map(str::to_owned));
        let body = json!({ "jsonrpc": "2.0", "id": "m1", "method": method, "params": self.params(params) });
        let mut request = self.http.post(&self.url).header("accept", ACCEPT);
        request = request.header("mcp-protocol-version", STATELESS).header("mcp-method", method);
        if let Some(name) = name {
            request = request.header("mcp-name", name);
        }
        if !self.key.is_empty() {
            request = request.bearer_auth(&self.key);
        }
        request.json(&body)
    }

    pub async fn stream(&self, method: &str, params: Value) -> Messages {
        Messages::of(self.post(method, params).send().await.unwrap())
    }

    pub async fn ask(&self, method: &str, params: Value) -> (u16, Value) {
        let messages = self.stream(method, params).await;
        (messages.status, messages.last().await)
    }

    pub async fn result(&self, method: &str, params: Value) -> Value {
        let (_, answer) = self.ask(method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }
}

/// The messages of an answer, with the ids of their events.
pub struct Messages {
    pub status: u16,
    pub streamed: bool,
    body: futures::stream::BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    buffer: String,
    ready: VecDeque<(Option<String>, Value)>,
    /// Of the last event that was read, with or without a message.
    pub last_id: Option<String>,
}

impl Messages {
    pub fn of(response: Response) -> Self {
        let kind = response.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
        Self {
            status: response.status().as_u16(),
            streamed: kind.starts_with("text/event-stream"),
            body: response.bytes_stream().boxed(),
            buffer: String::new(),
            ready: VecDeque::new(),
            last_id: None,
        }
    }

    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((id, message)) = self.ready.pop_front() {
                self.last_id = id.or(self.last_id.take());
                return Some(message);
            }
            match self.body.next().await {
                Some(bytes) => self.buffer.push_str(std::str::from_utf8(&bytes.ok()?).unwrap()),
                None if self.buffer.is_empty() => return None,
                None => {
                    let rest = std::mem::take(&mut self.buffer);
                    return serde_json::from_str(&rest).ok();
                }
            }
            if self.streamed {
                self.take_events();
            }
        }
    }

    fn take_events(&mut self) {
        while let Some(end) = self.buffer.find("\n\n") {
            let text: String = self.buffer.drain(..end + 2).collect();
            let field = |name: &str| {
                text.lines()
                    .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
                    .map(|value| value.trim().to_owned())
            };
            let id = field("id");
            match field("data").filter(|data| !data.is_empty()) {
                Some(data) => self.ready.push_back((id, serde_json::from_str(&data).unwrap())),
                None => self.last_id = id.or(self.last_id.take()),
            }
        }
    }

    pub async fn all(mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some(message) = self.next().await {
            all.push(message);
        }
        all
    }

    pub async fn last(self) -> Value {
        self.all().await.pop().unwrap_or(Value::Null)
    }
}
