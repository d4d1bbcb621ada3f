//! Server-sent events: `id:` is the task's sequence number, and comments keep idle connections open.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use axum::response::sse::{Event as Frame, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt};
use http::{HeaderMap, HeaderValue};
use pleat_domain::Event;
use pleat_engine::{EngineError, EventStream};

use crate::problem::Problem;

const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Streams that are open in this process.
static OPEN: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn open() -> usize {
    OPEN.load(Relaxed)
}

/// Counts a stream until it ends, however it ends.
struct Open;

impl Open {
    fn new() -> Self {
        OPEN.fetch_add(1, Relaxed);
        Self
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Relaxed);
    }
}

/// A frame that comes before all events: what its reader is to know as of an event.
pub(crate) struct First {
    pub(crate) seq: u32,
    pub(crate) text: String,
}

/// Turns a task's events into frames. `write` gives the text of a frame, or nothing where an event is not for this
/// reader; `fail` gives the text of a last frame when the events cannot be read any further.
pub(crate) fn response(
    first: Option<First>,
    events: EventStream,
    mut write: impl FnMut(&Event) -> Option<String> + Send + 'static,
    mut fail: impl FnMut(Problem) -> String + Send + 'static,
) -> Response {
    let open = Open::new();
    let first = first.map(|first| Ok(Frame::default().id(first.seq.to_string()).data(first.text)));
    let frames = events.filter_map(move |event: Result<Arc<Event>, EngineError>| {
        // Held for as long as the stream is.
        let _ = &open;
        let frame = match event {
            Ok(event) => write(&event).map(|text| Frame::default().id(event.seq.to_string()).data(text)),
            // Not the task's end, and no fault of anybody's: who comes back with `Last-Event-ID` is served elsewhere.
            Err(EngineError::ShuttingDown) => Some(Frame::default().comment("this node stops; resume at another")),
            Err(error) => Some(Frame::default().event("error").data(fail(Problem::from(error)))),
        };
        std::future::ready(frame.map(Ok::<_, Infallible>))
    });
    stream(futures::stream::iter(first).chain(frames))
}

/// Frames that somebody else makes.
pub(crate) fn of_frames(frames: impl Stream<Item = Frame> + Send + 'static) -> Response {
    let open = Open::new();
    stream(frames.map(move |frame| {
        let _ = &open;
        Ok(frame)
    }))
}

/// One frame, and the end.
pub(crate) fn one(text: String) -> Response {
    stream(futures::stream::iter([Ok(Frame::default().data(text))]))
}

fn stream(frames: impl Stream<Item = Result<Frame, Infallible>> + Send + 'static) -> Response {
    kept_alive(frames, KEEP_ALIVE)
}

fn kept_alive(frames: impl Stream<Item = Result<Frame, Infallible>> + Send + 'static, interval: Duration) -> Response {
    let mut response = Sse::new(frames).keep_alive(KeepAlive::new().interval(interval)).into_response();
    // Proxies that buffer would turn a stream into one late answer.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Where a reader wants to go on; not a number is no place.
pub(crate) fn last_event_id(headers: &HeaderMap) -> Result<Option<u32>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let seq = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    seq.map(Some).ok_or_else(|| Problem::invalid("`Last-Event-ID` must be the `id` of an event of this task"))
}

pub(crate) fn wants_stream(headers: &HeaderMap) -> bool {
    quality(headers, "text/event-stream") > 0.0
}

/// How much a kind of answer is wanted, from 0 to 1. What is not named is not wanted: wildcards leave the choice to us.
pub(crate) fn quality(headers: &HeaderMap, kind: &str) -> f32 {
    let values = headers.get_all(http::header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let named = values.flat_map(|value| value.split(',')).filter_map(|part| {
        let mut fields = part.split(';').map(str::trim);
        let matches = fields.next()?.eq_ignore_ascii_case(kind);
        let weight = fields.find_map(|field| field.strip_prefix(['q', 'Q'])?.strip_prefix('=')?.parse::<f32>().ok());
        matches.then_some(weight.unwrap_or(1.0))
    });
    named.fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first frame comes after two comments, however long they take.
    #[tokio::test]
    async fn comments_keep_an_idle_stream_open_and_disturb_nothing() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let late = futures::stream::once(async { receiver.await.unwrap_or_default() });
        let response = kept_alive(late.map(|text: String| Ok(Frame::default().data(text))), Duration::from_millis(5));
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut body = response.into_body().into_data_stream();
        for _ in 0..2 {
            assert_eq!(body.next().await.unwrap().unwrap(), ":\n\n");
        }
        sender.send("done".to_owned()).unwrap();
        let mut rest = Vec::new();
        while let Some(bytes) = body.next().await {
            rest.extend_from_slice(&bytes.unwrap());
        }
        let rest = String::from_utf8(rest).unwrap();
        assert_eq!(rest.trim_start_matches(":\n\n"), "data: done\n\n", "and then it ends");
    }
}
