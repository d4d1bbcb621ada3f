//! Admission: whether a call may run now. Asked before anything is written or run.

use std::sync::Arc;
use std::time::Duration;

use pleat_domain::{Caller, Limit, Plan, Principal, Raw, SkillName, Tenant, Usage};
use pleat_runtime::{CallMemory, Function, MemoryCharge, MemoryScope, TenantMemory};

use crate::book::Entry;
use crate::catalog::{Skill, Target};
use crate::engine::Engine;
use crate::error::{EngineError, Reached};
use crate::load::party;
use crate::slots::{Slot, SlotUse};

/// What the platform itself needs for a call: its state, its stack as far as most calls use it, its records.
const CALL_OVERHEAD: usize = 128 << 10;
/// When a call that finds no memory should come again.
const MEMORY_RETRY: Duration = Duration::from_secs(1);

/// The right to run one turn of one task; what it holds is free again when it is dropped.
pub(crate) struct Permit {
    _entry: Entry,
    slot: Option<Slot>,
    /// Kept longer than the slot: until what the call left is recorded.
    memory: Arc<CallMemory>,
    /// What it was let in for, where that is a function that could be loaded.
    function: Option<Arc<Function>>,
}

impl Engine {
    /// What the tenant may use.
    pub fn plan_of(&self, tenant: &Tenant) -> Plan {
        let plans = &self.inner.config.plans;
        // A plan that the configuration no longer has must not become no limit at all.
        plans.get(&tenant.plan).copied().unwrap_or_default()
    }

    /// This node's part of the tenant's event streams. `None`: as many as there may be.
    pub fn streams_allowed(&self, tenant: &Tenant) -> Option<u64> {
        self.plan_of(tenant).streams.most().map(|most| self.inner.books.part(most))
    }

    /// How full this node is.
    pub fn slots(&self) -> SlotUse {
        self.inner.slots.used()
    }

    /// Counts a request of a caller that was authenticated.
    pub(crate) fn count_request(&self, tenant: &Tenant, principal: &Principal) -> Result<(), EngineError> {
        self.inner.books.request(tenant.id, principal, &self.plan_of(tenant))
    }

    /// Whether the tenant may store anything more today.
    pub(crate) fn may_store(&self, tenant: &Tenant, principal: &Principal) -> Result<(), EngineError> {
        self.inner.books.may_store(tenant.id, principal, &self.plan_of(tenant))
    }

    /// Whether the tenant may have something compiled: nothing that it uses by the minute or by the day is used up.
    pub(crate) fn may_compile(&self, tenant: &Tenant, principal: &Principal) -> Result<(), EngineError> {
        self.charge_compiling();
        self.inner.books.may_spend(tenant.id, principal, &self.plan_of(tenant))
    }

    /// Puts on the books what deploys have cost, also those that nobody waited for to the end.
    pub(crate) fn charge_compiling(&self) {
        let spent = self.inner.runtime.take_compile_time();
        if spent.is_empty() {
            return;
        }
        for (tenant, _) in self.inner.books.all() {
            if let Some(time) = spent.get(&party(tenant)) {
                let usage = Usage { cpu_us: u64::try_from(time.as_micros()).unwrap_or(u64::MAX), ..Usage::default() };
                self.inner.books.spend(tenant, None, &SkillName::compiling(), usage);
            }
        }
    }

    pub(crate) fn count_upload(&self, tenant: &Tenant, caller: &Caller, skill: &SkillName, size: usize) {
        let usage = Usage { upload_bytes: u64::try_from(size).unwrap_or(u64::MAX), ..Usage::default() };
        self.inner.books.spend(tenant.id, Some(caller.as_str()), skill, usage);
    }

    /// Waits for an instance slot, if the tenant and the caller may have one more task at all. A run of a pipeline needs none:
    /// one that held a slot while it waits for its steps could lock a small node.
    pub(crate) async fn enter(
        &self,
        tenant: &Arc<Tenant>,
        principal: &Principal,
        skill: &Skill,
        input: &Raw,
    ) -> Result<Permit, EngineError> {
        let plan = self.plan_of(tenant);
        let entry = self.inner.books.begin(tenant.id, principal, &plan)?;
        let budget = self.memory_of(tenant, &plan);
        let held = input.get().len().saturating_add(CALL_OVERHEAD);
        let Target::Function(code) = &skill.target else {
            let memory = self.admit_memory(&budget, held, 0).await?;
            return Ok(Permit { _entry: entry, slot: None, memory, function: None });
        };
        let function = match self.load(tenant.id, code).await {
            Ok(function) => Some(function),
            Err(busy @ EngineError::Busy(_)) => return Err(busy),
            // What cannot be loaded fails when it is called, and needs no more than any other until then.
            Err(_) => None,
        };
        let initial = function.as_ref().map_or(0, |function| function.initial_bytes());
        let memory = self.admit_memory(&budget, held, initial).await?;
        let places = function.as_ref().map_or(1, |function| function.places());
        let patience = self.inner.config.slot_wait;
        let slot = self.inner.slots.take(tenant.id, places, plan.slot_percent, patience).await?;
        Ok(Permit { _entry: entry, slot: Some(slot), memory, function })
    }

    /// Charges a tenant's memory budget for what the platform keeps for it, until the charge is dropped.
    pub fn hold_memory(&self, tenant: &Tenant, bytes: usize) -> MemoryCharge {
        self.memory_of(tenant, &self.plan_of(tenant)).hold(bytes)
    }

    fn memory_of(&self, tenant: &Tenant, plan: &Plan) -> Arc<TenantMemory> {
        let (key, limit) = (party(tenant.id).0, plan.memory_bytes.most());
        self.inner.runtime.memory().tenant(key, tenant.slug.as_str(), limit)
    }

    /// Waits for memory as for a slot, for the same time.
    async fn admit_memory(
        &self,
        budget: &Arc<TenantMemory>,
        held: usize,
        initial: usize,
    ) -> Result<Arc<CallMemory>, EngineError> {
        let config = &self.inner.config;
        let admitted = budget.admit(held, initial, config.slot_wait, config.slot_queue.div_ceil(2)).await;
        admitted.map_err(|scope| match scope {
            MemoryScope::Tenant => {
                let most = u64::try_from(budget.limit()).unwrap_or(u64::MAX);
                Reached { limit: Limit::Memory, most, retry_after: Some(MEMORY_RETRY) }.into()
            }
            MemoryScope::Node => EngineError::Busy("memory of the node"),
        })
    }
}

impl Permit {
    pub(crate) fn function(&self) -> Option<Arc<Function>> {
        self.function.clone()
    }

    pub(crate) fn memory(&self) -> Arc<CallMemory> {
        Arc::clone(&self.memory)
    }

    /// Its instance is gone, and so is its hold on the slot.
    pub(crate) fn release(&mut self) {
        self.slot = None;
    }
}
