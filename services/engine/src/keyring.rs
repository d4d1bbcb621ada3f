//! The master key and what is derived from it. Key material never leaves this module.

mod signer;
mod signing;
mod vault;

pub(crate) use signer::Signer;
pub(crate) use signing::SigningKey;
pub(crate) use vault::Vault;

use hmac::{Hmac, KeyInit, Mac};
use pleat_runtime::CodeKey;
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// 32 secret bytes from which every other key of the platform is derived.
#[derive(Clone)]
pub struct MasterKey([u8; 32]);

/// The text is not a master key.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the master key must be 64 hex digits; make one with `openssl rand -hex 32`")]
pub struct BadMasterKey;

impl MasterKey {
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub fn parse(text: &str) -> Result<Self, BadMasterKey> {
        let bytes = hex::decode(text.trim()).map_err(|_| BadMasterKey)?;
        bytes.try_into().map(Self).map_err(|_| BadMasterKey)
    }

    pub fn to_hex(&self) -> String {
        hex::encode(self.0)
    }

    /// The key for MACs of compiled code on disk.
    pub fn code_key(&self) -> CodeKey {
        CodeKey::from_bytes(mac(&keyed(&self.0), b"pleat/compiled-code/v1"))
    }

    /// Whether a database that keeps this was set up with this key.
    pub fn opens_check(&self, sealed: &[u8]) -> bool {
        Vault::new(self).knows_check(sealed)
    }
}

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("MasterKey(…)")
    }
}

/// Computes and compares the stored form of API keys.
#[derive(Clone)]
pub(crate) struct KeyHasher {
    template: Hmac<Sha256>,
}

impl KeyHasher {
    pub(crate) fn new(master: &MasterKey) -> Self {
        let derived = mac(&keyed(&master.0), b"pleat/api-keys/v1");
        Self { template: keyed(&derived) }
    }

    pub(crate) fn hash(&self, secret: &str) -> [u8; 32] {
        mac(&self.template, secret.as_bytes())
    }

    /// Compares in constant time. A key that does not exist is compared with nothing that can match, so that the
    /// same work is done for it.
    pub(crate) fn matches(&self, secret: &str, stored: Option<&[u8]>) -> bool {
        let computed = self.hash(secret);
        let against = stored.unwrap_or(&[0; 32]);
        bool::from(computed.as_slice().ct_eq(against)) && stored.is_some()
    }
}

/// Marks places in lists, so that nobody makes one up or takes it elsewhere.
pub(crate) struct PageSeal {
    template: Hmac<Sha256>,
}

impl PageSeal {
    const BYTES: usize = 16;

    pub(crate) fn new(master: &MasterKey) -> Self {
        Self { template: keyed(&mac(&keyed(&master.0), b"pleat/page-tokens/v1")) }
    }

    /// The parts count with their lengths: none can run into the next.
    pub(crate) fn mark(&self, parts: &[Vec<u8>]) -> Vec<u8> {
        let mut mac = self.template.clone();
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().iter().copied().take(Self::BYTES).collect()
    }

    pub(crate) fn is_mark(&self, parts: &[Vec<u8>], mark: &[u8]) -> bool {
        bool::from(self.mark(parts).as_slice().ct_eq(mark))
    }
}

impl MasterKey {
    /// Bytes for a key that belongs to the platform itself and is the same at every start.
    pub(crate) fn entropy_for(&self, purpose: &str) -> [u8; 64] {
        let template = keyed(&self.0);
        let mut entropy = [0; 64];
        for (counter, half) in entropy.chunks_mut(32).enumerate() {
            half.copy_from_slice(&mac(&template, format!("pleat/platform-keys/v1/{counter}/{purpose}").as_bytes()));
        }
        entropy
    }
}

fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    // HMAC pads a short key with zeros to its block of 64 bytes: this is the same key.
    let mut block = [0; 64];
    block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    Hmac::<Sha256>::new((&block).into())
}

fn mac(template: &Hmac<Sha256>, message: &[u8]) -> [u8; 32] {
    let mut mac = template.clone();
    mac.update(message);
    mac.finalize().into_bytes().into()
}
