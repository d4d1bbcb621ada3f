//! One message over HTTP and its answers back: in one piece, or over a stream, which is found again where it breaks.

use std::cell::RefCell;
use std::collections::HashMap;

use anyhow::Result;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use super::{again, wire};
use crate::client::Client;
use crate::sse::EventStream;

pub struct Relay {
    pub(super) client: Client,
    url: Url,
    out: mpsc::Sender<String>,
    state: RefCell<State>,
    listening: CancellationToken,
    /// Held by who opens a session in place of one that is gone.
    pub(super) beginning: Mutex<()>,
}

pub enum Handshake {
    Begun,
    Done,
}

#[derive(Default)]
struct State {
    session: Option<String>,
    /// The client's own `initialize`.
    handshake: Option<String>,
    version: Option<String>,
    /// Requests that can be given up, by id.
    running: HashMap<String, CancellationToken>,
    /// Which arguments of which tool go into headers.
    headers: HashMap<String, Vec<(String, String)>>,
}

impl Relay {
    pub fn new(client: Client, url: Url, out: mpsc::Sender<String>) -> Self {
        let (state, listening, beginning) = (RefCell::default(), CancellationToken::new(), Mutex::default());
        Self { client, url, out, state, listening, beginning }
    }

    /// What has to be there before anything else is sent.
    pub fn part_of_handshake(line: &str) -> Option<Handshake> {
        let message: Value = serde_json::from_str(line).ok()?;
        match message.get("method")?.as_str()? {
            "initialize" => Some(Handshake::Begun),
            "notifications/initialized" => Some(Handshake::Done),
            _ => None,
        }
    }

    /// Sends a message and writes what comes back.
    pub async fn pass(&self, line: String) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            return self.refuse(&Value::Null, -32700, "the line is no JSON").await;
        };
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        if method == "notifications/cancelled" && self.give_up(&message) {
            return;
        }
        // What is only listened to ends when the client does.
        let token =
            if method == "subscriptions/listen" { self.listening.child_token() } else { CancellationToken::new() };
        let id = message.get("id").filter(|_| !method.is_empty()).cloned();
        if let Some(id) = &id {
            self.state.borrow_mut().running.insert(id.to_string(), token.clone());
        }
        let _ = token.run_until_cancelled(self.exchange(line, &message, &method)).await;
        if let Some(id) = id {
            self.state.borrow_mut().running.remove(&id.to_string());
        }
    }

    /// Without a session, leaving is cancelling; with one, the server is told.
    fn give_up(&self, message: &Value) -> bool {
        let state = self.state.borrow();
        let id = message.pointer("/params/requestId").map(ToString::to_string).unwrap_or_default();
        match (state.session.is_none(), state.running.get(&id)) {
            (true, Some(token)) => {
                token.cancel();
                true
            }
            (without_session, _) => without_session,
        }
    }

    async fn exchange(&self, line: String, message: &Value, method: &str) {
        let id = message.get("id").cloned().unwrap_or_default();
        if method == "initialize" {
            self.state.borrow_mut().handshake = Some(line.clone());
        }
        let session = self.session();
        let mut sent = self.post(line.clone(), message).await;
        let gone = sent.as_ref().is_ok_and(|response| response.status() == StatusCode::NOT_FOUND);
        if gone && session.is_some() && self.begin_again(session).await {
            sent = self.post(line, message).await;
        }
        match sent {
            Ok(response) => self.answered(response, &id, method).await,
            Err(error) if !id.is_null() => self.refuse(&id, -32603, &error.to_string()).await,
            Err(_) => {}
        }
    }

    async fn post(&self, line: String, message: &Value) -> Result<Response> {
        let request = self.request(Method::POST).header(CONTENT_TYPE, "application/json").body(line);
        let request = wire::headers(message, &self.state.borrow().headers)
            .into_iter()
            .fold(request, |request, (name, value)| request.header(name, value));
        self.client.send(request).await
    }

    async fn answered(&self, response: Response, id: &Value, method: &str) {
        if let Some(session) = response.headers().get("mcp-session-id").and_then(|value| value.to_str().ok()) {
            self.state.borrow_mut().session = Some(session.to_owned());
        }
        let status = response.status();
        if is_stream(&response) {
            return self.follow(response, id).await;
        }
        let body = response.text().await.unwrap_or_default();
        match serde_json::from_str::<Value>(&body) {
            // Nobody waits for an answer to what was no request.
            Ok(_) if method.is_empty() || id.is_null() => {}
            Ok(answer) => {
                self.note(&answer, method);
                // Written as one line, whatever the server's spacing.
                self.say(again::addressed(answer, id, status).to_string()).await;
            }
            Err(_) if status.is_success() => {}
            Err(_) if id.is_null() => {}
            Err(_) => self.refuse(id, -32603, &format!("the server answered {status}")).await,
        }
    }

    /// A stream to its end. In a session, one that breaks off before the answer is found again.
    async fn follow(&self, response: Response, id: &Value) {
        let mut response = response;
        let mut last = None;
        loop {
            let mut events = EventStream::new(&self.client, response);
            while let Ok(Some(event)) = events.next().await {
                last = event.id.or(last);
                let Ok(message) = serde_json::from_str::<Value>(&event.data) else { continue };
                let done = message.get("method").is_none() && message.get("id") == Some(id);
                self.say(message.to_string()).await;
                if done {
                    return;
                }
            }
            let in_session = self.state.borrow().session.is_some();
            let Some(from) = last.as_ref().filter(|_| in_session) else {
                return self.refuse(id, -32603, "the server ended the stream without an answer").await;
            };
            response = match self.find(Some(from), again::FOR_AN_ANSWER).await {
                Some(response) => response,
                None => return self.refuse(id, -32603, "the rest of the stream cannot be had").await,
            };
        }
    }

    /// What changes, for as long as the session lives.
    pub async fn listen(&self) {
        if self.state.borrow().session.is_none() {
            return;
        }
        let all = async {
            let mut last: Option<String> = None;
            let mut found = match self.stream(None).await {
                Some(Err(())) => self.find(None, u32::MAX).await,
                first => first.and_then(Result::ok),
            };
            while let Some(response) = found {
                let mut events = EventStream::new(&self.client, response);
                while let Ok(Some(event)) = events.next().await {
                    last = event.id.or(last);
                    if let Ok(message) = serde_json::from_str::<Value>(&event.data) {
                        self.say(message.to_string()).await;
                    }
                }
                found = self.find(last.as_deref(), u32::MAX).await;
            }
        };
        let _ = self.listening.run_until_cancelled(all).await;
    }

    pub fn stop_listening(&self) {
        self.listening.cancel();
    }

    /// Ends the session, if there is one.
    pub async fn end(&self) {
        if self.state.borrow().session.is_some() {
            let _ = self.client.send(self.request(Method::DELETE)).await;
        }
    }

    pub(super) fn session(&self) -> Option<String> {
        self.state.borrow().session.clone()
    }

    pub(super) fn set_session(&self, session: String) {
        self.state.borrow_mut().session = Some(session);
    }

    pub(super) fn handshake(&self) -> Option<String> {
        self.state.borrow().handshake.clone()
    }

    pub(super) fn request(&self, method: Method) -> RequestBuilder {
        let state = self.state.borrow();
        let request = self.client.request(method, self.url.clone());
        let mut request = request.header(ACCEPT, "application/json, text/event-stream");
        if let Some(session) = &state.session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(version) = &state.version {
            request = request.header("mcp-protocol-version", version);
        }
        request
    }

    /// What later requests need of this answer.
    fn note(&self, answer: &Value, method: &str) {
        let mut state = self.state.borrow_mut();
        match method {
            "initialize" => {
                let version = answer.pointer("/result/protocolVersion").and_then(Value::as_str);
                state.version = version.map(str::to_owned);
            }
            "tools/list" => state.headers.extend(wire::header_arguments(answer)),
            _ => {}
        }
    }

    async fn refuse(&self, id: &Value, code: i32, message: &str) {
        let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
        self.say(error.to_string()).await;
    }

    async fn say(&self, line: String) {
        let _ = self.out.send(line).await;
    }
}

pub(super) fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    response.status().is_success() && kind.starts_with("text/event-stream")
}
