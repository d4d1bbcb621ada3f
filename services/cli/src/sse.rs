//! Server-sent events, read from a response as they come. Knows the framing, not what is inside.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::Result;
use reqwest::Response;

use crate::client::Client;
use crate::problem::Problem;
use crate::wire::Wire;

/// Longer than any call may take: what is silent for so long is dead.
const IDLE: Duration = Duration::from_secs(16 * 60);
/// More than the largest output the platform passes on.
const MOST_BYTES: usize = 256 << 20;

#[derive(Debug, Default)]
pub struct Message {
    pub id: Option<String>,
    pub data: String,
}

pub struct EventStream<'a> {
    client: &'a Client,
    response: Response,
    framing: Framing,
    ready: VecDeque<Message>,
    wire: Option<&'a Wire<'a>>,
}

impl<'a> EventStream<'a> {
    pub fn new(client: &'a Client, response: Response) -> Self {
        Self { client, response, framing: Framing::default(), ready: VecDeque::new(), wire: None }
    }

    /// Shows the bytes as they come, if that is wished for.
    pub const fn shown(mut self, wire: Option<&'a Wire<'a>>) -> Self {
        self.wire = wire;
        self
    }

    /// The next event; `None` when the server has ended the stream.
    pub async fn next(&mut self) -> Result<Option<Message>> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Ok(Some(message));
            }
            let chunk = tokio::time::timeout(IDLE, self.response.chunk()).await;
            let chunk = chunk.map_err(|_| Problem::TimedOut { url: self.client.url() })?;
            match chunk.map_err(|error| self.client.broken(error))? {
                Some(bytes) => {
                    if let Some(wire) = self.wire {
                        wire.answer(&String::from_utf8_lossy(&bytes));
                    }
                    self.ready.extend(self.framing.push(&bytes)?);
                }
                None => return Ok(None),
            }
        }
    }
}

/// Bytes to events. An event that the stream's end cuts off is dropped, as the standard says.
#[derive(Default)]
struct Framing {
    line: Vec<u8>,
    event: Message,
    has_data: bool,
}

impl Framing {
    fn push(&mut self, bytes: &[u8]) -> Result<Vec<Message>, Problem> {
        let mut finished = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.len() + self.event.data.len() > MOST_BYTES {
                return Err(Problem::failed("one event of the stream is too large", "ask for the task instead"));
            }
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                finished.extend(self.end_line(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n'])));
            }
        }
        Ok(finished)
    }

    fn end_line(&mut self, line: &str) -> Option<Message> {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(value);
            }
            "id" => self.event.id = Some(value.to_owned()),
            // A comment keeps the line alive; other fields are not used by the platform.
            _ => {}
        }
        None
    }
}
