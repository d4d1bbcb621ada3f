//! The events of a call's stream as they are written: numbered, so that one names the place from which the rest is found,
//! and only what this client wants to hear.

use std::time::Duration;

use axum::response::sse::Event as Frame;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pleat_domain::{Raw, TaskId, json};
use pleat_engine::Said;
use pleat_mcp::{Level, notification};

use super::exchange::Exchange;

/// When a client should come back.
const RETRY: Duration = Duration::from_millis(500);
/// A longer token would make a longer id than headers should carry: its progress ends with its stream.
const MOST_TOKEN_BYTES: usize = 256;
/// More events than a stream has before it ends.
const STREAM: u32 = 1 << 16;

/// Numbers events, and decides what of what is said goes to this client.
pub(super) struct Wire {
    stream: Option<String>,
    count: u32,
    skill: String,
    level: Option<Level>,
    token: Option<Raw>,
    progress: Option<f64>,
}

impl Wire {
    /// `after`: the last event that is known of a stream that was lost. What came after it was numbered too, and nobody
    /// knows how far: the numbers of this one begin beyond all of them.
    pub(super) fn new(exchange: &Exchange, task: TaskId, progress: Option<f64>, after: Option<u32>) -> Self {
        let skill = exchange.listed.as_ref();
        Self {
            stream: (!exchange.is_stateless()).then(|| stream_id(task, &exchange.request.id)),
            count: after.map_or(0, |last| (last / STREAM).saturating_add(1).saturating_mul(STREAM)),
            skill: skill.map(|skill| skill.name.to_string()).unwrap_or_default(),
            level: exchange.level.filter(|_| skill.is_some_and(|skill| exchange.may_hear(skill))),
            token: exchange.progress_token.clone(),
            progress,
        }
    }

    pub(super) fn told(&mut self, said: &Said) -> Option<String> {
        match said {
            Said::Log(line) => {
                let loud = self.level.is_some_and(|least| Level::of(line.level) >= least);
                loud.then(|| notification::log(&self.skill, line))
            }
            Said::Progress(progress) => {
                let token = self.token.as_ref()?;
                // The protocol wants it to go up.
                if self.progress.is_some_and(|last| progress.done <= last) {
                    return None;
                }
                self.progress = Some(progress.done);
                Some(notification::progress(token, progress))
            }
        }
    }

    pub(super) fn frame(&mut self, text: String) -> Frame {
        let frame = Frame::default().event("message").data(text);
        match self.next_id() {
            Some(id) => frame.id(id),
            None => frame,
        }
    }

    /// Nothing but an id, so that a client that loses the stream at once has a place to come back to.
    pub(super) fn prime(&mut self) -> Frame {
        let id = self.next_id().unwrap_or_default();
        Frame::default().id(id).retry(RETRY).data("")
    }

    pub(super) fn farewell(&mut self) -> Frame {
        Frame::default().retry(RETRY).comment("come back for the rest")
    }

    fn next_id(&mut self) -> Option<String> {
        let stream = self.stream.as_ref()?;
        self.count = self.count.saturating_add(1);
        let token = self.token.as_ref().filter(|token| token.get().len() <= MOST_TOKEN_BYTES);
        Some(match token {
            Some(token) => {
                let told = self.progress.map(|progress| format!("{:x}", progress.to_bits())).unwrap_or_default();
                format!("{stream}.{}.{}.{told}", self.count, URL_SAFE_NO_PAD.encode(token.get()))
            }
            None => format!("{stream}.{}", self.count),
        })
    }
}

fn stream_id(task: TaskId, request: &Raw) -> String {
    format!("{task}.{}", URL_SAFE_NO_PAD.encode(request.get()))
}

/// What an event's id says of its stream.
pub(super) struct Mark {
    pub(super) task: TaskId,
    pub(super) request: Raw,
    pub(super) count: u32,
    /// Under which progress is told, and how much of it was.
    pub(super) token: Option<Raw>,
    pub(super) told: Option<f64>,
}

impl Mark {
    /// `None` for one that was never given out.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let (task, request, count) = (parts.next()?, parts.next()?, parts.next()?);
        let count = count.parse().ok()?;
        let token = parts.next().map(|token| scalar(token).ok_or(())).transpose().ok()?;
        let told = parts.next().filter(|told| !told.is_empty());
        let told = told.map(|told| u64::from_str_radix(told, 16).map(f64::from_bits)).transpose().ok()?;
        let mark = Self { task: task.parse().ok()?, request: scalar(request)?, count, token, told };
        Some(mark).filter(|_| parts.next().is_none())
    }
}

/// A text or a number.
fn scalar(encoded: &str) -> Option<Raw> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(encoded).ok()?).ok()?;
    let value = json::checked(text).ok()?;
    Some(value).filter(|value| matches!(value.get().as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9')))
}
