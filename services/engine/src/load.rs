//! A version's code on this node: compiled here before, or made from the source that its tenant deployed elsewhere.

use std::sync::Arc;

use pleat_domain::TenantId;
use pleat_runtime::{Function, VersionRef};

use crate::engine::Engine;
use crate::error::EngineError;

impl Engine {
    pub(crate) async fn load(&self, tenant: TenantId, version: &VersionRef) -> Result<Arc<Function>, EngineError> {
        let runtime = &self.inner.runtime;
        match runtime.load(version).await {
            Err(error) if error.lacks_source() => {}
            other => return Ok(other?),
        }
        match self.inner.store.tenant(tenant).source(version.hash).await? {
            Some(source) => runtime.keep_source(version.hash, source.into()).await?,
            None => tracing::error!(version = ?version.hash, "the source of a version is nowhere; deploy it again"),
        }
        Ok(runtime.load(version).await?)
    }
}
