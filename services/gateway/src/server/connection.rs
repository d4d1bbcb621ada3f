//! One connection from its first byte to its end.

use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use http::HeaderValue;
use http::header::X_CONTENT_TYPE_OPTIONS;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::Content;
use super::activity::{Activity, InFlight};
use super::preface;
use super::registry::{Permit, Refused};
use super::socket::Socket;
use crate::app::ConnectionLimits;
use crate::client_address::{ClientAddress, TrustedProxies};
use crate::probes;

const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// The headers of one request in HTTP/1, together.
const MAX_HEADERS: usize = 64 * 1024;
/// Bytes buffered for one HTTP/2 stream whose client does not read.
const SEND_BUFFER: usize = 128 * 1024;
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection that was told to end may take for it while no request is served.
const CLOSING: Duration = Duration::from_secs(1);

/// What all connections of a server share.
pub(super) struct Shared {
    pub(super) content: Content,
    pub(super) limits: ConnectionLimits,
    pub(super) trusted: TrustedProxies,
    /// The server stops: connections end after the request they are at.
    pub(super) stopping: CancellationToken,
}

/// Serves the connection to its end. The permit is held as long.
pub(super) async fn serve(
    shared: Arc<Shared>,
    mut stream: TcpStream,
    peer: IpAddr,
    activity: Arc<Activity>,
    mut permit: Permit,
) {
    let limits = &shared.limits;
    let trusted = shared.trusted.contains(peer);
    let reading = preface::read(&mut stream, trusted && limits.proxy_protocol);
    let begun = tokio::select! {
        begun = tokio::time::timeout(limits.header, reading) => begun,
        () = shared.stopping.cancelled() => return,
        () = activity.evicted.notified() => return,
    };
    let preface = match begun {
        Ok(Ok(preface)) => preface,
        Ok(Err(error)) => {
            return tracing::debug!(error = error.to_string(), "connection ended before its first request");
        }
        Err(_) => return closed("first_byte_timeout"),
    };
    let client = preface.client.unwrap_or(peer);
    if preface.client.is_some()
        && !shared.trusted.contains(client)
        && let Err(refused) = permit.count_for(ClientAddress(client).block())
    {
        return count_refused(refused);
    }
    let http2 = preface.http2;
    if http2 {
        activity.set_http2();
    }
    activity.bytes_read();
    let socket = TokioIo::new(Socket::new(stream, preface.bytes, Arc::clone(&activity), limits.write));
    let service = Requests { shared: Arc::clone(&shared), client, activity: Arc::clone(&activity) };
    let ended = if http2 {
        drive(http2_builder().serve_connection(socket, service), &shared, &activity).await
    } else {
        drive(http1_builder(limits).serve_connection(socket, service), &shared, &activity).await
    };
    if let Err(error) = ended {
        tracing::debug!(error = error.to_string(), "connection ended early");
    }
    drop(permit);
}

pub(super) fn count_refused(refused: Refused) {
    metrics::counter!("pleat_connections_refused_total", "limit" => refused.as_str()).increment(1);
}

fn closed(reason: &'static str) {
    metrics::counter!("pleat_connections_closed_total", "reason" => reason).increment(1);
}

/// The headers' own timer is in `Activity`: that of hyper runs between requests too.
fn http1_builder(limits: &ConnectionLimits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.idle.max(limits.header)).max_buf_size(MAX_HEADERS);
    builder
}

fn http2_builder() -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.timer(TokioTimer::new()).max_concurrent_streams(256).max_send_buf_size(SEND_BUFFER);
    builder.keep_alive_interval(PING_INTERVAL).keep_alive_timeout(PING_TIMEOUT);
    builder
}

/// Polls the connection until it ends, is idle for too long, is evicted, or the server stops.
async fn drive(
    connection: impl GracefulConnection<Error = hyper::Error>,
    shared: &Shared,
    activity: &Activity,
) -> Result<(), hyper::Error> {
    let mut connection = pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return ended,
        () = shared.stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            return connection.await;
        }
        () = activity.expired(&shared.limits) => closed("idle"),
        () = activity.evicted.notified() => {}
    }
    connection.as_mut().graceful_shutdown();
    loop {
        if let Ok(ended) = tokio::time::timeout(CLOSING, connection.as_mut()).await {
            return ended;
        }
        // A request may have come in at the last moment.
        if activity.idle().is_some() {
            return Ok(());
        }
    }
}

/// Serves the requests of one connection and marks each with the client's address.
struct Requests {
    shared: Arc<Shared>,
    client: IpAddr,
    activity: Arc<Activity>,
}

impl Service<hyper::Request<Incoming>> for Requests {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        let in_flight = self.activity.request();
        let client = self.shared.trusted.client(self.client, request.headers());
        let (content, http2) = (self.shared.content.clone(), self.activity.is_http2());
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(client);
        Box::pin(async move {
            let mut response = match content {
                Content::Sites(sites) => sites.serve(request).await,
                Content::Probes(app) => probes::serve(app, request).await,
            };
            // Here, behind everything that answers: nothing is ever taken for another type than it says.
            response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
            // In HTTP/1, a body that is there already is written at once, and writes count as activity.
            let streams = http2 || response.body().size_hint().exact().is_none();
            if streams {
                return Ok(response.map(|body| Body::new(Answer { body, _in_flight: in_flight })));
            }
            Ok(response)
        })
    }
}

/// The body of an answer whose request is in flight until it ends.
struct Answer {
    body: Body,
    _in_flight: InFlight,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
