//! Reading request bodies: bounded in size and time, of a type that was asked for.

use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::problem::Problem;

/// A body that takes longer is given up: a slow sender must not hold a connection's memory for ever.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) async fn read(body: Body, most: usize) -> Result<Bytes, Problem> {
    let limited = Limited::new(body, most);
    let collected = tokio::time::timeout(PATIENCE, limited.collect())
        .await
        .map_err(|_| Problem::plain(StatusCode::REQUEST_TIMEOUT, "too_slow", "the body did not arrive in time"))?;
    match collected {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Problem::plain(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("the body is larger than {most} bytes"),
        )),
        Err(_) => Err(Problem::plain(StatusCode::BAD_REQUEST, "bad_body", "the body could not be read")),
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
