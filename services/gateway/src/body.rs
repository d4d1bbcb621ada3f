//! Reading request bodies: bounded in size and time, of a type that was asked for.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, Limited};
use tokio::time::Instant;

use crate::bodies::BodiesFull;
use crate::problem::Problem;

/// A body that takes longer is given up: a slow sender must not hold memory for ever.
const PATIENCE: Duration = Duration::from_secs(60);
/// And so is one of which less than this comes in this time.
const LEAST: usize = 16 * 1024;
const WINDOW: Duration = Duration::from_secs(10);

pub(crate) async fn read(body: Body, most: usize) -> Result<Bytes, Problem> {
    let mut body = body;
    if body.size_hint().lower() > most as u64 {
        return Err(too_large(most));
    }
    let mut patience = Patience::begin();
    let (mut first, mut whole) = (Bytes::new(), BytesMut::new());
    while let Some(frame) = patience.wait_for(body.frame()).await? {
        let Ok(data) = frame.map_err(|error| unreadable(&error))?.into_data() else { continue };
        patience.arrived(data.len());
        if first.len() + whole.len() + data.len() > most {
            return Err(too_large(most));
        }
        // Most bodies are one frame, and nothing is copied.
        if first.is_empty() && whole.is_empty() {
            first = data;
            continue;
        }
        if whole.is_empty() {
            let expected = usize::try_from(body.size_hint().lower()).unwrap_or_default();
            whole.reserve(first.len() + data.len() + expected.min(RESERVED));
            whole.extend_from_slice(&std::mem::take(&mut first));
        }
        whole.extend_from_slice(&data);
    }
    Ok(if whole.is_empty() { first } else { whole.freeze() })
}

/// What is announced is taken as true up to here: memory follows the bytes that have come.
const RESERVED: usize = 256 * 1024;

fn too_large(most: usize) -> Problem {
    let text = format!("the body is larger than {most} bytes");
    Problem::plain(StatusCode::PAYLOAD_TOO_LARGE, "too_large", text)
}

fn unreadable(error: &axum::Error) -> Problem {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(full) = error.downcast_ref::<BodiesFull>() {
            return Problem::bodies_full(*full);
        }
        cause = error.source();
    }
    Problem::plain(StatusCode::BAD_REQUEST, "bad_body", "the body could not be read")
}

/// How long a body may take: altogether, and for a least amount of it.
struct Patience {
    end: Instant,
    window_end: Instant,
    arrived: usize,
}

impl Patience {
    fn begin() -> Self {
        let now = Instant::now();
        Self { end: now + PATIENCE, window_end: now + WINDOW, arrived: 0 }
    }

    fn arrived(&mut self, bytes: usize) {
        self.arrived += bytes;
    }

    async fn wait_for<T>(&mut self, next: impl Future<Output = T>) -> Result<T, Problem> {
        let mut next = pin!(next);
        loop {
            if let Ok(next) = tokio::time::timeout_at(self.end.min(self.window_end), next.as_mut()).await {
                return Ok(next);
            }
            if self.arrived < LEAST || self.end <= self.window_end {
                let text = "the body did not arrive in time";
                return Err(Problem::plain(StatusCode::REQUEST_TIMEOUT, "too_slow", text));
            }
            self.window_end += WINDOW;
            self.arrived = 0;
        }
    }
}

/// A refusal is not written before a body this small has had this long to arrive, so that its sender gets its id back.
const SMALL: usize = 4 * 1024;
const SMALL_PATIENCE: Duration = Duration::from_millis(200);

/// The body of a request that is refused, if it is small and there.
pub(crate) async fn read_small(body: Body) -> Option<Bytes> {
    if body.size_hint().exact()? > SMALL as u64 {
        return None;
    }
    let collected = tokio::time::timeout(SMALL_PATIENCE, Limited::new(body, SMALL).collect()).await;
    Some(collected.ok()?.ok()?.to_bytes())
}

/// A JSON body must say that it is one.
pub(crate) async fn read_json(headers: &HeaderMap, body: Body, most: usize) -> Result<Bytes, Problem> {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence != "application/json" && !(essence.starts_with("application/") && essence.ends_with("+json")) {
        return Err(Problem::plain(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            "the body must be JSON and say so",
        )
        .with_hint("add the header `Content-Type: application/json`"));
    }
    read(body, most).await
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::response::IntoResponse;
    use futures::StreamExt;

    use super::*;

    /// One piece every so many seconds, without an end.
    fn dripping(piece: usize, seconds: u64) -> Body {
        let pieces = futures::stream::repeat(Bytes::from(vec![b'x'; piece]));
        Body::from_stream(pieces.then(move |piece| async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            Ok::<_, Infallible>(piece)
        }))
    }

    async fn refused_after(body: Body, most: usize) -> (u16, u64) {
        let began = Instant::now();
        let problem = read(body, most).await.unwrap_err();
        (problem.into_response().status().as_u16(), began.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn slow_body_is_refused_when_too_little_arrives() {
        assert_eq!(refused_after(dripping(1, 1), 1 << 20).await, (408, 10));
        assert_eq!(refused_after(dripping(1, 3_600), 1 << 20).await, (408, 10));
        assert_eq!(refused_after(dripping(4_096, 1), 1 << 20).await, (408, 60), "fast enough, but too long");
    }

    #[tokio::test(start_paused = true)]
    async fn large_body_is_refused_when_it_is_too_large() {
        assert_eq!(refused_after(dripping(4_096, 1), 10_000).await, (413, 3));
        assert_eq!(refused_after(Body::from("x".repeat(100)), 99).await, (413, 0));
    }

    #[tokio::test]
    async fn pieces_are_put_together() {
        let pieces = ["ab", "", "cd", "e"].map(|piece| Ok::<_, Infallible>(Bytes::from(piece)));
        assert_eq!(read(Body::from_stream(futures::stream::iter(pieces)), 5).await.unwrap(), "abcde");
    }
}
