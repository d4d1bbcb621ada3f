//! The platform's keys for agent cards: which one signs, which are published, and how one takes another's place.
//!
//! A new key is published before it signs, so that no node shows a signature that another node's key set cannot check.
//! The one before stays published until it is revoked: cards that somebody has kept can still be checked.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pleat_domain::{AuditAction, Principal};
use pleat_policy::Action;
use pleat_store::CardKeyRow;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::engine::{Engine, authorize};
use crate::error::EngineError;
use crate::keyring::SigningKey;
use crate::tokens::KeySet;

/// How long a node may go on with what it knows. A key settles later than this.
const STALE: Duration = Duration::from_secs(2);
/// Whoever wants another has to revoke one.
const MOST_KEYS: usize = 16;

pub(crate) struct CardKeyCache(moka::sync::Cache<(), Arc<CardSigner>>);

impl CardKeyCache {
    pub(crate) fn new() -> Self {
        Self(moka::sync::Cache::builder().max_capacity(1).time_to_live(STALE).build())
    }
}

/// The key that signs now, and all that are published.
pub struct CardSigner {
    key: SigningKey,
    published: Vec<CardKey>,
    key_set: Bytes,
}

/// A published key.
#[derive(Debug, Clone)]
pub struct CardKey {
    pub id: String,
    pub created_at: OffsetDateTime,
    /// Cards are signed with this one.
    pub signs: bool,
    number: i32,
}

impl CardSigner {
    pub fn key_id(&self) -> &str {
        self.key.id()
    }

    /// The 64 bytes of an ES256 signature.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, EngineError> {
        self.key.sign(message).map_err(|error| EngineError::Internal(Box::new(error)))
    }

    /// The JSON Web Key Set (RFC 7517) that checks what any of these keys signed.
    pub fn key_set(&self) -> Bytes {
        self.key_set.clone()
    }

    /// When cards began to be signed with this key.
    pub fn since(&self) -> OffsetDateTime {
        let signing = self.published.iter().find(|key| key.signs);
        signing.map_or(OffsetDateTime::UNIX_EPOCH, |key| key.created_at)
    }
}

impl Engine {
    pub async fn card_signer(&self) -> Result<Arc<CardSigner>, EngineError> {
        if let Some(known) = self.inner.card_keys.0.get(&()) {
            return Ok(known);
        }
        let signer = Arc::new(self.derive_keys(&self.inner.store.card_keys().await?)?);
        self.inner.card_keys.0.insert((), Arc::clone(&signer));
        Ok(signer)
    }

    pub async fn list_card_keys(&self, principal: &Principal) -> Result<Vec<CardKey>, EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        Ok(self.renewed_signer().await?.published.clone())
    }

    /// Another key, which signs as soon as every node has published it.
    pub async fn add_card_key(&self, principal: &Principal) -> Result<Vec<CardKey>, EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        if self.inner.store.card_keys().await?.len() >= MOST_KEYS {
            let text = format!("at most {MOST_KEYS} keys are published at once; revoke one that is no longer needed");
            return Err(EngineError::Invalid(text));
        }
        let entry = self.audit_entry(principal, AuditAction::CardKeyRotate, "").await;
        self.inner.store.add_card_key(&entry).await?;
        Ok(self.renewed_signer().await?.published.clone())
    }

    /// From now on nothing that this key signed is good. Where it was the newest, another takes its place.
    pub async fn revoke_card_key(&self, principal: &Principal, id: &str) -> Result<(), EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        let signer = self.renewed_signer().await?;
        let unknown = || EngineError::NotFound { what: "card key", name: id.chars().take(43).collect() };
        let key = signer.published.iter().find(|key| key.id == id).ok_or_else(unknown)?;
        if signer.published.iter().all(|other| other.number <= key.number) {
            let entry = self.audit_entry(principal, AuditAction::CardKeyRotate, "").await;
            self.inner.store.add_card_key(&entry).await?;
        }
        let entry = self.audit_entry(principal, AuditAction::CardKeyRevoke, id).await;
        let revoked = self.inner.store.revoke_card_key(key.number, &entry).await?;
        self.renewed_signer().await?;
        if revoked { Ok(()) } else { Err(unknown()) }
    }

    async fn renewed_signer(&self) -> Result<Arc<CardSigner>, EngineError> {
        self.inner.card_keys.0.invalidate(&());
        self.card_signer().await
    }

    fn derive_keys(&self, rows: &[CardKeyRow]) -> Result<CardSigner, EngineError> {
        let internal = |error| EngineError::Internal(Box::new(error));
        let derive = |number| SigningKey::derive(&self.inner.config.master_key, number).map_err(internal);
        let newest = rows.iter().find(|row| row.settled).or(rows.first());
        let newest = newest.ok_or_else(|| EngineError::Internal("there is no key to sign cards with".into()))?;
        let mut published = Vec::new();
        let mut set: Vec<Value> = Vec::new();
        for row in rows {
            let key = derive(row.number)?;
            set.push(key.jwk());
            let (id, signs) = (key.id().to_owned(), row.number == newest.number);
            published.push(CardKey { id, created_at: row.created_at, signs, number: row.number });
        }
        let key_set = Bytes::from(json!({ "keys": set }).to_string());
        Ok(CardSigner { key: derive(newest.number)?, published, key_set })
    }
}

/// Somebody's published keys, for whoever checks a signature that was made with one of them.
pub struct PublicKeys(KeySet);

impl PublicKeys {
    pub fn parse(document: &[u8]) -> Result<Self, EngineError> {
        let keys = KeySet::parse(document);
        keys.map(Self).map_err(|error| EngineError::Invalid(format!("the key set cannot be used: {error}")))
    }

    pub fn has(&self, key_id: &str) -> bool {
        self.0.get(key_id).is_some()
    }

    /// The algorithm has to be the one that the key is for; the signature is in base64.
    pub fn check(&self, key_id: &str, algorithm: &str, signed: &[u8], signature: &str) -> bool {
        self.0.get(key_id).is_some_and(|key| key.signed(algorithm, signed, signature))
    }
}
