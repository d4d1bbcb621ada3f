//! After an upgrade the engine cannot load what the one before compiled. Every version is then compiled again from its
//! source: on demand first, when it is called, and the rest here, one at a time, while there is nothing else to compile.
//!
//! What the old engine compiled stays beside it for a while, so that the way back is as quick.

use std::time::Duration;

use pleat_domain::TenantId;
use pleat_runtime::VersionRef;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::load::party;

impl Engine {
    /// Begins in the background, and ends when all is there or the node stops.
    pub fn renew_code(&self, keep_old: Duration) {
        let engine = self.clone();
        self.inner.tracker.spawn(async move {
            let stopping = engine.inner.stopping.clone();
            let renewed = stopping.run_until_cancelled(engine.renew_all(keep_old)).await;
            if let Some(Err(error)) = renewed {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "code was not compiled again in the background; it is when it is called"
                );
            }
        });
    }

    async fn renew_all(&self, keep_old: Duration) -> Result<(), EngineError> {
        let runtime = &self.inner.runtime;
        match runtime.forget_old_code(keep_old).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "removed code that other engines compiled long ago"),
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "old code could not be removed"),
        }
        let missing = self.without_code().await?;
        let total = missing.len();
        if total == 0 {
            return Ok(());
        }
        tracing::info!(versions = total, "compiling versions again for this engine, in the background");
        let mut failed = 0_u32;
        for (done, (tenant, version)) in missing.iter().enumerate() {
            if !runtime.has_room_for_code() {
                tracing::info!(
                    left = total - done,
                    "the rest is compiled when it is called: compiled code has no room"
                );
                break;
            }
            metrics::gauge!("pleat_recompile_pending").set((total - done) as f64);
            let result = match self.renew(*tenant, version).await {
                // A call came first.
                Ok(false) => continue,
                Ok(true) => "ok",
                Err(error) => {
                    failed += 1;
                    tracing::warn!(version = ?version.hash, error = &error as &dyn std::error::Error, "a version cannot be compiled again");
                    "error"
                }
            };
            metrics::counter!("pleat_recompiled_total", "result" => result).increment(1);
        }
        metrics::gauge!("pleat_recompile_pending").set(0.0);
        tracing::info!(versions = total, failed, "versions were compiled again for this engine");
        Ok(())
    }

    /// The active versions of all tenants that this engine has no code for.
    async fn without_code(&self) -> Result<Vec<(TenantId, VersionRef)>, EngineError> {
        let mut missing = Vec::new();
        for tenant in self.inner.store.list_tenants().await? {
            for row in self.tenant_store(&tenant).catalog().await?.functions {
                // A language that is no longer known is reported when the function is called.
                let Ok(language) = row.language.parse() else { continue };
                let version = VersionRef { hash: row.hash, language, file_name: row.file_name };
                if !self.inner.runtime.has_code(&version, party(tenant.id)) {
                    missing.push((tenant.id, version));
                }
            }
        }
        Ok(missing)
    }
}
