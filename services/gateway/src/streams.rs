//! Open event streams over A2A and plain HTTP: how many a caller, a tenant and this node may have. Streams of MCP have limits of
//! their own, with their sessions.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pleat_domain::{Caller, Principal, Tenant, TenantId};

use crate::app::App;
use crate::problem::Problem;

#[derive(Debug, Clone, Copy)]
pub struct StreamLimits {
    pub node: usize,
    pub per_caller: usize,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self { node: 8_192, per_caller: 1_000 }
    }
}

/// Which limit was reached, and where it is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamsFull {
    Node,
    Tenant,
    Caller,
}

impl StreamsFull {
    pub(crate) const fn limit(self) -> &'static str {
        match self {
            Self::Node => "limits.streams",
            Self::Tenant => "streams",
            Self::Caller => "limits.streams_per_caller",
        }
    }
}

pub(crate) struct Streams {
    limits: StreamLimits,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: usize,
    tenants: HashMap<TenantId, HashMap<Caller, usize>>,
}

impl Streams {
    pub(crate) fn new(limits: StreamLimits) -> Self {
        Self { limits, state: Mutex::default() }
    }

    /// `most`: of the tenant.
    fn open(&self, tenant: TenantId, caller: &Caller, most: usize) -> Result<(), (StreamsFull, usize)> {
        let StreamLimits { node, per_caller } = self.limits;
        let mut state = self.state();
        let callers = state.tenants.get(&tenant);
        let of_caller = callers.and_then(|callers| callers.get(caller)).copied().unwrap_or_default();
        let of_tenant = callers.map_or(0, |callers| callers.values().sum::<usize>());
        let limits = [
            (of_caller, per_caller, StreamsFull::Caller),
            (of_tenant, most, StreamsFull::Tenant),
            (state.open, node, StreamsFull::Node),
        ];
        if let Some((_, most, full)) = limits.into_iter().find(|(open, most, _)| open >= most) {
            return Err((full, most));
        }
        state.open += 1;
        *state.tenants.entry(tenant).or_default().entry(caller.clone()).or_default() += 1;
        Ok(())
    }

    fn close(&self, tenant: TenantId, caller: &Caller) {
        let mut state = self.state();
        state.open = state.open.saturating_sub(1);
        let Some(callers) = state.tenants.get_mut(&tenant) else { return };
        if let Some(open) = callers.get_mut(caller) {
            *open = open.saturating_sub(1);
        }
        callers.retain(|_, open| *open > 0);
        if callers.is_empty() {
            state.tenants.remove(&tenant);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One stream that is open until this is dropped.
pub(crate) struct OpenStream {
    app: App,
    tenant: TenantId,
    caller: Caller,
}

impl OpenStream {
    /// To be asked before a task is started for it.
    pub(crate) fn begin(app: &App, tenant: &Tenant, principal: &Principal) -> Result<Self, Problem> {
        let caller = principal.caller();
        let most =
            app.engine.streams_allowed(tenant).map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        if let Err((full, most)) = app.streams.open(tenant.id, &caller, most) {
            metrics::counter!("pleat_streams_refused_total", "limit" => full.limit()).increment(1);
            return Err(Problem::streams_full(full, most));
        }
        Ok(Self { app: app.clone(), tenant: tenant.id, caller })
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.app.streams.close(self.tenant, &self.caller);
    }
}
