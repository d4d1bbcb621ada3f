//! Admission: whether a call may run now. Asked before anything is written or run.

use std::sync::Arc;

use pleat_domain::{Plan, Principal, SkillName, Tenant, Usage};

use crate::book::Entry;
use crate::catalog::{Skill, Target};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::slots::{Slot, SlotUse};

/// The right to run one turn of one task; what it holds is free again when it is dropped.
pub(crate) struct Permit {
    _entry: Entry,
    slot: Option<Slot>,
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
    pub(crate) fn may_store(&self, tenant: &Tenant) -> Result<(), EngineError> {
        self.inner.books.of(tenant.id).may_store(&self.plan_of(tenant))
    }

    pub(crate) fn count_upload(&self, tenant: &Tenant, skill: &SkillName, size: usize) {
        let usage = Usage { upload_bytes: u64::try_from(size).unwrap_or(u64::MAX), ..Usage::default() };
        self.inner.books.of(tenant.id).add(skill, usage);
    }

    /// Waits for an instance slot, if the tenant and the key may have one more task at all. A run of a pipeline needs none:
    /// one that held a slot while it waits for its steps could lock a small node.
    pub(crate) async fn enter(
        &self,
        tenant: &Arc<Tenant>,
        principal: &Principal,
        skill: &Skill,
    ) -> Result<Permit, EngineError> {
        let plan = self.plan_of(tenant);
        let entry = self.inner.books.begin(tenant.id, principal, &plan)?;
        let Target::Function(code) = &skill.target else { return Ok(Permit { _entry: entry, slot: None }) };
        // What cannot be loaded fails when it is called, and needs no more than any other until then.
        let places = self.load(tenant.id, code).await.map_or(1, |function| function.places());
        let patience = self.inner.config.slot_wait;
        let slot = self.inner.slots.take(tenant.id, places, plan.slot_percent, patience).await?;
        Ok(Permit { _entry: entry, slot: Some(slot) })
    }
}

impl Permit {
    /// Its instance is gone, and so is its hold on the slot.
    pub(crate) fn release(&mut self) {
        self.slot = None;
    }
}
