//! The keys that sign cards: P-256, each following from the master key and its number, so that every node has them.

use aws_lc_rs::agreement::{ECDH_P256, PrivateKey};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{MasterKey, keyed, mac};

pub(crate) struct SigningKey {
    pair: EcdsaKeyPair,
    x: String,
    y: String,
    id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no signing key follows from this master key")]
pub(crate) struct NoKey;

impl SigningKey {
    pub(crate) fn derive(master: &MasterKey, number: i32) -> Result<Self, NoKey> {
        let template = keyed(&master.0);
        // Of 2^32 numbers of 256 bits about one is no private key of this curve: then the next is taken.
        let tries = (0..8_u8).map(|attempt| format!("pleat/card-keys/v1/{number}/{attempt}"));
        let mut keys =
            tries.filter_map(|purpose| Self::from_scalar(&Zeroizing::new(mac(&template, purpose.as_bytes()))));
        keys.next().ok_or(NoKey)
    }

    fn from_scalar(scalar: &[u8; 32]) -> Option<Self> {
        let public = PrivateKey::from_private_key(&ECDH_P256, scalar).ok()?.compute_public_key().ok()?;
        let point = public.as_ref();
        let pair =
            EcdsaKeyPair::from_private_key_and_public_key(&ECDSA_P256_SHA256_FIXED_SIGNING, scalar, point).ok()?;
        // SEC 1, 2.3.3: a byte that says that the point is not compressed, then its coordinates.
        let (x, y) = point.get(1..)?.split_at_checked(32)?;
        let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
        // RFC 7638: the members that make the key, in their order, without spaces.
        let members = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
        let id = URL_SAFE_NO_PAD.encode(Sha256::digest(members));
        Some(Self { pair, x, y, id })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The public half (RFC 7517).
    pub(crate) fn jwk(&self) -> Value {
        json!({
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.id, "x": self.x, "y": self.y,
        })
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, NoKey> {
        let signature = self.pair.sign(&SystemRandom::new(), message).map_err(|_| NoKey)?;
        Ok(signature.as_ref().to_vec())
    }
}
