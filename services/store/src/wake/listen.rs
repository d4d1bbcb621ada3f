//! The listening connection. After every gap whoever listens is told to look, since notices of that time are gone.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio_util::sync::CancellationToken;

use crate::error::StoreError;
use crate::wake::line::{self, Heard};
use crate::wake::{Bell, CHANNEL, Wake};

const RECONNECT: Duration = Duration::from_millis(500);
const CONNECT: Duration = Duration::from_secs(10);

pub(super) async fn run(bell: Arc<Bell>, options: PgConnectOptions, stop: CancellationToken) {
    loop {
        let Some(outcome) = stop.run_until_cancelled(listen(&bell, &options)).await else { return };
        if let Err(error) = outcome {
            tracing::debug!(error = &error as &dyn std::error::Error, "this node does not hear the others");
        }
        if stop.run_until_cancelled(tokio::time::sleep(RECONNECT)).await.is_none() {
            return;
        }
    }
}

/// Until the connection is lost.
async fn listen(bell: &Bell, options: &PgConnectOptions) -> Result<(), StoreError> {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(CONNECT)
        .max_lifetime(None)
        .idle_timeout(None)
        .connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    // Nobody listens to the engine yet, or nobody does: then there is nobody to tell.
    let _ = bell.heard.send(Wake::Look);
    bell.greet();
    while let Some(notice) = listener.try_recv().await? {
        match line::read(bell.lease.node(), notice.payload()) {
            Some(Heard::Hello) => bell.lease.greeted(),
            Some(Heard::Wake(wake)) => drop(bell.heard.send(wake)),
            None => {}
        }
    }
    Ok(())
}
