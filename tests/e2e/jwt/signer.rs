//! Keys, signatures and tokens, put together here so that they can be wrong in every way.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

pub struct Signer {
    pub id: &'static str,
    key: Key,
}

enum Key {
    Edwards(Ed25519KeyPair),
    Curve(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

impl Signer {
    pub fn edwards(id: &'static str) -> Self {
        Self { id, key: Key::Edwards(Ed25519KeyPair::generate().unwrap()) }
    }

    pub fn curve(id: &'static str) -> Self {
        Self { id, key: Key::Curve(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap()) }
    }

    pub fn rsa(id: &'static str) -> Self {
        Self { id, key: Key::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).unwrap()) }
    }

    pub fn algorithm(&self) -> &'static str {
        match self.key {
            Key::Edwards(_) => "EdDSA",
            Key::Curve(_) => "ES256",
            Key::Rsa(_) => "RS256",
        }
    }

    /// The public key, as the primitives write it.
    pub fn public(&self) -> Vec<u8> {
        match &self.key {
            Key::Edwards(key) => key.public_key().as_ref().to_vec(),
            Key::Curve(key) => key.public_key().as_ref().to_vec(),
            Key::Rsa(key) => key.public_key().as_ref().to_vec(),
        }
    }

    /// The public key as a JSON Web Key.
    pub fn jwk(&self) -> Value {
        let public = self.public();
        match self.key {
            Key::Edwards(_) => json!({ "kty": "OKP", "crv": "Ed25519", "kid": self.id, "x": text(&public) }),
            Key::Curve(_) => {
                let (x, y) = public[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "kid": self.id, "x": text(x), "y": text(y), "use": "sig" })
            }
            // A sequence of two integers; the first begins after nine bytes of lengths and sign.
            Key::Rsa(_) => {
                let modulus = &public[9..9 + 256];
                json!({ "kty": "RSA", "kid": self.id, "n": text(modulus), "e": "AQAB", "alg": "RS256" })
            }
        }
    }

    pub fn header(&self) -> Value {
        json!({ "typ": "JWT", "alg": self.algorithm(), "kid": self.id })
    }

    pub fn token(&self, claims: &Value) -> String {
        self.token_with(&self.header(), claims)
    }

    pub fn token_with(&self, header: &Value, claims: &Value) -> String {
        compose(&header.to_string(), &claims.to_string(), |message| self.sign(message))
    }

    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        match &self.key {
            Key::Edwards(key) => key.sign(message).as_ref().to_vec(),
            Key::Curve(key) => key.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec(),
            Key::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature).unwrap();
                signature
            }
        }
    }
}

pub fn key_set(keys: &[&Signer]) -> Value {
    json!({ "keys": keys.iter().map(|key| key.jwk()).collect::<Vec<_>>() })
}

/// Any header, any claims, any signature.
pub fn compose(header: &str, claims: &str, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", text(header.as_bytes()), text(claims.as_bytes()));
    let signature = sign(message.as_bytes());
    format!("{message}.{}", text(&signature))
}

pub fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
