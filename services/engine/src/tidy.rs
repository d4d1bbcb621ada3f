//! Files of versions that no tenant has any more, and of deploys that failed: removed from this node after a while. Whatever
//! is needed again is fetched and compiled again.

use std::sync::Weak;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

use crate::engine::{Engine, Inner};
use crate::error::EngineError;
use crate::load::party;

const FIRST: Duration = Duration::from_secs(600);
const PERIOD: Duration = Duration::from_secs(60 * 60);
/// A deploy that is under way has written its files and not yet its version.
const AGE: Duration = Duration::from_secs(24 * 60 * 60);

impl Engine {
    /// Removes files that are older than `age`; gives how many.
    pub async fn tidy(&self, age: Duration) -> Result<usize, EngineError> {
        let known = self.inner.store.known_versions().await?;
        let known = known.into_iter().map(|(tenant, version)| (party(tenant), version)).collect();
        Ok(self.inner.runtime.forget_unknown(known, age).await?)
    }
}

pub(crate) async fn keep_tidy(weak: Weak<Inner>) {
    let mut ticks = tokio::time::interval_at(Instant::now() + FIRST, PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(inner) = weak.upgrade() else { return };
        match (Engine { inner }).tidy(AGE).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "removed files of versions that are no longer there"),
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "old files could not be removed"),
        }
    }
}
