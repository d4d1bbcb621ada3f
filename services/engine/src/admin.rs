//! Tenants and keys.

use std::sync::Arc;

use pleat_domain::key::ApiKey;
use pleat_domain::{
    AuditAction, CardVersions, KeyLimits, PlanName, Principal, Scope, Scopes, Tenant, TenantSlug, timestamp,
};
use pleat_policy::Action;
use pleat_store::{AuditEntry, KeyRecord, NewKey};
use rand::TryRng;
use serde_json::json;
use time::OffsetDateTime;

use crate::audit::{scope_names, system_entry, with_details};
use crate::engine::{Engine, authorize};
use crate::error::EngineError;
use crate::keyring::KeyHasher;

/// A key that was just made. The text is shown this once and kept nowhere.
#[derive(Debug, Clone)]
pub struct MintedKey {
    pub id: String,
    pub text: String,
    pub scopes: Scopes,
    pub label: String,
    pub limits: KeyLimits,
}

#[derive(Debug, Clone)]
pub struct NewKeyRequest {
    pub scopes: Scopes,
    pub label: String,
    pub expires_at: Option<OffsetDateTime>,
    /// At most those of who asks.
    pub limits: KeyLimits,
}

impl NewKeyRequest {
    /// Without a label, an end or limits.
    pub fn of(scopes: Scopes) -> Self {
        Self { scopes, label: String::new(), expires_at: None, limits: KeyLimits::default() }
    }
}

impl Engine {
    /// A new tenant and the admin key that its owner begins with.
    pub async fn create_tenant(
        &self,
        principal: &Principal,
        slug: &TenantSlug,
        plan: &PlanName,
    ) -> Result<(Tenant, MintedKey), EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        self.check_plan(plan)?;
        let entry = self.audit_entry(principal, AuditAction::TenantCreate, slug.as_str()).await;
        let entry = with_details(entry, json!({ "plan": plan }));
        let tenant = self.inner.store.create_tenant(slug, plan, &entry).await?;
        self.inner.absent_tenants.forget(slug);
        let all = Scopes::of([Scope::Admin, Scope::Deploy, Scope::Invoke, Scope::Read]);
        let request = NewKeyRequest { label: "first key".to_owned(), ..NewKeyRequest::of(all) };
        let entry = self.audit_entry(principal, AuditAction::KeyCreate, "").await;
        let key = self.mint(Some(&tenant), &request, principal.caller().as_str(), entry).await?;
        Ok((tenant, key))
    }

    /// Another plan for a tenant: at once on this node, within seconds on the others.
    pub async fn set_plan(
        &self,
        principal: &Principal,
        slug: &TenantSlug,
        plan: &PlanName,
    ) -> Result<Arc<Tenant>, EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        self.check_plan(plan)?;
        let tenant = self.tenant(slug).await?;
        let entry = self.audit_entry(principal, AuditAction::TenantPlan, slug.as_str()).await;
        let entry = with_details(entry, json!({ "from": tenant.plan, "to": plan }));
        self.inner.store.set_plan(tenant.id, plan, &entry).await?;
        self.inner.tenants.invalidate(slug);
        self.tenant(slug).await
    }

    /// For which versions a tenant's card is: at once on this node, within seconds on the others.
    pub async fn set_card(
        &self,
        principal: &Principal,
        slug: &TenantSlug,
        card: CardVersions,
    ) -> Result<Arc<Tenant>, EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        let tenant = self.tenant(slug).await?;
        let entry = self.audit_entry(principal, AuditAction::TenantCard, slug.as_str()).await;
        let entry = with_details(entry, json!({ "from": tenant.card.as_str(), "to": card.as_str() }));
        self.inner.store.set_card(tenant.id, card, &entry).await?;
        self.inner.tenants.invalidate(slug);
        self.tenant(slug).await
    }

    fn check_plan(&self, plan: &PlanName) -> Result<(), EngineError> {
        let plans = &self.inner.config.plans;
        if plans.get(plan).is_some() {
            return Ok(());
        }
        let names: Vec<&str> = plans.names().map(PlanName::as_str).collect();
        Err(EngineError::Invalid(format!("there is no plan `{plan}`; there are {}", names.join(", "))))
    }

    pub async fn list_tenants(&self, principal: &Principal) -> Result<Vec<Tenant>, EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        Ok(self.inner.store.list_tenants().await?)
    }

    pub async fn delete_tenant(&self, principal: &Principal, slug: &TenantSlug) -> Result<(), EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        let tenant = self.tenant(slug).await?;
        let entry = self.audit_entry(principal, AuditAction::TenantDelete, slug.as_str()).await;
        self.inner.store.delete_tenant(&tenant, &entry).await?;
        self.tenant_store(&tenant).forget_belongings().await?;
        self.inner.settings.changed();
        self.inner.tenants.invalidate(slug);
        self.inner.catalogs.forget(tenant.id);
        self.inner.hub.stop_tenant(tenant.id);
        Ok(())
    }

    pub async fn create_key(
        &self,
        tenant: &Arc<Tenant>,
        principal: &Principal,
        request: &NewKeyRequest,
    ) -> Result<MintedKey, EngineError> {
        authorize(principal, Action::ManageKeys, EngineError::UnknownTenant)?;
        if request.scopes.is_empty() {
            return Err(EngineError::Invalid("name at least one scope: admin, deploy, invoke or read".to_owned()));
        }
        within(principal, request.scopes)?;
        if request.label.chars().count() > 100 {
            return Err(EngineError::Invalid("a label has at most 100 characters".to_owned()));
        }
        let request = NewKeyRequest { limits: request.limits.within(principal.limits()), ..request.clone() };
        let entry = self.audit_entry(principal, AuditAction::KeyCreate, "").await;
        self.mint(Some(tenant), &request, principal.caller().as_str(), entry).await
    }

    pub async fn list_keys(&self, tenant: &Tenant, principal: &Principal) -> Result<Vec<KeyRecord>, EngineError> {
        authorize(principal, Action::ManageKeys, EngineError::UnknownTenant)?;
        Ok(self.tenant_store(tenant).list_keys().await?)
    }

    /// The last working admin key stays, unless `force`.
    pub async fn revoke_key(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        id: &str,
        force: bool,
    ) -> Result<(), EngineError> {
        authorize(principal, Action::ManageKeys, EngineError::UnknownTenant)?;
        let store = self.audited(tenant, principal, AuditAction::KeyRevoke, id).await;
        let revoked = store.revoke_key(id, force).await?;
        self.inner.keys.forget(id);
        // Not more than an id is long: who sends a whole key by mistake must not find it in an error.
        let name = id.chars().take(10).collect();
        if revoked { Ok(()) } else { Err(EngineError::NotFound { what: "key", name }) }
    }

    /// A key with every scope for a tenant that has lost its own. The tenant sees it in its audit log.
    pub async fn recover_tenant_key(
        &self,
        principal: &Principal,
        slug: &TenantSlug,
        expires_at: Option<OffsetDateTime>,
    ) -> Result<MintedKey, EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        let tenant = self.tenant(slug).await?;
        let all = Scopes::of([Scope::Admin, Scope::Deploy, Scope::Invoke, Scope::Read]);
        let request = NewKeyRequest { label: "recovery key".to_owned(), expires_at, ..NewKeyRequest::of(all) };
        let entry = self.audit_entry(principal, AuditAction::TenantRecoverKey, "").await;
        self.mint(Some(&tenant), &request, principal.caller().as_str(), entry).await
    }

    /// For the server that starts, which answers to nobody: a key of the platform's own (the operator's, those of the
    /// demo tenant). It follows from the master key, so that it is the same at every start and on every node.
    pub async fn bootstrap_key(
        &self,
        tenant: Option<&Tenant>,
        scopes: Scopes,
        label: &str,
    ) -> Result<MintedKey, EngineError> {
        let home = tenant.map_or("platform", |tenant| tenant.slug.as_str());
        let request = NewKeyRequest { label: label.to_owned(), ..NewKeyRequest::of(scopes) };
        // A key that was revoked stays so; the next in line takes its place.
        for generation in 0_u32.. {
            let purpose = format!("{home}/{label}/{generation}");
            let key = ApiKey::from_entropy(&self.inner.config.master_key.entropy_for(&purpose));
            match self.inner.store.key(key.id()).await? {
                Some(record) if record.revoked_at.is_some() => continue,
                Some(_) => {}
                None => {
                    let action = if tenant.is_some() { AuditAction::KeyCreate } else { AuditAction::OperatorKeyCreate };
                    self.keep(tenant, &key, &request, "bootstrap", system_entry(action, "")).await?;
                }
            }
            return Ok(minted(&key, request));
        }
        Err(EngineError::Internal("every key of this purpose was revoked".into()))
    }

    /// For the server that starts: the tenant, made if it is not there.
    pub async fn bootstrap_tenant(&self, slug: &TenantSlug) -> Result<Arc<Tenant>, EngineError> {
        match self.tenant(slug).await {
            Err(EngineError::UnknownTenant) => {
                let entry = system_entry(AuditAction::TenantCreate, slug.as_str());
                let tenant = self.inner.store.create_tenant(slug, &PlanName::standard(), &entry).await?;
                self.inner.absent_tenants.forget(slug);
                Ok(Arc::new(tenant))
            }
            other => other,
        }
    }

    pub(crate) async fn mint(
        &self,
        tenant: Option<&Tenant>,
        request: &NewKeyRequest,
        created_by: &str,
        entry: AuditEntry,
    ) -> Result<MintedKey, EngineError> {
        let key = random_key()?;
        self.keep(tenant, &key, request, created_by, entry).await?;
        Ok(minted(&key, request.clone()))
    }

    /// Stores what is needed to know the key again, which is not the key.
    async fn keep(
        &self,
        tenant: Option<&Tenant>,
        key: &ApiKey,
        request: &NewKeyRequest,
        created_by: &str,
        entry: AuditEntry,
    ) -> Result<(), EngineError> {
        let details = json!({
            "label": request.label,
            "scopes": scope_names(request.scopes),
            "expiresAt": request.expires_at.map(timestamp::format),
        });
        let entry = AuditEntry { target: key.id().to_owned(), ..with_details(entry, details) };
        let record = stored(&self.inner.hasher, key, request, created_by);
        match tenant {
            Some(tenant) => self.tenant_store(tenant).audited(entry).insert_key(record).await?,
            None => self.inner.store.insert_operator_key(record, &entry).await?,
        }
        Ok(())
    }
}

pub(crate) fn random_key() -> Result<ApiKey, EngineError> {
    let mut entropy = [0; 64];
    rand::rngs::SysRng.try_fill_bytes(&mut entropy).map_err(|error| EngineError::Internal(Box::new(error)))?;
    Ok(ApiKey::from_entropy(&entropy))
}

/// What is needed to know the key again, which is not the key.
pub(crate) fn stored(hasher: &KeyHasher, key: &ApiKey, request: &NewKeyRequest, created_by: &str) -> NewKey {
    let text = key.reveal();
    NewKey {
        id: key.id().to_owned(),
        mac: hasher.hash(key.secret()).to_vec(),
        scopes: request.scopes,
        label: request.label.clone(),
        last_four: text.chars().skip(text.len().saturating_sub(4)).collect(),
        expires_at: request.expires_at,
        limits: request.limits,
        created_by: created_by.to_owned(),
    }
}

pub(crate) fn minted(key: &ApiKey, request: NewKeyRequest) -> MintedKey {
    let NewKeyRequest { scopes, label, limits, .. } = request;
    MintedKey { id: key.id().to_owned(), text: key.reveal(), scopes, label, limits }
}

/// Nobody gives what it does not have itself.
pub(crate) fn within(principal: &Principal, scopes: Scopes) -> Result<(), EngineError> {
    match scopes.iter().find(|scope| !principal.has(*scope)) {
        Some(missing) => Err(EngineError::Forbidden(missing)),
        None => Ok(()),
    }
}
