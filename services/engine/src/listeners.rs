//! Who listens for what changes: so many of one caller on this node, and of one session, whose streams may be at several
//! nodes, only the newest is told, since a message goes to a client once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use pleat_domain::{Caller, Principal, SessionId, Tenant, TenantId};
use pleat_store::Tell;
use uuid::Uuid;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::hub::lock;

#[derive(Default)]
pub(crate) struct Listeners(Mutex<HashMap<(TenantId, Caller), u32>>);

/// One that listens until it is dropped.
pub struct Listener {
    engine: Engine,
    tenant: Arc<Tenant>,
    caller: (TenantId, Caller),
    stream: Option<SessionStream>,
}

#[derive(Clone, Copy)]
struct SessionStream {
    session: SessionId,
    id: Uuid,
    known: i64,
}

impl Engine {
    pub fn begin_listening(&self, tenant: &Arc<Tenant>, principal: &Principal) -> Result<Listener, EngineError> {
        let caller = (tenant.id, principal.caller());
        let mut all = lock(&self.inner.listeners.0);
        let held = all.entry(caller.clone()).or_default();
        if *held >= self.inner.config.sessions.listeners {
            return Err(EngineError::Busy("streams that one caller listens to"));
        }
        *held += 1;
        Ok(Listener { engine: self.clone(), tenant: Arc::clone(tenant), caller, stream: None })
    }
}

impl Listener {
    /// From now on it is a stream of this session, and the newest. `generation` is that of what is deployed now, `seen` the
    /// one that the client says it knows.
    pub async fn join(&mut self, session: SessionId, generation: i64, seen: Option<i64>) -> Result<(), EngineError> {
        let (store, id) = (self.engine.tenant_store(&self.tenant), Uuid::now_v7());
        let known = store.open_stream(session, id, generation, seen).await?.ok_or(EngineError::SessionNotFound)?;
        self.stream = Some(SessionStream { session, id, known });
        Ok(())
    }

    /// Up to which generation the session's client was told, when this stream was opened.
    pub fn known(&self) -> Option<i64> {
        self.stream.map(|stream| stream.known)
    }

    /// Whether this is the one that tells of something. What it is to tell, nobody else will.
    pub async fn tell(&self, subject: &str, mark: i64) -> Result<Tell, EngineError> {
        let Some(SessionStream { session, id, .. }) = self.stream else { return Ok(Tell::Now) };
        Ok(self.engine.tenant_store(&self.tenant).tell(session, id, subject, mark).await?)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut all = lock(&self.engine.inner.listeners.0);
        if let Some(held) = all.get_mut(&self.caller) {
            *held = held.saturating_sub(1);
            if *held == 0 {
                all.remove(&self.caller);
            }
        }
        drop(all);
        let Some(SessionStream { session, id, .. }) = self.stream else { return };
        let (engine, tenant) = (self.engine.clone(), Arc::clone(&self.tenant));
        self.engine.inner.tracker.spawn(async move {
            if let Err(error) = engine.tenant_store(&tenant).close_stream(session, id).await {
                tracing::debug!(error = &error as &dyn std::error::Error, "a session's stream could not be closed");
            }
            engine.inner.sessions.forget(session);
        });
    }
}
