//! A reader of server-sent events that hides nothing: frames as they come, with their ids.

use futures::StreamExt;
use reqwest::Response;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub id: Option<u32>,
    pub event: Option<String>,
    pub data: Value,
}

pub struct Stream {
    pub status: u16,
    pub content_type: String,
    response: futures::stream::BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    buffer: String,
}

impl Stream {
    pub fn of(response: Response) -> Self {
        let content_type = response.headers().get("content-type").and_then(|value| value.to_str().ok());
        Self {
            status: response.status().as_u16(),
            content_type: content_type.unwrap_or_default().to_owned(),
            response: response.bytes_stream().boxed(),
            buffer: String::new(),
        }
    }

    /// The next frame; comments are passed over. `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(end) = self.buffer.find("\n\n") {
                let text: String = self.buffer.drain(..end + 2).collect();
                match frame(&text) {
                    Some(frame) => return Some(frame),
                    None => continue,
                }
            }
            let bytes = self.response.next().await?.expect("the stream is not broken");
            self.buffer.push_str(std::str::from_utf8(&bytes).expect("UTF-8"));
        }
    }

    /// Everything to the end.
    pub async fn all(mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            frames.push(frame);
        }
        frames
    }

    /// What is left, as it is: for answers that turned out to be no stream.
    pub async fn text(mut self) -> String {
        let mut text = std::mem::take(&mut self.buffer);
        while let Some(bytes) = self.response.next().await {
            text.push_str(std::str::from_utf8(&bytes.unwrap()).unwrap());
        }
        text
    }
}

/// The frames of a stream that was read by other means.
pub fn frames(text: &str) -> Vec<Frame> {
    text.split_inclusive("\n\n").filter_map(frame).collect()
}

fn frame(text: &str) -> Option<Frame> {
    let field = |name: &str| -> Option<String> {
        let values: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim_start).collect();
        (!values.is_empty()).then(|| values.join("\n"))
    };
    let data = field("data")?;
    Some(Frame {
        id: field("id").map(|id| id.parse().expect("ids are numbers")),
        event: field("event"),
        data: serde_json::from_str(&data).unwrap_or(Value::String(data)),
    })
}
