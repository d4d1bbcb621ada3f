//! The agent's door in the words of each version that has messages, so that one test can speak them all.
//!
//! Everything that is answered in 1.0 is decoded with the types of the official library, and written again by them.

use reqwest::{Method, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Frame, Stream, TestServer, read};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tongue {
    V03,
    V1,
    /// 1.0 over HTTP+JSON.
    Rest,
}

impl Tongue {
    pub const ALL: [Self; 3] = [Self::V03, Self::V1, Self::Rest];

    /// A user's message. Parts are given as 1.0 has them.
    pub fn message(self, parts: Value) -> Value {
        let id = uuid::Uuid::now_v7().simple().to_string();
        if self != Self::V03 {
            return json!({ "messageId": id, "role": "ROLE_USER", "parts": parts });
        }
        let parts: Vec<Value> = parts.as_array().unwrap().iter().map(earlier_part).collect();
        json!({ "kind": "message", "messageId": id, "role": "user", "parts": parts })
    }

    pub fn text(self, text: &str) -> Value {
        self.message(json!([{ "text": text }]))
    }

    /// A message for one of several skills.
    pub fn call(self, skill: &str, input: Value) -> Value {
        let mut message = self.message(json!([{ "data": input }]));
        message["metadata"] = json!({ "skill": skill });
        message
    }

    /// The same for a task that waits.
    pub fn answer(self, task: &str, input: Value) -> Value {
        let mut message = self.message(json!([{ "data": input }]));
        message["taskId"] = json!(task);
        message
    }

    pub fn state(self, state: &str) -> String {
        match self {
            Self::V03 => state.to_owned(),
            _ => format!("TASK_STATE_{}", state.to_uppercase().replace('-', "_")),
        }
    }

    /// What makes a send not wait.
    pub fn at_once(self) -> Value {
        match self {
            Self::V03 => json!({ "blocking": false }),
            _ => json!({ "returnImmediately": true }),
        }
    }

    pub async fn send(self, server: &TestServer, key: &str, params: Value) -> Answer {
        let request = match self {
            Self::Rest => self.post(server, "/message:send", &params),
            _ => self.rpc(server, if self == Self::V03 { "message/send" } else { "SendMessage" }, &params),
        };
        let answer = self.read(with_key(request, key)).await;
        answer.decoded::<a2a::SendMessageResponse>()
    }

    pub async fn stream(self, server: &TestServer, key: &str, params: Value) -> Events {
        let request = match self {
            Self::Rest => self.post(server, "/message:stream", &params),
            Self::V1 => self.rpc(server, "SendStreamingMessage", &params),
            Self::V03 => self.rpc(server, "message/stream", &params),
        };
        self.events(with_key(request, key)).await
    }

    /// `last` is the last event that was seen.
    pub async fn subscribe(self, server: &TestServer, key: &str, id: &str, last: Option<u32>) -> Events {
        let params = json!({ "id": id });
        let mut request = match self {
            Self::Rest => self.post(server, &format!("/tasks/{id}:subscribe"), &json!({})),
            Self::V1 => self.rpc(server, "SubscribeToTask", &params),
            Self::V03 => self.rpc(server, "tasks/resubscribe", &params),
        };
        if let Some(last) = last {
            request = request.header("last-event-id", last.to_string());
        }
        self.events(with_key(request, key)).await
    }

    pub async fn get(self, server: &TestServer, key: &str, params: Value) -> Answer {
        let request = match self {
            Self::Rest => self.query(server, &format!("/tasks/{}", params["id"].as_str().unwrap()), &params),
            _ => self.rpc(server, if self == Self::V03 { "tasks/get" } else { "GetTask" }, &params),
        };
        self.read(with_key(request, key)).await.decoded::<a2a::Task>()
    }

    pub async fn list(self, server: &TestServer, key: &str, params: Value) -> Answer {
        let request = match self {
            Self::Rest => self.query(server, "/tasks", &params),
            _ => self.rpc(server, if self == Self::V03 { "tasks/list" } else { "ListTasks" }, &params),
        };
        self.read(with_key(request, key)).await.decoded::<a2a::ListTasksResponse>()
    }

    pub async fn cancel(self, server: &TestServer, key: &str, id: &str) -> Answer {
        let params = json!({ "id": id });
        let request = match self {
            Self::Rest => self.post(server, &format!("/tasks/{id}:cancel"), &json!({})),
            _ => self.rpc(server, if self == Self::V03 { "tasks/cancel" } else { "CancelTask" }, &params),
        };
        self.read(with_key(request, key)).await.decoded::<a2a::Task>()
    }

    /// Any JSON-RPC method; over HTTP+JSON there is no such thing.
    pub fn rpc(self, server: &TestServer, method: &str, params: &Value) -> RequestBuilder {
        let body = json!({ "jsonrpc": "2.0", "id": "r-1", "method": method, "params": params });
        let request = server.client.post(format!("{}/_a2a/", server.tenant_url())).json(&body);
        if self == Self::V03 { request } else { request.header("a2a-version", "1.0") }
    }

    fn post(self, server: &TestServer, path: &str, body: &Value) -> RequestBuilder {
        self.request(server, Method::POST, path).json(body)
    }

    /// What the path does not say goes into the query.
    fn query(self, server: &TestServer, path: &str, params: &Value) -> RequestBuilder {
        let pairs = params.as_object().unwrap().iter().filter(|(name, _)| *name != "id");
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut url: reqwest::Url = format!("http://x/{path}").parse().unwrap();
        url.query_pairs_mut().extend_pairs(pairs.map(|(name, value)| (name, text(value))));
        self.request(server, Method::GET, &format!("{path}?{}", url.query().unwrap_or_default()))
    }

    pub fn request(self, server: &TestServer, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}/_a2a/rest{path}", server.tenant_url());
        server.client.request(method, url).header("a2a-version", "1.0")
    }

    pub async fn read(self, request: RequestBuilder) -> Answer {
        let (status, body) = read(request.send().await.unwrap()).await;
        Answer { tongue: self, status, body }
    }

    async fn events(self, request: RequestBuilder) -> Events {
        let response: Response = request.send().await.unwrap();
        Events { tongue: self, stream: Stream::of(response) }
    }
}

fn with_key(request: RequestBuilder, key: &str) -> RequestBuilder {
    if key.is_empty() { request } else { request.bearer_auth(key) }
}

fn earlier_part(part: &Value) -> Value {
    let file = |content: Value| {
        let mut file = content;
        for (name, earlier) in [("filename", "name"), ("mediaType", "mimeType")] {
            if let Some(value) = part.get(name) {
                file[earlier] = value.clone();
            }
        }
        json!({ "kind": "file", "file": file })
    };
    let mut written = match part {
        part if part.get("text").is_some() => json!({ "kind": "text", "text": part["text"] }),
        part if part.get("raw").is_some() => file(json!({ "bytes": part["raw"] })),
        part if part.get("url").is_some() => file(json!({ "uri": part["url"] })),
        part => json!({ "kind": "data", "data": part["data"] }),
    };
    if let Some(metadata) = part.get("metadata") {
        written["metadata"] = metadata.clone();
    }
    written
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub tongue: Tongue,
    pub status: u16,
    pub body: Value,
}

impl Answer {
    /// The result, without its envelope.
    pub fn result(&self) -> &Value {
        let result = if self.tongue == Tongue::Rest { Some(&self.body) } else { self.body.get("result") };
        let result = result.filter(|result| result.get("error").is_none());
        result.unwrap_or_else(|| panic!("a result: {} {}", self.status, self.body))
    }

    /// The task that a message was answered with.
    pub fn task(&self) -> &Value {
        if self.tongue == Tongue::V03 { self.result() } else { &self.result()["task"] }
    }

    pub fn id(&self) -> String {
        self.task()["id"].as_str().unwrap_or_else(|| panic!("a task: {}", self.body)).to_owned()
    }

    /// The state of the task that was answered, in the words of 0.3.
    pub fn state(&self) -> String {
        state_of(self.task())
    }

    /// The code of the error; over HTTP+JSON, the one that its reason stands for.
    pub fn code(&self) -> i64 {
        let error = &self.body["error"];
        if self.tongue != Tongue::Rest {
            return error["code"].as_i64().unwrap_or_else(|| panic!("an error: {}", self.body));
        }
        assert_eq!(error["code"], self.status, "{}", self.body);
        match error["details"][0]["reason"].as_str() {
            Some("TASK_NOT_FOUND") => -32001,
            Some("TASK_NOT_CANCELABLE") => -32002,
            Some("PUSH_NOTIFICATION_NOT_SUPPORTED") => -32003,
            Some("UNSUPPORTED_OPERATION") => -32004,
            Some("CONTENT_TYPE_NOT_SUPPORTED") => -32005,
            Some("VERSION_NOT_SUPPORTED") => -32009,
            Some("UNAUTHENTICATED") => -32052,
            Some("FORBIDDEN") => -32053,
            _ if error["status"] == "INVALID_ARGUMENT" => -32602,
            _ => panic!("an error: {} {}", self.status, self.body),
        }
    }

    /// What 1.0 answers is what the official types read, and write.
    fn decoded<T: DeserializeOwned + Serialize>(self) -> Self {
        if self.tongue != Tongue::V03 && self.status == 200 && self.body.get("error").is_none() {
            decode::<T>(self.result());
        }
        self
    }
}

/// The state in a task or a status, in the words of 0.3.
pub fn state_of(value: &Value) -> String {
    let state = value["status"]["state"].as_str().unwrap_or_else(|| panic!("a status: {value}"));
    state.trim_start_matches("TASK_STATE_").to_lowercase().replace('_', "-")
}

pub fn decode<T: DeserializeOwned + Serialize>(value: &Value) -> T {
    let decoded: T = serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"));
    assert_eq!(without_defaults(&json!(decoded)), without_defaults(value), "nothing is lost or added");
    decoded
}

/// What has its default may be left out, and a time may have more zeros.
fn without_defaults(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().map(|(name, value)| (name.clone(), without_defaults(value)));
            kept.filter(|(_, value)| {
                !matches!(value, Value::Null | Value::Bool(false)) && *value != json!([]) && *value != json!("")
            })
            .collect()
        }
        Value::Array(items) => items.iter().map(without_defaults).collect(),
        Value::String(text) if text.starts_with("20") && text.ends_with('Z') => {
            let time = text.trim_end_matches('Z');
            // Of a fraction only: a whole minute ends with zeros too.
            let short = if time.contains('.') { time.trim_end_matches('0').trim_end_matches('.') } else { time };
            Value::String(short.to_owned())
        }
        other => other.clone(),
    }
}

/// A stream of one of the versions.
pub struct Events {
    tongue: Tongue,
    stream: Stream,
}

impl Events {
    pub fn is_stream(&self) -> bool {
        (self.stream.status, self.stream.content_type.as_str()) == (200, "text/event-stream")
    }

    /// An answer that is no stream.
    pub async fn refused(self) -> Answer {
        assert!(!self.is_stream(), "an answer, not a stream");
        let (tongue, status) = (self.tongue, self.stream.status);
        let text = self.stream.text().await;
        Answer { tongue, status, body: serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")) }
    }

    pub async fn next(&mut self) -> Option<Told> {
        assert!(self.is_stream(), "{} {}", self.stream.status, self.stream.content_type);
        let frame = self.stream.next().await?;
        Some(Told::of(self.tongue, &frame))
    }

    /// Everything to the end.
    pub async fn all(mut self) -> Vec<Told> {
        let mut told = Vec::new();
        while let Some(one) = self.next().await {
            told.push(one);
        }
        told
    }
}

/// One event, in whichever words.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    pub id: u32,
    /// `task`, `status` or `artifact`.
    pub kind: &'static str,
    /// The task or the update.
    pub body: Value,
}

impl Told {
    fn of(tongue: Tongue, frame: &Frame) -> Self {
        assert_eq!(frame.event, None, "{frame:?}");
        let id = frame.id.unwrap();
        let result = if tongue == Tongue::Rest { &frame.data } else { &frame.data["result"] };
        if tongue == Tongue::V03 {
            let kind = match result["kind"].as_str().unwrap() {
                "task" => "task",
                "status-update" => "status",
                "artifact-update" => "artifact",
                other => panic!("{other}"),
            };
            return Self { id, kind, body: result.clone() };
        }
        decode::<a2a::StreamResponse>(result);
        let fields: Vec<(&String, &Value)> = result.as_object().unwrap().iter().collect();
        let [(name, body)] = fields.as_slice() else { panic!("one member: {result}") };
        let kind = match name.as_str() {
            "task" => "task",
            "statusUpdate" => "status",
            "artifactUpdate" => "artifact",
            other => panic!("{other}"),
        };
        Self { id, kind, body: (*body).clone() }
    }

    /// What it says, in a word: a state, or an artifact's text.
    pub fn word(&self) -> String {
        match self.kind {
            "artifact" => {
                let parts = self.body["artifact"]["parts"].as_array().unwrap();
                parts.iter().filter_map(|part| part["text"].as_str()).collect()
            }
            kind => format!("{kind}:{}", state_of(&self.body)),
        }
    }
}
