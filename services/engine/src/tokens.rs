//! Bearer tokens: a JWT of one of the tenant's issuers, to a principal.
//!
//! What a token says of itself decides nothing but which key to try: the algorithm is the key's, the key is the
//! issuer's, the issuer is the tenant's. Whatever is wrong, the caller gets the one answer that a bad key gets; the
//! reason is in the log, for who runs the platform.

mod claims;
mod key_set;
mod remote;

use std::sync::Arc;
use std::time::Duration;

use pleat_domain::{Principal, Raw, Scope, Scopes, Tenant, TenantId};
use pleat_egress::{BadConfig, EgressConfig};
use pleat_store::IssuerRecord;

use crate::engine::Engine;
use crate::error::EngineError;

use claims::{Refused, Token};
pub(crate) use key_set::KeySet;
use key_set::VerifyingKey;
pub use remote::KeySetTimes;
use remote::{FetchError, RemoteKeys};

/// Whether this is meant to be a token: three parts, of which the first is a JSON object in base64. Keys have no dots.
pub(crate) fn is_token(text: &str) -> bool {
    text.starts_with("ey") && text.bytes().filter(|byte| *byte == b'.').count() == 2
}

/// What is known of issuers and their keys.
pub(crate) struct Tokens {
    /// A change takes effect at once on the node that makes it and within this cache's time elsewhere.
    issuers: moka::sync::Cache<TenantId, Arc<Vec<Issuer>>>,
    remote: RemoteKeys,
}

struct Issuer {
    record: IssuerRecord,
    /// None: they are fetched.
    keys: Option<KeySet>,
}

impl Tokens {
    pub(crate) fn new(egress: &EgressConfig, times: KeySetTimes) -> Result<Self, BadConfig> {
        let issuers = moka::sync::Cache::builder().max_capacity(10_000).time_to_live(Duration::from_secs(2)).build();
        Ok(Self { issuers, remote: RemoteKeys::new(egress, times)? })
    }

    pub(crate) fn forget(&self, tenant: TenantId, issuer: &str) {
        self.issuers.invalidate(&tenant);
        self.remote.forget(tenant, issuer);
    }

    pub(crate) async fn fetch(&self, tenant: &Tenant, url: &str) -> Result<KeySet, FetchError> {
        self.remote.fetch(tenant, url).await
    }
}

impl Engine {
    pub(crate) async fn verify_token(
        &self,
        tenant: &Tenant,
        text: &str,
        audiences: Vec<String>,
    ) -> Result<Principal, EngineError> {
        let issuers = self.issuers(tenant).await?;
        let verified = self.verified(tenant, &issuers, text, audiences).await;
        verified.map_err(|refused| {
            tracing::debug!(tenant.id = %tenant.slug, reason = %refused, "a token was refused");
            EngineError::Unauthenticated
        })
    }

    async fn verified(
        &self,
        tenant: &Tenant,
        issuers: &[Issuer],
        text: &str,
        audiences: Vec<String>,
    ) -> Result<Principal, Refused> {
        let token = Token::parse(text)?;
        let issuer = issuers.iter().find(|issuer| issuer.record.issuer == token.issuer()).ok_or(Refused::Issuer)?;
        let key = match &issuer.keys {
            Some(keys) => keys.get(token.key_id()),
            None => self.remote_key(tenant, &issuer.record, token.key_id()).await,
        };
        let key = key.ok_or(Refused::Key)?;
        let audiences = if issuer.record.audiences.is_empty() { audiences } else { issuer.record.audiences.clone() };
        if audiences.is_empty() {
            return Err(Refused::Audience);
        }
        let claims = token.verified(|text| key.check(text, &issuer.record.issuer, &audiences))?;
        claims.check(tenant)?;
        Ok(Principal::Token {
            issuer: issuer.record.id.clone(),
            subject: claims.subject(),
            tenant: tenant.id,
            scopes: claims.scopes().intersection(issuer.record.scopes),
            limits: issuer.record.limits,
        })
    }

    /// Whose tokens this tenant takes, as tokens name them.
    pub async fn issuer_names(&self, tenant: &Tenant) -> Result<Vec<String>, EngineError> {
        let issuers = self.issuers(tenant).await?;
        Ok(issuers.iter().map(|issuer| issuer.record.issuer.clone()).collect())
    }

    /// The bearer of a token, from its name: for what made its task, which is to invoke.
    pub(crate) async fn bearer_behind(&self, tenant: &Tenant, name: &str) -> Result<Option<Principal>, EngineError> {
        let Some((issuer, subject)) = name.split_once(':') else { return Ok(None) };
        let issuers = self.issuers(tenant).await?;
        let found = issuers.iter().find(|known| known.record.id == issuer);
        Ok(found.map(|found| Principal::Token {
            issuer: issuer.to_owned(),
            subject: subject.to_owned(),
            tenant: tenant.id,
            scopes: Scopes::of([Scope::Invoke]).intersection(found.record.scopes),
            limits: found.record.limits,
        }))
    }

    async fn issuers(&self, tenant: &Tenant) -> Result<Arc<Vec<Issuer>>, EngineError> {
        if let Some(known) = self.inner.tokens.issuers.get(&tenant.id) {
            return Ok(known);
        }
        let records = self.tenant_store(tenant).list_issuers().await?;
        let issuers = Arc::new(records.into_iter().map(Issuer::of).collect::<Vec<_>>());
        self.inner.tokens.issuers.insert(tenant.id, Arc::clone(&issuers));
        Ok(issuers)
    }

    /// A key that is fetched. One that is getting old is used once more while the set is fetched again.
    async fn remote_key(&self, tenant: &Tenant, issuer: &IssuerRecord, id: &str) -> Option<Arc<VerifyingKey>> {
        let remote = self.inner.tokens.remote.of(tenant, issuer)?;
        let known = remote.get(id);
        if known.as_ref().is_some_and(|found| !found.is_old) {
            return known.map(|found| found.key);
        }
        if let Some(old) = known {
            if self.inner.tokens.remote.is_due(&remote) {
                let (engine, tenant) = (self.clone(), tenant.clone());
                let refreshing = async move { engine.inner.tokens.remote.refresh(&remote, &tenant).await };
                self.inner.tracker.spawn(refreshing);
            }
            return Some(old.key);
        }
        self.inner.tokens.remote.refresh(&remote, tenant).await;
        remote.get(id).map(|found| found.key)
    }
}

impl Issuer {
    fn of(record: IssuerRecord) -> Self {
        // It was read when it was stored: what cannot be read now has no keys.
        let parse = |jwks: &Raw| KeySet::parse(jwks.get().as_bytes()).unwrap_or_default();
        Self { keys: record.jwks.as_ref().map(parse), record }
    }
}
