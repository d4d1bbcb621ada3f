//! Admission: whether a call may run now. Asked before anything is written or run.

use std::sync::Arc;

use pleat_domain::{Caller, Plan, Principal, SkillName, Tenant, Usage};
use pleat_runtime::Function;

use crate::book::Entry;
use crate::catalog::{Skill, Target};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::load::party;
use crate::slots::{Slot, SlotUse};

/// The right to run one turn of one task; what it holds is free again when it is dropped.
pub(crate) struct Permit {
    _entry: Entry,
    slot: Option<Slot>,
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
    ) -> Result<Permit, EngineError> {
        let plan = self.plan_of(tenant);
        let entry = self.inner.books.begin(tenant.id, principal, &plan)?;
        let Target::Function(code) = &skill.target else {
            return Ok(Permit { _entry: entry, slot: None, function: None });
        };
        let function = match self.load(tenant.id, code).await {
            Ok(function) => Some(function),
            Err(busy @ EngineError::Busy(_)) => return Err(busy),
            // What cannot be loaded fails when it is called, and needs no more than any other until then.
            Err(_) => None,
        };
        let places = function.as_ref().map_or(1, |function| function.places());
        let patience = self.inner.config.slot_wait;
        let slot = self.inner.slots.take(tenant.id, places, plan.slot_percent, patience).await?;
        Ok(Permit { _entry: entry, slot: Some(slot), function })
    }
}

impl Permit {
    pub(crate) fn function(&self) -> Option<Arc<Function>> {
        self.function.clone()
    }

    /// Its instance is gone, and so is its hold on the slot.
    pub(crate) fn release(&mut self) {
        self.slot = None;
    }
}
