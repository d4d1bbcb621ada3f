//! The body of a request on its way to the handler: its bytes are counted until the answer begins, and what the handler
//! leaves unread is read before the answer goes out.
//!
//! An answer may come before the body was looked at: a version that is not served, a path that does not exist. The
//! connection could not be used again then, and would be closed behind the answer without a word, under the next
//! request of a client that keeps its connections. So a little is read and thrown away; where there is more, the
//! answer says that the connection ends.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONNECTION, EXPECT};
use http::{HeaderValue, Version};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};

use crate::bodies::{Bodies, BodyOwner, Reservation};

/// Bodies of refused requests are mostly small; who sends more is not waited for.
const MOST: usize = 256 * 1024;
const PATIENCE: Duration = Duration::from_secs(1);

/// What the body and the request's end share.
#[derive(Default)]
struct Rest {
    unread: Mutex<Option<Body>>,
    /// Set once it is known whose bytes these are.
    reserved: Mutex<Option<Reservation>>,
}

/// What may be left of a request.
pub(crate) struct Leftover {
    rest: Option<Arc<Rest>>,
    /// Whether its sender waits to be asked for the body. It is not asked for one that nobody wants.
    waits: bool,
}

impl Leftover {
    /// The request, whose body comes back if it is dropped before its end.
    pub(crate) fn of(request: Request) -> (Request, Self) {
        let waits = request.headers().contains_key(EXPECT);
        if request.body().is_end_stream() {
            return (request, Self { rest: None, waits });
        }
        let rest = Arc::<Rest>::default();
        // In HTTP/2 each request has a stream of its own, and nothing is to be done about what is left.
        let over = request.version() >= Version::HTTP_2;
        let request = request.map(|body| Body::new(Kept { body, over, rest: Arc::clone(&rest) }));
        (request, Self { rest: Some(rest), waits })
    }

    /// From here on the bytes of the body count for this owner, until the answer begins.
    pub(crate) fn count(&self, bodies: &Arc<Bodies>, owner: impl FnOnce() -> BodyOwner) {
        if let Some(rest) = &self.rest {
            *lock(&rest.reserved) = Some(Reservation::new(bodies, owner()));
        }
    }

    pub(crate) async fn settled(self, mut response: Response) -> Response {
        let Some(unread) = self.rest.as_ref().and_then(|rest| lock(&rest.unread).take()) else { return response };
        // Boxed, as all that is seldom needed.
        let reading = || Box::pin(tokio::time::timeout(PATIENCE, drained(unread)));
        let read = !self.waits && reading().await.unwrap_or(false);
        if !read {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// Whether all of it could be thrown away. What is known to be too large is not begun.
async fn drained(mut unread: Body) -> bool {
    let mut left = MOST;
    while unread.size_hint().lower() <= left as u64 {
        match unread.frame().await {
            None => return true,
            Some(Ok(frame)) => match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
                Some(less) => left = less,
                None => return false,
            },
            Some(Err(_)) => return false,
        }
    }
    false
}

struct Kept {
    body: Body,
    over: bool,
    rest: Arc<Rest>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HttpBody for Kept {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        self.over |= matches!(polled, Poll::Ready(None | Some(Err(_))));
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(reservation) = &mut *lock(&self.rest.reserved)
        {
            let length = frame.data_ref().map_or(0, Bytes::len);
            if let Err(full) = reservation.grow(length) {
                return Poll::Ready(Some(Err(axum::Error::new(full))));
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if !self.over && !self.body.is_end_stream() {
            let unread = std::mem::replace(&mut self.body, Body::empty());
            *lock(&self.rest.unread) = Some(unread);
        }
    }
}
