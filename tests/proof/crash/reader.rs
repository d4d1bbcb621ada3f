//! A client that follows a task across broken connections and killed nodes, as an honest one would.

use std::time::Duration;

use reqwest::{RequestBuilder, Response};
use serde_json::Value;

use crate::harness::frames;

/// What a stream has shown so far.
#[derive(Default)]
pub struct Followed {
    pub task: Option<String>,
    pub numbers: Vec<u32>,
    pub ended: bool,
}

impl Followed {
    /// Reads until the stream ends or breaks.
    pub async fn read(&mut self, mut response: Response) {
        let mut buffer = Vec::new();
        while let Ok(Some(bytes)) = response.chunk().await {
            buffer.extend_from_slice(&bytes);
            // Whole frames only: a broken connection may cut one in two.
            let Some(end) = buffer.windows(2).rposition(|pair| pair == b"\n\n") else { continue };
            let whole: Vec<u8> = buffer.drain(..end + 2).collect();
            for frame in frames(&String::from_utf8(whole).expect("UTF-8")) {
                self.take(frame.id, &frame.data);
            }
        }
    }

    fn take(&mut self, id: Option<u32>, data: &Value) {
        let Some(id) = id else { return };
        self.numbers.push(id);
        self.task = self.task.take().or_else(|| data["result"]["id"].as_str().map(str::to_owned));
        self.ended |= data["result"]["final"] == true;
    }

    pub fn last(&self) -> u32 {
        self.numbers.last().copied().unwrap_or(0)
    }

    /// Each number once, from the first to the last.
    pub fn fault(&self) -> Option<String> {
        let whole = (1..).zip(&self.numbers).all(|(expected, seen)| expected == *seen);
        (!whole).then(|| format!("{:?}: {:?}", self.task, self.numbers))
    }
}

/// The answer, or nothing when the node is gone or will not have it.
pub async fn answer(request: RequestBuilder) -> Option<Response> {
    let response = tokio::time::timeout(Duration::from_secs(30), request.send()).await.ok()?.ok()?;
    response.status().is_success().then_some(response)
}
