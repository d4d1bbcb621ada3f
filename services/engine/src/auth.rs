//! Authentication: from the text of a key or token to a principal.
//!
//! What is malformed, unknown, revoked, expired or another tenant's gets one and the same answer.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use pleat_domain::key::ApiKey;
use pleat_domain::{Caller, Principal, Scope, Tenant};
use pleat_store::KeyRecord;
use time::OffsetDateTime;

use crate::engine::{Engine, STALE};
use crate::error::EngineError;
use crate::tokens;

/// How long a key is known to exist after it was last looked up.
const KNOWN: Duration = Duration::from_secs(3_600);

/// Records of keys by id. Revoking takes effect at once on the node that revokes, and elsewhere when it is told.
pub(crate) struct KeyCache {
    records: moka::sync::Cache<String, Option<Arc<KeyRecord>>>,
    /// Ids that were found before. They are looked up again without being counted, so that a flood of made-up keys, which
    /// are, keeps nobody out who was here before.
    known: moka::sync::Cache<String, ()>,
    /// Hashes of tokens that were good before.
    tokens: moka::sync::Cache<u64, ()>,
    hasher: RandomState,
}

impl KeyCache {
    pub(crate) fn new() -> Self {
        let records = moka::sync::Cache::builder().max_capacity(100_000).time_to_live(STALE).build();
        let known = moka::sync::Cache::builder().max_capacity(100_000).time_to_idle(KNOWN).build();
        let tokens = moka::sync::Cache::builder().max_capacity(100_000).time_to_idle(KNOWN).build();
        Self { records, known, tokens, hasher: RandomState::new() }
    }

    pub(crate) fn forget(&self, id: &str) {
        self.records.invalidate(id);
    }

    fn token_was_good(&self, text: &str) {
        let hash = self.hasher.hash_one(text);
        if !self.tokens.contains_key(&hash) {
            self.tokens.insert(hash, ());
        }
    }
}

impl Engine {
    /// Who holds this key, or token, on this tenant's routes. No key is nobody, a bad key is refused. `audiences` are
    /// the addresses of the tenant, for which a token may have been made. Here is also where the request is counted, so
    /// that no door can forget it.
    pub async fn authenticate(
        &self,
        tenant: &Tenant,
        key: Option<&str>,
        audiences: impl FnOnce() -> Vec<String>,
    ) -> Result<Principal, EngineError> {
        let principal = self.recognize(tenant, key, audiences).await?;
        self.count_request(tenant, &principal)?;
        Ok(principal)
    }

    /// Whether who came in with this key, or token, still would, with the same scopes: asked from time to time for what
    /// stays open. What cannot be found out now is left as it is.
    pub async fn is_still(
        &self,
        principal: &Principal,
        tenant: &Tenant,
        key: Option<&str>,
        audiences: impl FnOnce() -> Vec<String>,
    ) -> bool {
        match self.recognize(tenant, key, audiences).await {
            Ok(now) => now.caller() == principal.caller() && now.scopes() == principal.scopes(),
            Err(EngineError::Unauthenticated) => false,
            Err(_) => true,
        }
    }

    async fn recognize(
        &self,
        tenant: &Tenant,
        key: Option<&str>,
        audiences: impl FnOnce() -> Vec<String>,
    ) -> Result<Principal, EngineError> {
        let principal = match key {
            None => Principal::Anonymous,
            Some(text) if tokens::is_token(text) => {
                let verified = Box::pin(self.verify_token(tenant, text, audiences())).await;
                if matches!(verified, Err(EngineError::Unauthenticated)) {
                    self.count_unproven(Some(tenant))?;
                }
                let principal = verified?;
                self.inner.keys.token_was_good(text);
                principal
            }
            Some(text) => self.verify(text, Some(tenant)).await?,
        };
        let foreign = matches!(principal, Principal::Key { tenant: of_key, .. } if of_key != tenant.id)
            || matches!(principal, Principal::Operator { .. });
        if foreign { Err(EngineError::Unauthenticated) } else { Ok(principal) }
    }

    /// Whether this key, or token, was good before on this node. A guess without any work: what is good is decided later.
    pub fn has_seen(&self, text: &str) -> bool {
        let keys = &self.inner.keys;
        match ApiKey::parse(text) {
            Ok(key) => keys.known.contains_key(key.id()),
            Err(_) => tokens::is_token(text) && keys.tokens.contains_key(&keys.hasher.hash_one(text)),
        }
    }

    /// Who holds this key on the platform's own routes, where no tenant is named.
    pub async fn authenticate_platform(&self, key: Option<&str>) -> Result<Principal, EngineError> {
        match key {
            Some(text) => self.verify(text, None).await,
            None => Ok(Principal::Anonymous),
        }
    }

    /// The tenant a principal's key belongs to. The key of a tenant that was deleted is none, though it may be cached.
    pub async fn home_of(&self, principal: &Principal) -> Result<Option<Tenant>, EngineError> {
        match principal {
            Principal::Key { tenant, .. } | Principal::Token { tenant, .. } => {
                let home = self.inner.store.key_tenant(*tenant).await?.ok_or(EngineError::Unauthenticated)?;
                self.count_request(&home, principal)?;
                Ok(Some(home))
            }
            Principal::Anonymous | Principal::Operator { .. } => Ok(None),
        }
    }

    /// `tenant`: on whose routes; `None`: on the platform's own.
    async fn verify(&self, text: &str, tenant: Option<&Tenant>) -> Result<Principal, EngineError> {
        // The checksum goes first: what is mistyped never reaches the database.
        let key = ApiKey::parse(text).map_err(|_| EngineError::Unauthenticated)?;
        let record = self.key_record(key.id(), || self.count_unproven(tenant)).await?;
        let stored = record.as_ref().map(|record| record.mac.as_slice());
        if !self.inner.hasher.matches(key.secret(), stored) {
            return Err(EngineError::Unauthenticated);
        }
        match record {
            Some(record) if is_live(&record) => principal_of(&record),
            _ => Err(EngineError::Unauthenticated),
        }
    }

    /// Who a task's caller is, while nobody is there to show a key: `None` for a key that is no longer good, and for a
    /// token whose issuer was removed.
    pub(crate) async fn principal_behind(
        &self,
        tenant: &Tenant,
        caller: &Caller,
    ) -> Result<Option<Principal>, EngineError> {
        if caller.is_anonymous() {
            return Ok(Some(Principal::Anonymous));
        }
        if let Some(bearer) = caller.as_str().strip_prefix("jwt:") {
            return self.bearer_behind(tenant, bearer).await;
        }
        let Some(id) = caller.as_str().strip_prefix("key:") else { return Ok(None) };
        let record = self.key_record(id, || Ok(())).await?.filter(|record| is_live(record));
        record.as_deref().map(principal_of).transpose()
    }

    /// For the audit log; empty for a key that cannot be looked up.
    pub(crate) async fn label_of_key(&self, id: &str) -> String {
        let record = self.key_record(id, || Ok(())).await.ok().flatten();
        record.map(|record| record.label.clone()).unwrap_or_default()
    }

    /// `count`: asked before the database is, about a key that was never found there.
    async fn key_record(
        &self,
        id: &str,
        count: impl FnOnce() -> Result<(), EngineError>,
    ) -> Result<Option<Arc<KeyRecord>>, EngineError> {
        let keys = &self.inner.keys;
        if let Some(cached) = keys.records.get(id) {
            return Ok(cached);
        }
        let is_known = keys.known.get(id).is_some();
        if !is_known {
            count()?;
        }
        let record = Box::pin(self.inner.store.key(id)).await?.map(Arc::new);
        if record.is_some() && !is_known {
            keys.known.insert(id.to_owned(), ());
        }
        keys.records.insert(id.to_owned(), record.clone());
        Ok(record)
    }

    /// Made-up keys and tokens cost a look-up or a check of a signature each: they have a rate of their own.
    fn count_unproven(&self, tenant: Option<&Tenant>) -> Result<(), EngineError> {
        let plan = tenant.map(|tenant| (tenant.id, self.plan_of(tenant)));
        self.inner.books.unproven(plan.as_ref().map(|(tenant, plan)| (*tenant, plan)))
    }
}

fn is_live(record: &KeyRecord) -> bool {
    let expired = record.expires_at.is_some_and(|at| at <= OffsetDateTime::now_utc());
    record.revoked_at.is_none() && !expired
}

fn principal_of(record: &KeyRecord) -> Result<Principal, EngineError> {
    match record.tenant {
        Some(tenant) => {
            let (id, scopes, limits) = (record.id.clone(), record.scopes, record.limits);
            Ok(Principal::Key { id, tenant, scopes, limits })
        }
        None if record.scopes.has(Scope::Operator) => Ok(Principal::Operator { id: record.id.clone() }),
        None => Err(EngineError::Unauthenticated),
    }
}
