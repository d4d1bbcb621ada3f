//! Who listens for what changes: so many of one caller on this node, and of one session only the newest is told, since a
//! message goes to a client once.

use std::collections::HashMap;
use std::sync::Mutex;

use pleat_domain::{Caller, Principal, SessionId, Tenant, TenantId};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::hub::lock;

#[derive(Default)]
pub(crate) struct Listeners(Mutex<All>);

#[derive(Default)]
struct All {
    /// Numbers them, in the order in which they came.
    count: u64,
    of_callers: HashMap<(TenantId, Caller), u32>,
    of_sessions: HashMap<SessionId, Vec<u64>>,
}

/// One that listens until it is dropped.
pub struct Listener {
    engine: Engine,
    number: u64,
    caller: (TenantId, Caller),
    session: Option<SessionId>,
}

impl Engine {
    /// `session`: whose stream it is, in the versions that have sessions.
    pub fn begin_listening(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        session: Option<SessionId>,
    ) -> Result<Listener, EngineError> {
        let caller = (tenant.id, principal.caller());
        let mut all = lock(&self.inner.listeners.0);
        let held = all.of_callers.entry(caller.clone()).or_default();
        if *held >= self.inner.config.sessions.listeners {
            return Err(EngineError::Busy("streams that one caller listens to"));
        }
        *held += 1;
        all.count += 1;
        let number = all.count;
        if let Some(session) = session {
            all.of_sessions.entry(session).or_default().push(number);
        }
        Ok(Listener { engine: self.clone(), number, caller, session })
    }
}

impl Listener {
    /// Whether this is the one that is told. The newest is; should it leave, the one before it is again.
    pub fn is_told(&self) -> bool {
        let Some(session) = &self.session else { return true };
        lock(&self.engine.inner.listeners.0).of_sessions.get(session).and_then(|all| all.last()) == Some(&self.number)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut all = lock(&self.engine.inner.listeners.0);
        if let Some(held) = all.of_callers.get_mut(&self.caller) {
            *held = held.saturating_sub(1);
            if *held == 0 {
                all.of_callers.remove(&self.caller);
            }
        }
        let Some(session) = &self.session else { return };
        if let Some(others) = all.of_sessions.get_mut(session) {
            others.retain(|number| *number != self.number);
            if others.is_empty() {
                all.of_sessions.remove(session);
            }
        }
    }
}
