//! Secrets and settings of a tenant: written by whoever deploys, read by functions that were granted them.
//!
//! A secret's value never comes out again but to a function. Changes count without a deploy, at once on this node.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pleat_domain::setting::{BadSetting, check_value};
use pleat_domain::{AuditAction, Principal, SettingName, Tenant, TenantId};
use pleat_policy::Action;
use pleat_store::{SecretRow, SettingRow, TenantStore};
use zeroize::Zeroizing;

use crate::engine::{Engine, authorize};
use crate::error::EngineError;

/// How long another node's change may go unnoticed.
const RECHECK: Duration = Duration::from_millis(500);
/// Bytes of values kept in memory, the secrets among them sealed.
const KEPT: u64 = 64 << 20;

/// What functions have asked for lately; what is missing is remembered too.
pub(crate) struct SettingCache {
    values: moka::sync::Cache<Place, Option<Arc<[u8]>>>,
    changes: AtomicU64,
}

/// The count of this node's changes comes first: who began to read before a change cannot spoil what is read after it.
type Place = (u64, TenantId, Kind, String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Secret,
    Setting,
}

impl Kind {
    const fn noun(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Setting => "setting",
        }
    }
}

impl SettingCache {
    pub(crate) fn new() -> Self {
        let values = moka::sync::Cache::builder()
            .weigher(|place: &Place, value: &Option<Arc<[u8]>>| {
                let size = place.3.len() + value.as_ref().map_or(0, |value| value.len()) + 100;
                u32::try_from(size).unwrap_or(u32::MAX)
            })
            .max_capacity(KEPT)
            .time_to_live(RECHECK)
            .build();
        Self { values, changes: AtomicU64::new(0) }
    }

    /// To be called after the commit.
    pub(crate) fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }

    async fn get(&self, store: &TenantStore, kind: Kind, name: &str) -> Result<Option<Arc<[u8]>>, EngineError> {
        let place = (self.changes.load(Ordering::Acquire), store.id(), kind, name.to_owned());
        if let Some(known) = self.values.get(&place) {
            return Ok(known);
        }
        let value = match kind {
            Kind::Secret => store.secret(name).await?,
            Kind::Setting => store.setting(name).await?.map(String::into_bytes),
        };
        let value: Option<Arc<[u8]>> = value.map(Arc::from);
        self.values.insert(place, value.clone());
        Ok(value)
    }
}

impl Engine {
    pub async fn set_secret(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        name: &str,
        value: &str,
    ) -> Result<(), EngineError> {
        authorize(principal, Action::ManageSecrets, EngineError::UnknownTenant)?;
        let name = valid(name, value)?;
        let sealed = self.inner.vault.seal_secret(tenant.id, &name, value);
        let sealed = sealed.map_err(|error| EngineError::Internal(Box::new(error)))?;
        let by = principal.caller();
        let store = self.audited(tenant, principal, AuditAction::SecretSet, name.as_str()).await;
        store.set_secret(&name, &sealed, value.len(), by.as_str()).await?;
        self.inner.settings.changed();
        tracing::info!(tenant.id = %tenant.slug, secret = %name, "a secret was set");
        Ok(())
    }

    /// Everything about them but what they say.
    pub async fn secrets(&self, tenant: &Tenant, principal: &Principal) -> Result<Vec<SecretRow>, EngineError> {
        authorize(principal, Action::ManageSecrets, EngineError::UnknownTenant)?;
        Ok(self.tenant_store(tenant).list_secrets().await?)
    }

    pub async fn delete_secret(&self, tenant: &Tenant, principal: &Principal, name: &str) -> Result<(), EngineError> {
        self.delete(tenant, principal, Kind::Secret, name).await
    }

    pub async fn set_setting(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        name: &str,
        value: &str,
    ) -> Result<(), EngineError> {
        authorize(principal, Action::ManageSecrets, EngineError::UnknownTenant)?;
        let name = valid(name, value)?;
        let store = self.audited(tenant, principal, AuditAction::SettingSet, name.as_str()).await;
        store.set_setting(&name, value, principal.caller().as_str()).await?;
        self.inner.settings.changed();
        Ok(())
    }

    pub async fn settings(&self, tenant: &Tenant, principal: &Principal) -> Result<Vec<SettingRow>, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        Ok(self.tenant_store(tenant).list_settings().await?)
    }

    pub async fn delete_setting(&self, tenant: &Tenant, principal: &Principal, name: &str) -> Result<(), EngineError> {
        self.delete(tenant, principal, Kind::Setting, name).await
    }

    async fn delete(&self, tenant: &Tenant, principal: &Principal, kind: Kind, name: &str) -> Result<(), EngineError> {
        authorize(principal, Action::ManageSecrets, EngineError::UnknownTenant)?;
        // A name that cannot exist is not found, as any other that does not.
        let known = SettingName::parse(name).map_err(|_| missing(kind, name))?;
        let action = match kind {
            Kind::Secret => AuditAction::SecretDelete,
            Kind::Setting => AuditAction::SettingDelete,
        };
        let store = self.audited(tenant, principal, action, known.as_str()).await;
        let deleted = match kind {
            Kind::Secret => store.delete_secret(&known).await?,
            Kind::Setting => store.delete_setting(&known).await?,
        };
        self.inner.settings.changed();
        if deleted { Ok(()) } else { Err(missing(kind, name)) }
    }

    /// For a function that was granted it.
    pub(crate) async fn secret_value(
        &self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<Zeroizing<String>>, EngineError> {
        let store = self.tenant_store(tenant);
        let Some(sealed) = self.inner.settings.get(&store, Kind::Secret, name).await? else { return Ok(None) };
        let opened = self.inner.vault.open_secret(tenant.id, name, &sealed);
        opened.map(Some).map_err(|error| EngineError::Internal(Box::new(error)))
    }

    pub(crate) async fn setting_value(&self, tenant: &Tenant, name: &str) -> Result<Option<String>, EngineError> {
        let store = self.tenant_store(tenant);
        let value = self.inner.settings.get(&store, Kind::Setting, name).await?;
        Ok(value.map(|value| String::from_utf8_lossy(&value).into_owned()))
    }
}

fn valid(name: &str, value: &str) -> Result<SettingName, EngineError> {
    let refused = |fault: BadSetting| EngineError::Invalid(fault.to_string());
    let name = SettingName::parse(name).map_err(refused)?;
    check_value(value).map_err(refused)?;
    Ok(name)
}

fn missing(kind: Kind, name: &str) -> EngineError {
    EngineError::NotFound { what: kind.noun(), name: name.chars().take(80).collect() }
}
