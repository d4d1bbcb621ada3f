//! Large answers are charged to their tenant's memory budget until the client has read them.
//!
//! The task that they come from is no longer charged when it has been recorded, and a client that reads slowly could keep
//! any number of results in memory.

use axum::body::{Body, HttpBody as _};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt;

/// Smaller answers are not worth the count.
const LARGE: u64 = 64 << 10;

/// The answer with its body charged by `hold` for as long as any part of it is in memory. Streams are left as they are.
pub(crate) async fn charged<Charge>(response: Response, hold: impl FnOnce(usize) -> Charge) -> Response
where
    Charge: Send + 'static,
{
    if response.body().size_hint().exact().is_none_or(|size| size < LARGE) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let Ok(body) = body.collect().await else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    let bytes = body.to_bytes();
    let charge = hold(bytes.len());
    Response::from_parts(parts, Body::from(Bytes::from_owner(Charged { bytes, _charge: charge })))
}

struct Charged<Charge> {
    bytes: Bytes,
    _charge: Charge,
}

impl<Charge> AsRef<[u8]> for Charged<Charge> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn large_body_is_charged_until_its_last_part_is_dropped_and_small_ones_are_not() {
        let budget = Arc::new(());
        let hold = |size: usize| {
            assert_eq!(size, 100_000);
            Arc::clone(&budget)
        };
        let response = charged(Response::new(Body::from(vec![7; 100_000])), hold).await;
        assert_eq!(Arc::strong_count(&budget), 2);
        let mut bytes = response.into_body().collect().await.unwrap().to_bytes();
        let rest = bytes.split_off(99_999);
        drop(bytes);
        assert_eq!((Arc::strong_count(&budget), rest.len()), (2, 1));
        drop(rest);
        assert_eq!(Arc::strong_count(&budget), 1);
        let small = charged(Response::new(Body::from("ok")), |_| Arc::clone(&budget)).await;
        assert_eq!((small.status(), Arc::strong_count(&budget)), (StatusCode::OK, 1));
    }
}
