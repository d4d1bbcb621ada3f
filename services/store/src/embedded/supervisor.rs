//! Keeps the private server up while pleat runs: one connection asks twice a second, a loss brings it back.
//!
//! Must not outlive its token, and must not give up: every wait is bounded, the number of tries is not.

use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::command::reason;
use super::server::Server;

const EVERY: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(10);
/// Between tries of a server that does not come back.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Before one that came back, and was soon lost again, is brought back once more.
const SHORT_PAUSE: Duration = Duration::from_secs(1);
/// Up for this long, the next loss is a new one and is answered at once.
const STEADY: Duration = Duration::from_secs(10);

/// Watches until cancelled, and gives the server back so that it can be stopped.
pub(super) async fn watch(mut server: Server, mut connection: PgConnection, cancel: CancellationToken) -> Server {
    let mut since = Instant::now();
    let mut pause = Duration::ZERO;
    loop {
        tokio::select! {
            () = cancel.cancelled() => return server,
            () = lost(&mut connection) => {}
        }
        if since.elapsed() > STEADY {
            pause = Duration::ZERO;
        }
        tracing::warn!(pause_ms = pause.as_millis() as u64, "the embedded postgres went away; bringing it back");
        loop {
            let brought_back = tokio::select! {
                () = cancel.cancelled() => return server,
                brought_back = bring_back(&mut server, pause) => brought_back,
            };
            let longest = if brought_back.is_some() { SHORT_PAUSE } else { LONGEST_PAUSE };
            pause = (pause * 2).clamp(Duration::from_millis(200), longest);
            if let Some(again) = brought_back {
                connection = again;
                since = Instant::now();
                break;
            }
        }
    }
}

/// Returns when the connection no longer answers.
async fn lost(connection: &mut PgConnection) {
    while let Ok(Ok(())) = timeout(PATIENCE, connection.ping()).await {
        sleep(EVERY).await;
    }
}

async fn bring_back(server: &mut Server, pause: Duration) -> Option<PgConnection> {
    sleep(pause).await;
    match server.ensure().await {
        Ok(connection) => {
            tracing::info!("the embedded postgres answers again");
            Some(connection)
        }
        Err(error) => {
            tracing::error!(error = %reason(&error), "the embedded postgres does not come back; trying again");
            None
        }
    }
}
