//! A receiver of notifications: remembers what it hears and answers what a test has told it to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

const PATIENCE: Duration = Duration::from_secs(60);

/// One request, as it came.
#[derive(Debug, Clone)]
pub struct Heard {
    pub path: String,
    pub headers: HeaderMap,
    pub raw: Bytes,
    pub body: Value,
    pub at: std::time::Instant,
}

impl Heard {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}: {self:?}")).to_str().unwrap()
    }

    /// The state that a task of 0.1 or 0.3 is in.
    pub fn state(&self) -> &str {
        self.body["status"]["state"].as_str().unwrap_or_else(|| panic!("{}", self.body))
    }
}

/// What it answers next; when nothing is left to say, 204.
#[derive(Debug, Clone)]
pub enum Answer {
    Status(u16),
    /// With one header.
    With(u16, &'static str, String),
    /// Never.
    Nothing,
}

pub struct Receiver {
    pub port: u16,
    heard: tokio::sync::Mutex<mpsc::UnboundedReceiver<Heard>>,
    answers: Arc<Mutex<VecDeque<Answer>>>,
}

#[derive(Clone)]
struct Ear {
    heard: mpsc::UnboundedSender<Heard>,
    answers: Arc<Mutex<VecDeque<Answer>>>,
}

impl Receiver {
    pub async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::start_on(TcpListener::bind("127.0.0.1:0").await.unwrap(), answers)
    }

    pub fn start_on(listener: TcpListener, answers: impl IntoIterator<Item = Answer>) -> Self {
        let port = listener.local_addr().unwrap().port();
        let answers = Arc::new(Mutex::new(answers.into_iter().collect()));
        let (sender, heard) = mpsc::unbounded_channel();
        let ear = Ear { heard: sender, answers: Arc::clone(&answers) };
        let router = Router::new().fallback(hear).with_state(ear);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { port, heard: tokio::sync::Mutex::new(heard), answers }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// From now on, this before anything else.
    pub fn answers(&self, next: impl IntoIterator<Item = Answer>) {
        *self.answers.lock().unwrap() = next.into_iter().collect();
    }

    pub async fn next(&self) -> Heard {
        let mut heard = self.heard.lock().await;
        tokio::time::timeout(PATIENCE, heard.recv()).await.expect("a notification in time").expect("a listener")
    }

    pub async fn some(&self, count: usize) -> Vec<Heard> {
        let mut all = Vec::new();
        while all.len() < count {
            all.push(self.next().await);
        }
        all
    }

    /// The states of the next so many.
    pub async fn states(&self, count: usize) -> Vec<String> {
        self.some(count).await.iter().map(|heard| heard.state().to_owned()).collect()
    }

    /// Whether it has heard nothing that was not asked for.
    pub async fn is_quiet(&self) -> bool {
        self.heard.lock().await.try_recv().is_err()
    }
}

async fn hear(State(ear): State<Ear>, uri: Uri, headers: HeaderMap, raw: Bytes) -> Response {
    let body = serde_json::from_slice(&raw).unwrap_or_default();
    let at = std::time::Instant::now();
    let _ = ear.heard.send(Heard { path: uri.to_string(), headers, raw, body, at });
    let answer = ear.answers.lock().unwrap().pop_front();
    let status = |code| StatusCode::from_u16(code).unwrap();
    match answer {
        None => StatusCode::NO_CONTENT.into_response(),
        Some(Answer::Status(code)) => (status(code), "an answer that nobody reads").into_response(),
        Some(Answer::With(code, name, value)) => (status(code), [(name, value)]).into_response(),
        Some(Answer::Nothing) => std::future::pending().await,
    }
}
