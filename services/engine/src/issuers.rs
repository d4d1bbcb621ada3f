//! Who may issue tokens for a tenant: registered, listed, given new keys, removed.

use pleat_domain::{AuditAction, KeyLimits, Principal, Raw, Scope, Scopes, Tenant, json as strict};
use pleat_policy::Action;
use pleat_store::{IssuerRecord, NewIssuer};
use serde_json::json;

use crate::admin::within;
use crate::audit::{scope_names, with_details};
use crate::engine::{Engine, authorize};
use crate::error::EngineError;
use crate::tokens::KeySet;

const MOST_ISSUERS: usize = 20;
const MOST_AUDIENCES: usize = 10;
const MOST_LETTERS: usize = 255;

#[derive(Debug, Clone)]
pub struct NewIssuerRequest {
    /// As tokens name it in `iss`.
    pub issuer: String,
    /// None: the tenant's own addresses.
    pub audiences: Vec<String>,
    pub keys: KeySource,
    /// The most that a token may do.
    pub scopes: Scopes,
    /// What each subject may use; at most what who asks may.
    pub limits: KeyLimits,
}

#[derive(Debug, Clone)]
pub enum KeySource {
    Given(Raw),
    Url(String),
}

impl Engine {
    /// Where a client can get a token for this tenant: no secret.
    pub async fn authorization_servers(&self, tenant: &Tenant) -> Result<Vec<String>, EngineError> {
        let issuers = self.issuer_names(tenant).await?;
        let is_address = |issuer: &String| issuer.starts_with("https://") || issuer.starts_with("http://");
        Ok(issuers.into_iter().filter(is_address).collect())
    }

    /// Keys at a URL are fetched at once, so that a mistake is told to whoever makes it.
    pub async fn create_issuer(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        request: NewIssuerRequest,
    ) -> Result<IssuerRecord, EngineError> {
        authorize(principal, Action::ManageIssuers, EngineError::UnknownTenant)?;
        check(&request)?;
        within(principal, request.scopes)?;
        let store = self.tenant_store(tenant);
        if store.list_issuers().await?.len() >= MOST_ISSUERS {
            return Err(invalid(format!("a tenant has at most {MOST_ISSUERS} issuers; remove one")));
        }
        let (jwks, jwks_url) = match request.keys {
            KeySource::Given(jwks) => {
                read(&jwks)?;
                (Some(jwks), None)
            }
            KeySource::Url(url) => {
                let fetched = self.inner.tokens.fetch(tenant, &url).await;
                fetched.map_err(|error| invalid(format!("the key set at that URL cannot be used: {error}")))?;
                (None, Some(url))
            }
        };
        let new = NewIssuer {
            id: fresh_id(),
            issuer: request.issuer,
            audiences: request.audiences,
            jwks,
            jwks_url,
            scopes: request.scopes,
            limits: request.limits.within(principal.limits()),
            created_by: principal.caller().to_string(),
        };
        let entry = self.audit_entry(principal, AuditAction::IssuerAdd, &new.id).await;
        let details = json!({ "issuer": new.issuer, "scopes": scope_names(new.scopes), "jwksUrl": new.jwks_url });
        let record = store.audited(with_details(entry, details)).insert_issuer(new).await?;
        self.inner.tokens.forget(tenant.id, &record.id);
        Ok(record)
    }

    pub async fn list_issuers(&self, tenant: &Tenant, principal: &Principal) -> Result<Vec<IssuerRecord>, EngineError> {
        authorize(principal, Action::ManageIssuers, EngineError::UnknownTenant)?;
        Ok(self.tenant_store(tenant).list_issuers().await?)
    }

    /// New keys in place of those that were given, for all tokens from now on.
    pub async fn replace_issuer_keys(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        id: &str,
        jwks: &Raw,
    ) -> Result<(), EngineError> {
        authorize(principal, Action::ManageIssuers, EngineError::UnknownTenant)?;
        read(jwks)?;
        let replaced =
            self.audited(tenant, principal, AuditAction::IssuerKeys, id).await.replace_keys(id, jwks).await?;
        self.inner.tokens.forget(tenant.id, id);
        if replaced { Ok(()) } else { Err(missing("issuer with keys of its own", id)) }
    }

    pub async fn delete_issuer(&self, tenant: &Tenant, principal: &Principal, id: &str) -> Result<(), EngineError> {
        authorize(principal, Action::ManageIssuers, EngineError::UnknownTenant)?;
        let deleted = self.audited(tenant, principal, AuditAction::IssuerDelete, id).await.delete_issuer(id).await?;
        self.inner.tokens.forget(tenant.id, id);
        if deleted { Ok(()) } else { Err(missing("issuer", id)) }
    }
}

fn check(request: &NewIssuerRequest) -> Result<(), EngineError> {
    let is_name = |text: &str| {
        !text.is_empty() && text.chars().count() <= MOST_LETTERS && !text.contains(|letter: char| letter.is_control())
    };
    if !is_name(&request.issuer) || !request.audiences.iter().all(|audience| is_name(audience)) {
        return Err(invalid(format!("an issuer and an audience have 1 to {MOST_LETTERS} characters each")));
    }
    if request.audiences.len() > MOST_AUDIENCES {
        return Err(invalid(format!("an issuer has at most {MOST_AUDIENCES} audiences")));
    }
    if request.scopes.is_empty() || request.scopes.has(Scope::Operator) {
        return Err(invalid("name the scopes that tokens may have: invoke, read, deploy or admin".to_owned()));
    }
    Ok(())
}

fn read(jwks: &Raw) -> Result<KeySet, EngineError> {
    strict::check(jwks.get().as_bytes()).map_err(|fault| invalid(format!("the key set cannot be read: {fault}")))?;
    KeySet::parse(jwks.get().as_bytes()).map_err(|error| invalid(format!("the key set cannot be used: {error}")))
}

/// Part of a caller's name, so short and plain.
fn fresh_id() -> String {
    let random = uuid::Uuid::now_v7().simple().to_string();
    random.chars().skip(random.len().saturating_sub(12)).collect()
}

fn invalid(text: String) -> EngineError {
    EngineError::Invalid(text)
}

fn missing(what: &'static str, id: &str) -> EngineError {
    EngineError::NotFound { what, name: id.chars().take(20).collect() }
}
