//! A version's code on this node: compiled here before, or made from the source that its tenant deployed elsewhere.

use std::sync::Arc;

use pleat_domain::TenantId;
use pleat_runtime::{Function, Party, VersionRef};

use crate::engine::Engine;
use crate::error::EngineError;

/// Tenants take turns at what the runtime has little of.
pub(crate) const fn party(tenant: TenantId) -> Party {
    Party(tenant.as_uuid().as_u128())
}

impl Engine {
    pub(crate) async fn load(&self, tenant: TenantId, version: &VersionRef) -> Result<Arc<Function>, EngineError> {
        let runtime = &self.inner.runtime;
        match runtime.load(version, party(tenant)).await {
            Err(error) if error.lacks_source() => {}
            other => return Ok(other?),
        }
        Box::pin(self.fetch_source(tenant, version)).await?;
        Ok(Box::pin(runtime.load(version, party(tenant))).await?)
    }

    /// Compiled without being loaded, when nothing else is to be compiled. `false`: it was there.
    pub(crate) async fn renew(&self, tenant: TenantId, version: &VersionRef) -> Result<bool, EngineError> {
        let runtime = &self.inner.runtime;
        match runtime.renew(version, party(tenant)).await {
            Err(error) if error.lacks_source() => {}
            other => return Ok(other?),
        }
        self.fetch_source(tenant, version).await?;
        Ok(runtime.renew(version, party(tenant)).await?)
    }

    async fn fetch_source(&self, tenant: TenantId, version: &VersionRef) -> Result<(), EngineError> {
        match self.inner.store.tenant(tenant).source(version.hash).await? {
            Some(source) => self.inner.runtime.keep_source(version.hash, source.into()).await?,
            None => tracing::error!(version = ?version.hash, "the source of a version is nowhere; deploy it again"),
        }
        Ok(())
    }
}
