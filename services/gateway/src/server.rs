//! The listening server: bounded in what a slow or idle connection can hold, and drained before it stops.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http::HeaderValue;
use http::header::X_CONTENT_TYPE_OPTIONS;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::client_address::ClientAddress;
use crate::probes;
use crate::site::Sites;

/// How long a client may take over its request headers.
const HEADER_PATIENCE: Duration = Duration::from_secs(10);

const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// A bound socket that serves an app until it is told to stop.
pub struct Server {
    listener: TcpListener,
    content: Content,
}

/// What is behind an address.
#[derive(Clone)]
enum Content {
    Sites(Sites),
    Probes(App),
}

/// One accepted connection: serves its requests and marks each with the client's address.
struct Connection {
    content: Content,
    client: ClientAddress,
}

impl Service<hyper::Request<Incoming>> for Connection {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        let (content, mut request) = (self.content.clone(), request.map(Body::new));
        request.extensions_mut().insert(self.client);
        Box::pin(async move {
            let mut response = match content {
                Content::Sites(sites) => sites.serve(request).await,
                Content::Probes(app) => probes::serve(app, request).await,
            };
            // Here, behind everything that answers: nothing is ever taken for another type than it says.
            response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
            Ok(response)
        })
    }
}

impl Server {
    pub async fn bind(address: SocketAddr, app: App) -> std::io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await?, content: Content::Sites(Sites::new(app)) })
    }

    /// The second address, with the probes and the metrics only.
    pub async fn bind_probes(address: SocketAddr, app: App) -> std::io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await?, content: Content::Probes(app) })
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Accepts until `stop`, then lets the connections finish for `drain`. The engine is left running.
    pub async fn serve(self, stop: CancellationToken, drain: Duration) {
        let Self { listener, content } = self;
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_PATIENCE);
        builder.http2().timer(TokioTimer::new()).max_concurrent_streams(256);
        let graceful = GracefulShutdown::new();
        let cut = CancellationToken::new();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.cancelled() => break,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file descriptors, mostly: give the running requests time to free some.
                    tracing::warn!(error = &error as &dyn std::error::Error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let service = Connection { content: content.clone(), client: ClientAddress(peer.ip()) };
            let connection = builder.serve_connection_with_upgrades(io_of(stream), service);
            let connection = graceful.watch(connection.into_owned());
            let cut = cut.clone();
            tokio::spawn(async move {
                if let Some(Err(error)) = cut.run_until_cancelled(connection).await {
                    tracing::debug!(error = error.to_string(), "a connection ended early");
                }
            });
        }
        drop(listener);
        if tokio::time::timeout(drain, graceful.shutdown()).await.is_err() {
            tracing::info!("closing the connections that are still open");
            cut.cancel();
        }
    }
}

fn io_of(stream: TcpStream) -> TokioIo<TcpStream> {
    // Answers are small and whole: waiting to fill a packet only delays them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(error = error.to_string(), "the socket keeps its delay");
    }
    TokioIo::new(stream)
}
