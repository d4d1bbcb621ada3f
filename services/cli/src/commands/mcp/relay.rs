//! One message over HTTP and its answers back: in one piece, or over a stream, which is found again where it breaks.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use anyhow::Result;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use super::line::{Line, Said};
use super::questions::Questions;
use super::{again, wire};
use crate::client::Client;
use crate::sse::EventStream;

/// Versions in which several messages may come at once.
const WITH_BATCHES: [&str; 2] = ["2024-11-05", "2025-03-26"];
/// For a server that ends a call by itself.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// For what is said in leaving.
const FAREWELL: Duration = Duration::from_secs(5);

pub struct Relay {
    pub(super) client: Client,
    url: Url,
    out: mpsc::Sender<String>,
    state: RefCell<State>,
    listening: CancellationToken,
    /// Held by who opens a session in place of one that is gone.
    pub(super) beginning: Mutex<()>,
    /// Held by who asks for the list of tools.
    pub(super) learning: Mutex<()>,
    questions: RefCell<Questions>,
}

#[derive(Default)]
struct State {
    session: Option<String>,
    /// The client's own `initialize`.
    handshake: Option<String>,
    version: Option<String>,
    /// Requests that can be given up, by id.
    running: HashMap<String, CancellationToken>,
    headers: wire::Wanted,
}

impl Relay {
    pub fn new(client: Client, url: Url, out: mpsc::Sender<String>) -> Self {
        let (state, questions, listening) = (RefCell::default(), RefCell::default(), CancellationToken::new());
        let (beginning, learning) = (Mutex::default(), Mutex::default());
        Self { client, url, out, state, listening, beginning, learning, questions }
    }

    /// A line has come, and will be passed on.
    pub fn hear(&self, line: &Line) {
        let mut questions = self.questions.borrow_mut();
        line.answers().into_iter().for_each(|question| questions.answered(question));
    }

    /// Sends a message and writes what comes back.
    pub async fn pass(&self, line: Line) {
        let message = match line.said {
            Said::One(message) => message,
            Said::Several(all) => return self.pass_several(line.text, &all).await,
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
        let ended = token.run_until_cancelled(self.exchange(line.text, &message, &method)).await;
        if let Some(id) = id {
            self.state.borrow_mut().running.remove(&id.to_string());
            let unanswered = self.questions.borrow_mut().forget(&id.to_string());
            if unanswered && ended.is_none() {
                self.abandon(&id).await;
            }
        }
    }

    /// Several at once are answered at once.
    async fn pass_several(&self, text: String, all: &[Value]) {
        let of_kind = |asks: bool| all.iter().filter(move |one| one.get("method").is_some() == asks);
        let known = self.state.borrow().version.as_deref().is_some_and(|version| WITH_BATCHES.contains(&version));
        let taken = if known {
            let sent = self.send(text, &Value::Null).await;
            self.answered_at_once(sent, of_kind(true).filter_map(|one| one.get("id"))).await
        } else {
            let message = "this version of the protocol has no batches: send the messages one by one";
            self.refuse(&Value::Null, -32600, message).await;
            false
        };
        for question in of_kind(false).filter_map(|one| one.get("id")) {
            self.judged(question, taken).await;
        }
    }

    /// `false`: the server took none of it.
    async fn answered_at_once(&self, sent: Result<Response>, requests: impl Iterator<Item = &Value>) -> bool {
        let failed = match sent {
            Ok(response) => {
                let status = response.status();
                let answer = serde_json::from_str::<Value>(&response.text().await.unwrap_or_default());
                match answer {
                    Ok(answer) if answer.is_array() || answer.get("jsonrpc").is_some() => {
                        self.say(answer.to_string()).await;
                        return status.is_success();
                    }
                    _ if status.is_success() => return true,
                    _ => format!("the server answered {status}"),
                }
            }
            Err(error) => error.to_string(),
        };
        for id in requests {
            self.refuse(id, -32603, &failed).await;
        }
        false
    }

    /// A call that asked, and whose client has gone. In a session the server is told, or its task would wait for ever.
    async fn abandon(&self, id: &Value) {
        self.refuse(id, -32603, "stdin ended before the question was answered").await;
        let leave = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        let _ = self.client.send(self.message(leave.to_string(), &leave).timeout(FAREWELL)).await;
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
        if method.is_empty() {
            return self.answer(line, message).await;
        }
        let id = message.get("id").cloned().unwrap_or_default();
        if method == "initialize" {
            self.state.borrow_mut().handshake = Some(line.clone());
        }
        self.learn(message, false).await;
        let mut sent = self.send(line.clone(), message).await;
        if let Ok(response) = sent {
            if response.status() != StatusCode::BAD_REQUEST || wire::tool(message).is_none() {
                return self.answered(response, &id, method).await;
            }
            let (status, refusal) = (response.status(), response.text().await.unwrap_or_default());
            let before = self.headers(message);
            if wire::is_mismatch(&refusal) {
                // The tool may have changed since.
                self.learn(message, true).await;
            }
            if self.headers(message) == before {
                return self.whole(status, &refusal, &id, method).await;
            }
            sent = self.send(line, message).await;
        }
        match sent {
            Ok(response) => self.answered(response, &id, method).await,
            Err(error) if !id.is_null() => self.refuse(&id, -32603, &error.to_string()).await,
            Err(_) => {}
        }
    }

    /// The client's answer to a question, to which nothing is said.
    async fn answer(&self, line: String, message: &Value) {
        let sent = self.send(line, message).await;
        let taken = sent.is_ok_and(|response| response.status().is_success());
        self.judged(message.get("id").unwrap_or(&Value::Null), taken).await;
    }

    async fn judged(&self, question: &Value, taken: bool) {
        let in_vain = self.questions.borrow_mut().judged(question, taken);
        if in_vain.is_some() {
            // What was wrong with the answer may be said on the stream of the call.
            tokio::time::sleep(LAST_WORDS).await;
            self.stop(in_vain);
        }
    }

    /// In another session, if the one that there was is gone.
    async fn send(&self, line: String, message: &Value) -> Result<Response> {
        let session = self.session();
        let sent = self.client.send(self.message(line.clone(), message)).await;
        let gone = sent.as_ref().is_ok_and(|response| response.status() == StatusCode::NOT_FOUND);
        if gone && session.is_some() && self.begin_again(session).await {
            return self.client.send(self.message(line, message)).await;
        }
        sent
    }

    /// A message on its way, with the headers that repeat what it says.
    pub(super) fn message(&self, line: String, message: &Value) -> RequestBuilder {
        let request = self.request(Method::POST).header(CONTENT_TYPE, "application/json").body(line);
        self.headers(message).into_iter().fold(request, |request, (name, value)| request.header(name, value))
    }

    fn headers(&self, message: &Value) -> Vec<(HeaderName, HeaderValue)> {
        wire::headers(message, &self.state.borrow().headers)
    }

    async fn answered(&self, response: Response, id: &Value, method: &str) {
        if let Some(session) = response.headers().get("mcp-session-id").and_then(|value| value.to_str().ok()) {
            self.state.borrow_mut().session = Some(session.to_owned());
        }
        let status = response.status();
        if is_stream(&response) {
            return self.follow(response, id).await;
        }
        self.whole(status, &response.text().await.unwrap_or_default(), id, method).await;
    }

    /// An answer in one piece.
    async fn whole(&self, status: StatusCode, body: &str, id: &Value, method: &str) {
        match serde_json::from_str::<Value>(body) {
            // Nobody waits for an answer to what was no request.
            Ok(_) if id.is_null() => {}
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
                self.note_question(&message, id);
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

    fn note_question(&self, message: &Value, call: &Value) {
        let Some(question) = message.get("id").filter(|_| message.get("method").is_some()) else { return };
        let call = call.to_string();
        if !self.questions.borrow_mut().asked(question, &call) {
            self.stop([call]);
        }
    }

    /// The client has gone: nothing is told to it, and it answers nothing.
    pub fn stop_listening(&self) {
        self.listening.cancel();
        let in_vain = self.questions.borrow_mut().end();
        self.stop(in_vain);
    }

    fn stop(&self, calls: impl IntoIterator<Item = String>) {
        let state = self.state.borrow();
        calls.into_iter().filter_map(|call| state.running.get(&call)).for_each(CancellationToken::cancel);
    }

    /// Ends the session, if there is one.
    pub async fn end(&self) {
        if self.state.borrow().session.is_some() {
            let _ = self.client.send(self.request(Method::DELETE).timeout(FAREWELL)).await;
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
    pub(super) fn note(&self, answer: &Value, method: &str) {
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

    pub(super) fn knows(&self, tool: &str) -> bool {
        self.state.borrow().headers.contains_key(tool)
    }

    pub(super) fn note_tool(&self, tool: &str) {
        self.state.borrow_mut().headers.entry(tool.to_owned()).or_default();
    }

    pub async fn refuse(&self, id: &Value, code: i32, message: &str) {
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
