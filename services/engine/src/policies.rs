//! Guardrail policies: what a tenant has set, what its functions bring with them, and what holds for each skill.

use std::collections::BTreeMap;
use std::sync::Arc;

use pleat_domain::{AuditAction, Manifest, Principal, SkillName, Tenant, TenantId};
use pleat_guardrails::{Guard, Policy};
use pleat_policy::Action;
use pleat_store::PolicyRow;
use serde_json::Value;

use crate::engine::{Engine, authorize};
use crate::error::EngineError;

/// All policies of a tenant, compiled.
#[derive(Debug)]
pub(crate) struct Policies {
    default: Policy,
    skills: BTreeMap<String, Policy>,
    /// Of every skill that has no policy of its own.
    usual: Arc<Guard>,
}

/// What holds for a skill.
#[derive(Debug)]
pub struct SkillPolicy {
    pub skill: SkillName,
    /// Whose policy it is: the `skill`'s, the `function`'s own, or the tenant's `default`. `None`: there is none.
    pub from: Option<&'static str>,
    /// The skill's or the function's own.
    pub policy: Option<Value>,
    /// With what the default adds to it.
    pub effective: Value,
}

impl Policies {
    /// One that cannot be read stops everything: nothing passes that should have been looked at.
    pub(crate) fn read(rows: &[PolicyRow]) -> Result<Self, EngineError> {
        let mut default = Policy::none();
        let mut skills = BTreeMap::new();
        for row in rows {
            let policy = Policy::parse(&row.policy).map_err(|faults| {
                EngineError::Internal(format!("a stored guardrail policy cannot be read: {faults}").into())
            })?;
            if row.skill.is_empty() {
                default = policy;
            } else {
                skills.insert(row.skill.clone(), policy);
            }
        }
        let usual = Arc::new(Guard::new(&default));
        Ok(Self { default, skills, usual })
    }

    pub(crate) fn guard_of(&self, name: &SkillName, manifest: &Manifest) -> Result<Arc<Guard>, EngineError> {
        let corrupt = |what: EngineError| EngineError::Internal(what.to_string().into());
        let own = match self.skills.get(name.as_str()) {
            Some(policy) => Some(policy.clone()),
            None => of_manifest(manifest).map_err(corrupt)?,
        };
        Ok(match own {
            Some(policy) => Arc::new(Guard::new(&policy.over(&self.default))),
            None => Arc::clone(&self.usual),
        })
    }

    /// What holds where no skill is known yet.
    pub(crate) const fn usual(&self) -> &Arc<Guard> {
        &self.usual
    }
}

/// A policy that a function brings has to be one.
pub(crate) fn check(manifest: &Manifest) -> Result<(), EngineError> {
    of_manifest(manifest).map(drop)
}

fn of_manifest(manifest: &Manifest) -> Result<Option<Policy>, EngineError> {
    let Some(policy) = &manifest.guardrails else { return Ok(None) };
    let policy = Policy::parse(&policy.to_string());
    policy.map(Some).map_err(|faults| {
        let all: Vec<String> =
            faults.list().iter().map(|fault| format!("at `{}`: {}", fault.pointer, fault.message)).collect();
        EngineError::NotDeployable(format!("`guardrails` is not a policy: {}", all.join("; ")))
    })
}

impl Engine {
    /// Sets the tenant's default, or the policy of a skill. It holds from the next call on, at every node.
    pub async fn set_policy(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        skill: Option<&str>,
        policy: &str,
    ) -> Result<(), EngineError> {
        authorize(principal, Action::Deploy, EngineError::UnknownTenant)?;
        let skill = self.known(tenant, skill).await?;
        let text = policy.to_owned();
        let parsed = self.with_schemas(tenant.id, move || Policy::parse(&text).map(drop)).await?;
        parsed.map_err(EngineError::BadPolicy)?;
        let policy = Policy::source(policy);
        let target = skill.as_ref().map_or("default", SkillName::as_str);
        let store = self.audited(tenant, principal, AuditAction::GuardSet, target).await;
        store.set_policy(skill.as_ref(), policy, principal.caller().as_str()).await?;
        self.inner.catalogs.forget(tenant.id);
        Ok(())
    }

    pub async fn delete_policy(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        skill: Option<&str>,
    ) -> Result<(), EngineError> {
        authorize(principal, Action::Deploy, EngineError::UnknownTenant)?;
        let name = || skill.unwrap_or("default").chars().take(80).collect();
        let missing = || EngineError::NotFound { what: "policy", name: name() };
        let skill = skill.map(|name| SkillName::parse_skill(name).map_err(|_| missing())).transpose()?;
        let target = skill.as_ref().map_or("default", SkillName::as_str);
        let store = self.audited(tenant, principal, AuditAction::GuardDelete, target).await;
        let deleted = store.delete_policy(skill.as_ref()).await?;
        self.inner.catalogs.forget(tenant.id);
        if deleted { Ok(()) } else { Err(missing()) }
    }

    /// All that are set, the default first.
    pub async fn policies(&self, tenant: &Tenant, principal: &Principal) -> Result<Vec<PolicyRow>, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        Ok(self.tenant_store(tenant).policies().await?)
    }

    /// What holds for a skill, and where it comes from.
    pub async fn policy_of(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        skill: &str,
    ) -> Result<SkillPolicy, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        let unknown = || EngineError::UnknownSkill(skill.chars().take(80).collect());
        let name = self.known(tenant, Some(skill)).await?.ok_or_else(unknown)?;
        let catalog = self.catalog(tenant).await?;
        let rows = self.tenant_store(tenant).policies().await?;
        let set = |skill: &str| {
            let row = rows.iter().find(|row| row.skill == skill)?;
            serde_json::from_str::<Value>(&row.policy).ok()
        };
        let default = set("");
        let brought = || catalog.skills.get(&name).and_then(|skill| skill.manifest.guardrails.clone());
        let (own, from) = match (set(name.as_str()), brought()) {
            (Some(own), _) => (Some(own), Some("skill")),
            (None, Some(own)) => (Some(own), Some("function")),
            (None, None) => (None, default.is_some().then_some("default")),
        };
        let effective = Policy::effective(own.as_ref(), default.as_ref());
        Ok(SkillPolicy { skill: name, from, policy: own, effective })
    }

    /// The skill that a policy is for: one that exists, so that a slip of the pen does not go unnoticed.
    async fn known(&self, tenant: &Tenant, skill: Option<&str>) -> Result<Option<SkillName>, EngineError> {
        let Some(name) = skill else { return Ok(None) };
        let unknown = || EngineError::UnknownSkill(name.chars().take(80).collect());
        let name = SkillName::parse_skill(name).map_err(|_| unknown())?;
        // A draft is guarded before it is exposed.
        if self.catalog(tenant).await?.runnable(&name).is_some() { Ok(Some(name)) } else { Err(unknown()) }
    }

    /// What guardrails hash this tenant's values with.
    pub(crate) fn guard_key(&self, tenant: TenantId) -> Vec<u8> {
        [&self.inner.guard_key[..], tenant.as_uuid().as_bytes()].concat()
    }
}
