//! Memory budgets: how much memory the calls of one tenant, and of all tenants of one node, may hold at a time.
//!
//! Every call has a limit of its own (`memoryBytes`). Without a budget above it, the sum of what sleeping calls are
//! allowed exceeds any machine. Counters are relaxed atomics: a charge costs two of them, and only memory that grows is
//! charged.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// How often a waiting call looks by itself, should a notice be lost.
const LOOK: Duration = Duration::from_millis(100);

/// Whose budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MemoryScope {
    #[error("the tenant's memory budget on this node is used up")]
    Tenant,
    #[error("the memory budget of this node is used up")]
    Node,
}

impl MemoryScope {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Node => "node",
        }
    }
}

/// The budget of a node, with those of its tenants. Cheap to clone.
#[derive(Clone)]
pub struct MemoryBudget {
    node: Arc<NodeMemory>,
    tenants: Arc<RwLock<HashMap<u128, Arc<TenantMemory>>>>,
}

struct NodeMemory {
    limit: usize,
    used: AtomicUsize,
    waiting: AtomicUsize,
    freed: Notify,
    refused_tenant: AtomicU64,
    refused_node: AtomicU64,
}

/// The budget of one tenant on this node.
pub struct TenantMemory {
    node: Arc<NodeMemory>,
    name: String,
    limit: AtomicUsize,
    used: AtomicUsize,
    waiting: AtomicUsize,
    freed: Notify,
}

/// Bytes in use and the limit, of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryUse {
    pub used: usize,
    pub limit: usize,
    /// Charges that a tenant's budget and that the node's had no room for.
    pub refused_tenant: u64,
    pub refused_node: u64,
}

impl MemoryBudget {
    pub fn new(limit: usize) -> Self {
        let node = NodeMemory {
            limit,
            used: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            freed: Notify::new(),
            refused_tenant: AtomicU64::new(0),
            refused_node: AtomicU64::new(0),
        };
        Self { node: Arc::new(node), tenants: Arc::default() }
    }

    /// The budget of a tenant, whose name metrics show. `limit` is in force from now on; `None`: the node's alone.
    pub fn tenant(&self, key: u128, name: &str, limit: Option<u64>) -> Arc<TenantMemory> {
        let limit = limit.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let tenant = self.known(key).unwrap_or_else(|| {
            let fresh = || Arc::new(TenantMemory::new(&self.node, name, limit));
            let mut tenants = self.tenants.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(tenants.entry(key).or_insert_with(fresh))
        });
        tenant.limit.store(limit, Relaxed);
        tenant
    }

    /// The budget of a tenant that may be known, for work that is not a call.
    pub fn of(&self, key: u128) -> Arc<TenantMemory> {
        self.known(key).unwrap_or_else(|| Arc::new(TenantMemory::new(&self.node, "", usize::MAX)))
    }

    pub fn used(&self) -> MemoryUse {
        MemoryUse {
            used: self.node.used.load(Relaxed),
            limit: self.node.limit,
            refused_tenant: self.node.refused_tenant.load(Relaxed),
            refused_node: self.node.refused_node.load(Relaxed),
        }
    }

    /// Names of tenants with the bytes they hold.
    pub fn by_tenant(&self) -> Vec<(String, usize)> {
        let tenants = self.tenants.read().unwrap_or_else(PoisonError::into_inner);
        tenants.values().map(|tenant| (tenant.name.clone(), tenant.used.load(Relaxed))).collect()
    }

    fn known(&self, key: u128) -> Option<Arc<TenantMemory>> {
        self.tenants.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }
}

impl TenantMemory {
    fn new(node: &Arc<NodeMemory>, name: &str, limit: usize) -> Self {
        Self {
            node: Arc::clone(node),
            name: name.to_owned(),
            limit: AtomicUsize::new(limit),
            used: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            freed: Notify::new(),
        }
    }

    /// The most that the tenant may hold.
    pub fn limit(&self) -> usize {
        self.limit.load(Relaxed).min(self.node.limit)
    }

    fn take(&self, bytes: usize) -> Result<(), MemoryScope> {
        let limit = self.limit.load(Relaxed);
        let within = |used: usize, limit: usize| used.checked_add(bytes).filter(|total| *total <= limit);
        let before =
            self.used.fetch_update(Relaxed, Relaxed, |used| within(used, limit)).map_err(|_| MemoryScope::Tenant)?;
        let most = self.node.open_to(before.saturating_add(bytes));
        if self.node.used.fetch_update(Relaxed, Relaxed, |used| within(used, most)).is_err() {
            self.used.fetch_sub(bytes, Relaxed);
            return Err(MemoryScope::Node);
        }
        Ok(())
    }

    fn charge(&self, bytes: usize) -> Result<(), MemoryScope> {
        self.take(bytes).inspect_err(|scope| self.node.count(*scope))
    }

    /// Counts memory that is there already. The budget may be exceeded by it, and has no room for anything else then.
    fn charge_beyond(&self, bytes: usize) {
        self.used.fetch_add(bytes, Relaxed);
        self.node.used.fetch_add(bytes, Relaxed);
    }

    fn release(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.used.fetch_sub(bytes, Relaxed);
        self.node.used.fetch_sub(bytes, Relaxed);
        if self.waiting.load(Relaxed) > 0 {
            self.freed.notify_one();
        }
        if self.node.waiting.load(Relaxed) > 0 {
            self.node.freed.notify_one();
        }
    }

    /// Charges for a value that is held for a while, whether there is room or not.
    pub fn hold(self: &Arc<Self>, bytes: usize) -> MemoryCharge {
        self.charge_beyond(bytes);
        MemoryCharge { tenant: Arc::clone(self), bytes }
    }

    /// Memory of a call that nothing has been charged for yet.
    pub fn call(self: &Arc<Self>) -> CallMemory {
        CallMemory { tenant: Arc::clone(self), held: AtomicUsize::new(0), prepaid: AtomicUsize::new(0) }
    }

    /// Admits a call: charges its input at once and waits for room for the memory that it begins with. `queue`: how many
    /// calls of a tenant, and twice as many of the node, may wait.
    pub async fn admit(
        self: &Arc<Self>,
        input: usize,
        initial: usize,
        patience: Duration,
        queue: usize,
    ) -> Result<Arc<CallMemory>, MemoryScope> {
        let call = self.call();
        call.charge(input)?;
        match self.take(initial) {
            Ok(()) => {}
            Err(scope) => {
                self.wait(initial, scope, patience, queue).await.inspect_err(|scope| self.node.count(*scope))?
            }
        }
        call.held.fetch_add(initial, Relaxed);
        call.prepaid.store(initial, Relaxed);
        Ok(Arc::new(call))
    }

    async fn wait(
        &self,
        bytes: usize,
        mut scope: MemoryScope,
        patience: Duration,
        queue: usize,
    ) -> Result<(), MemoryScope> {
        if bytes > self.limit() {
            return Err(scope);
        }
        let _waiting = Waiting::begin(self, queue).ok_or(scope)?;
        let deadline = Instant::now() + patience;
        loop {
            let freed = match scope {
                MemoryScope::Tenant => self.freed.notified(),
                MemoryScope::Node => self.node.freed.notified(),
            };
            let look = deadline.min(Instant::now() + LOOK);
            let _ = tokio::time::timeout_at(look, freed).await;
            match self.take(bytes) {
                Ok(()) => {
                    // There may be room for another one.
                    self.freed.notify_one();
                    self.node.freed.notify_one();
                    return Ok(());
                }
                Err(refused) if Instant::now() >= deadline => return Err(refused),
                Err(refused) => scope = refused,
            }
        }
    }
}

impl NodeMemory {
    /// How far the node's budget is open to a tenant that would hold so much: the last quarter is for tenants that hold
    /// at most an eighth, so that one that comes late finds room.
    fn open_to(&self, held: usize) -> usize {
        if held <= self.limit / 8 { self.limit } else { self.limit - self.limit / 4 }
    }

    fn count(&self, scope: MemoryScope) {
        match scope {
            MemoryScope::Tenant => self.refused_tenant.fetch_add(1, Relaxed),
            MemoryScope::Node => self.refused_node.fetch_add(1, Relaxed),
        };
    }
}

/// A place in the queue for memory, left when the caller leaves.
struct Waiting<'a>(&'a TenantMemory);

impl<'a> Waiting<'a> {
    fn begin(tenant: &'a TenantMemory, queue: usize) -> Option<Self> {
        let here = tenant.waiting.fetch_add(1, Relaxed);
        let everywhere = tenant.node.waiting.fetch_add(1, Relaxed);
        let waiting = Self(tenant);
        (here < queue && everywhere < queue.saturating_mul(2)).then_some(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Relaxed);
        self.0.node.waiting.fetch_sub(1, Relaxed);
    }
}

/// What one call holds: its input, the memory of its instance, and what the platform keeps for it. All of it is released
/// when this is dropped.
pub struct CallMemory {
    tenant: Arc<TenantMemory>,
    held: AtomicUsize,
    /// Charged at admission for the memory that the instance begins with.
    prepaid: AtomicUsize,
}

impl CallMemory {
    /// Charges for memory that is about to be taken.
    pub fn charge(&self, bytes: usize) -> Result<(), MemoryScope> {
        let prepaid = self.take_prepaid(bytes);
        if bytes > prepaid {
            if let Err(scope) = self.tenant.charge(bytes - prepaid) {
                self.prepaid.fetch_add(prepaid, Relaxed);
                return Err(scope);
            }
            self.held.fetch_add(bytes - prepaid, Relaxed);
        }
        Ok(())
    }

    /// Charges for memory that is there already.
    pub fn charge_beyond(&self, bytes: usize) {
        self.tenant.charge_beyond(bytes);
        self.held.fetch_add(bytes, Relaxed);
    }

    /// Gives back a part of what was charged; the rest follows when this is dropped.
    pub fn release(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Relaxed);
        self.tenant.release(bytes);
    }

    /// Charges for a value until it is handed on or dropped.
    pub fn hold(&self, bytes: usize) -> Result<MemoryCharge, MemoryScope> {
        self.tenant.charge(bytes)?;
        Ok(MemoryCharge { tenant: Arc::clone(&self.tenant), bytes })
    }

    pub(crate) fn tenant_limit(&self) -> usize {
        self.tenant.limit()
    }

    pub(crate) fn node_limit(&self) -> usize {
        self.tenant.node.limit
    }

    fn take_prepaid(&self, bytes: usize) -> usize {
        let mut taken = 0;
        let _ = self.prepaid.fetch_update(Relaxed, Relaxed, |prepaid| {
            taken = prepaid.min(bytes);
            (taken > 0).then(|| prepaid - taken)
        });
        taken
    }
}

impl Drop for CallMemory {
    fn drop(&mut self) {
        self.tenant.release(*self.held.get_mut());
    }
}

/// Bytes that are charged until this is dropped.
pub struct MemoryCharge {
    tenant: Arc<TenantMemory>,
    bytes: usize,
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        self.tenant.release(self.bytes);
    }
}
