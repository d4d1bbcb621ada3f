//! The listening server: bounded in what connections can hold, and drained before it stops.

mod activity;
mod connection;
mod preface;
mod proxy_protocol;
mod registry;
mod socket;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::activity::Activity;
use self::connection::Shared;
use self::registry::Registry;
use crate::app::App;
use crate::client_address::{ClientAddress, TrustedProxies};
use crate::site::Sites;

/// Nothing is accepted for this long after an error: file descriptors, mostly, that running requests give back.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A bound socket that serves an app until it is told to stop.
pub struct Server {
    listener: TcpListener,
    app: App,
    content: Content,
}

/// What is behind an address.
#[derive(Clone)]
enum Content {
    Sites(Sites),
    Probes(App),
}

impl Server {
    pub async fn bind(address: SocketAddr, app: App) -> std::io::Result<Self> {
        let content = Content::Sites(Sites::new(app.clone()));
        Ok(Self { listener: TcpListener::bind(address).await?, app, content })
    }

    /// The second address, with the probes and the metrics only.
    pub async fn bind_probes(address: SocketAddr, app: App) -> std::io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await?, app: app.clone(), content: Content::Probes(app) })
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Accepts until `stop`, then lets the connections finish for `drain`. The engine is left running.
    pub async fn serve(self, stop: CancellationToken, drain: Duration) {
        let Self { listener, app, content } = self;
        let limits = app.config.connections.clone();
        let accepting = Accepting {
            registry: Registry::new(limits.connections, limits.per_address),
            shared: Arc::new(Shared {
                content,
                trusted: TrustedProxies::new(limits.trusted_proxies.clone()),
                limits,
                stopping: CancellationToken::new(),
            }),
            cut: CancellationToken::new(),
            open: TaskTracker::new(),
        };
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.cancelled() => break,
            };
            match accepted {
                Ok((stream, peer)) => accepting.begin(stream, peer),
                Err(error) => {
                    metrics::counter!("pleat_accept_errors_total").increment(1);
                    tracing::warn!(error = &error as &dyn std::error::Error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drop(listener);
        accepting.shared.stopping.cancel();
        accepting.open.close();
        if tokio::time::timeout(drain, accepting.open.wait()).await.is_err() {
            tracing::info!("closing the connections that are still open");
            accepting.cut.cancel();
        }
    }
}

struct Accepting {
    shared: Arc<Shared>,
    registry: Arc<Registry>,
    open: TaskTracker,
    /// Ends what has not ended by itself.
    cut: CancellationToken,
}

impl Accepting {
    /// A connection beyond the limits is closed at once: an answer would cost more than the limit saves.
    fn begin(&self, stream: TcpStream, peer: SocketAddr) {
        let peer = peer.ip().to_canonical();
        let block = (!self.shared.trusted.contains(peer)).then(|| ClientAddress(peer).block());
        let activity = Activity::new();
        match self.registry.admit(&activity, block) {
            Ok(permit) => {
                let served = connection::serve(Arc::clone(&self.shared), stream, peer, activity, permit);
                let cut = self.cut.clone();
                self.open.spawn(async move { cut.run_until_cancelled(served).await });
            }
            Err(refused) => connection::count_refused(refused),
        }
    }
}
