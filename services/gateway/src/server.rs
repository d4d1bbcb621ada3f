//! The listening server: bounded in what a slow or idle connection can hold, and drained before it stops.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::{probes, site};

/// How long a client may take over its request headers.
const HEADER_PATIENCE: Duration = Duration::from_secs(10);

/// A bound socket that serves an app until it is told to stop.
pub struct Server {
    listener: TcpListener,
    router: Router,
}

impl Server {
    pub async fn bind(address: SocketAddr, app: App) -> std::io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await?, router: site::router(app) })
    }

    /// The second address, with the probes and the metrics only.
    pub async fn bind_probes(address: SocketAddr, app: App) -> std::io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await?, router: probes::router(app) })
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Accepts until `stop`, then lets the connections finish for `drain`. The engine is left running.
    pub async fn serve(self, stop: CancellationToken, drain: Duration) {
        let Self { listener, router } = self;
        let service = TowerToHyperService::new(router);
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
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of file descriptors, mostly: give the running requests time to free some.
                    tracing::warn!(error = &error as &dyn std::error::Error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let connection = builder.serve_connection_with_upgrades(io_of(stream), service.clone());
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
