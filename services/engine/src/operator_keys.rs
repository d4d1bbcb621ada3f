//! Keys of operators: created, listed, rotated, revoked; and the way back for an operator who has lost all of them.
//!
//! The first one follows from the master key and a generation, the lowest that is not in the database yet when it is made.

use pleat_domain::key::ApiKey;
use pleat_domain::{AuditAction, Principal, Scope, Scopes};
use pleat_policy::Action;
use pleat_store::{AuditEntry, KeyRecord, Store};
use serde_json::json;
use time::OffsetDateTime;

use crate::admin::{MintedKey, NewKeyRequest, minted, random_key, stored};
use crate::audit::{system_entry, with_details};
use crate::engine::{Engine, authorize};
use crate::error::EngineError;
use crate::keyring::{KeyHasher, MasterKey};

const MAX_LABEL: usize = 100;
/// Working ones; whoever wants another has to revoke one.
const MAX_OPERATOR_KEYS: usize = 100;

fn request(label: &str, expires_at: Option<OffsetDateTime>) -> Result<NewKeyRequest, EngineError> {
    if label.chars().count() > MAX_LABEL {
        return Err(EngineError::Invalid(format!("a label has at most {MAX_LABEL} characters")));
    }
    if expires_at.is_some_and(|at| at <= OffsetDateTime::now_utc()) {
        return Err(EngineError::Invalid("`expiresAt` must be in the future".to_owned()));
    }
    Ok(NewKeyRequest { label: label.to_owned(), expires_at, ..NewKeyRequest::of(Scopes::of([Scope::Operator])) })
}

impl Engine {
    pub async fn operator_keys(&self, principal: &Principal) -> Result<Vec<KeyRecord>, EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        Ok(self.inner.store.operator_keys().await?)
    }

    pub async fn create_operator_key(
        &self,
        principal: &Principal,
        label: &str,
        expires_at: Option<OffsetDateTime>,
    ) -> Result<MintedKey, EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        let request = request(label, expires_at)?;
        let working = self.inner.store.operator_keys().await?.iter().filter(|key| key.revoked_at.is_none()).count();
        if working >= MAX_OPERATOR_KEYS {
            return Err(EngineError::Invalid(format!(
                "there are at most {MAX_OPERATOR_KEYS} operator keys; revoke one"
            )));
        }
        let entry = self.audit_entry(principal, AuditAction::OperatorKeyCreate, "").await;
        self.mint(None, &request, principal.caller().as_str(), entry).await
    }

    /// The old key ends at once. One that follows from the master key is replaced by the next that does, so that the
    /// servers of an installation still know the same one.
    pub async fn rotate_operator_key(&self, principal: &Principal, id: &str) -> Result<MintedKey, EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        let known = self.inner.store.operator_keys().await?;
        let old = known.iter().find(|key| key.id == id && key.revoked_at.is_none()).ok_or_else(|| missing(id))?;
        let derived = old.created_by == "bootstrap";
        let key = match derived {
            true => self.next_derived(&known, &old.label),
            false => random_key()?,
        };
        let request = request(&old.label, old.expires_at)?;
        let created_by = if derived { "bootstrap".to_owned() } else { principal.caller().to_string() };
        let entry = self.audit_entry(principal, AuditAction::OperatorKeyRotate, id).await;
        let entry = with_details(entry, json!({ "new": key.id(), "label": old.label }));
        let record = stored(&self.inner.hasher, &key, &request, &created_by);
        let rotated = self.inner.store.rotate_operator_key(id, record, &entry).await?;
        self.inner.keys.forget(id);
        if rotated { Ok(minted(&key, request)) } else { Err(missing(id)) }
    }

    /// The last working one stays, unless `force`.
    pub async fn revoke_operator_key(&self, principal: &Principal, id: &str, force: bool) -> Result<(), EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        let entry = self.audit_entry(principal, AuditAction::OperatorKeyRevoke, id).await;
        let entry = with_details(entry, json!({ "forced": force }));
        let revoked = self.inner.store.revoke_operator_key(id, force, &entry).await?;
        self.inner.keys.forget(id);
        if revoked { Ok(()) } else { Err(missing(id)) }
    }

    /// For `pleat serve`: the operator key that follows from the master key. `None` once it was revoked and not rotated:
    /// a restart does not bring back what an operator has taken away.
    pub async fn first_operator_key(&self) -> Result<Option<MintedKey>, EngineError> {
        let known = self.inner.store.operator_keys().await?;
        let derived = known.iter().filter(|key| key.created_by == "bootstrap");
        if derived.clone().next().is_some() && derived.clone().all(|key| key.revoked_at.is_some()) {
            return Ok(None);
        }
        self.bootstrap_key(None, Scopes::of([Scope::Operator]), "operator").await.map(Some)
    }

    /// The first that is not in the database.
    fn next_derived(&self, known: &[KeyRecord], label: &str) -> ApiKey {
        let derive = |generation: u32| {
            let purpose = format!("platform/{label}/{generation}");
            ApiKey::from_entropy(&self.inner.config.master_key.entropy_for(&purpose))
        };
        let mut generation = 0;
        loop {
            let key = derive(generation);
            if known.iter().all(|record| record.id != key.id()) {
                return key;
            }
            generation += 1;
        }
    }
}

/// For the command on the node: a new operator key, made with the master key and access to the database alone.
pub async fn recover_operator_key(store: &Store, master: &MasterKey) -> Result<MintedKey, EngineError> {
    let request = request("recovered", None)?;
    let key = random_key()?;
    let entry = system_entry(AuditAction::OperatorKeyRecover, key.id());
    let entry = AuditEntry { actor_kind: "local", actor: "pleat operator-keys recover".to_owned(), ..entry };
    let record = stored(&KeyHasher::new(master), &key, &request, "recover");
    store.insert_operator_key(record, &entry).await?;
    Ok(minted(&key, request))
}

fn missing(id: &str) -> EngineError {
    // Not more than an id is long: who sends a whole key by mistake must not find it in an error.
    EngineError::NotFound { what: "operator key", name: id.chars().take(10).collect() }
}
