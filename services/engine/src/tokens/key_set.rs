//! The public keys of an issuer (RFC 7517), each with the one algorithm that it is for.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RsaParameters,
    RsaPublicKeyComponents,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::claims::{LEEWAY_SECONDS, Refused, is_key_id};

const MOST_KEYS: usize = 32;
const COORDINATE_BYTES: usize = 32;
/// 2048 to 8192 bits.
const MODULUS_BYTES: RangeInclusive<usize> = 256..=1024;
static RS256: RsaParameters = RSA_PKCS1_2048_8192_SHA256;

/// Keys by their ids.
#[derive(Default)]
pub(crate) struct KeySet(HashMap<String, Arc<VerifyingKey>>);

pub(crate) struct VerifyingKey {
    /// From the key, never from a token: a token that could choose would choose the one it can forge.
    algorithm: Algorithm,
    key: DecodingKey,
}

impl VerifyingKey {
    /// Signature, algorithm, times, issuer and audience of a token. What the library leaves open is closed here.
    pub(crate) fn check(&self, token: &str, issuer: &str, audiences: &[String]) -> Result<(), Refused> {
        let mut wanted = Validation::new(self.algorithm);
        wanted.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        wanted.set_issuer(&[issuer]);
        wanted.set_audience(audiences);
        wanted.validate_nbf = true;
        wanted.leeway = LEEWAY_SECONDS;
        let decoded = jsonwebtoken::decode::<IgnoredAny>(token, &self.key, &wanted);
        decoded.map(|_| ()).map_err(|error| match error.kind() {
            ErrorKind::InvalidAlgorithm | ErrorKind::InvalidAlgorithmName => Refused::Algorithm,
            ErrorKind::InvalidSignature => Refused::Signature,
            ErrorKind::ExpiredSignature => Refused::Expired,
            ErrorKind::ImmatureSignature => Refused::NotYet,
            ErrorKind::InvalidIssuer => Refused::Issuer,
            ErrorKind::InvalidAudience => Refused::Audience,
            _ => Refused::Malformed,
        })
    }
}

impl VerifyingKey {
    /// A signature (in base64) over something that is no token.
    pub(crate) fn signed(&self, algorithm: &str, message: &[u8], signature: &str) -> bool {
        let agrees = algorithm.parse::<Algorithm>().is_ok_and(|named| named == self.algorithm);
        agrees && jsonwebtoken::crypto::verify(signature, message, &self.key, self.algorithm).unwrap_or(false)
    }
}

/// Why a set of keys is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadKeySet {
    #[error("it is not a JSON object with an array `keys`")]
    Malformed,
    #[error("it holds a private key; publish the public part only, and use new keys: these are no longer secret")]
    Private,
    #[error("it has more than {MOST_KEYS} keys")]
    TooMany,
    #[error("two keys have the id `{0}`")]
    Duplicate(String),
    #[error("no key in it is an Ed25519, P-256 or RSA (2048 bits and more) public key with a plain `kid`")]
    NoneUsable,
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Key>,
}

#[derive(Deserialize)]
struct Key {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
    d: Option<IgnoredAny>,
    k: Option<IgnoredAny>,
}

impl KeySet {
    /// Keys that are for something else are passed over, as sets often hold some.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, BadKeySet> {
        // JSON is text, also where nobody looks: what is passed over would be read whatever its bytes are.
        let text = std::str::from_utf8(bytes).map_err(|_| BadKeySet::Malformed)?;
        let document: Document = serde_json::from_str(text).map_err(|_| BadKeySet::Malformed)?;
        if document.keys.len() > MOST_KEYS {
            return Err(BadKeySet::TooMany);
        }
        if document.keys.iter().any(|key| key.d.is_some() || key.k.is_some()) {
            return Err(BadKeySet::Private);
        }
        let mut keys = HashMap::new();
        for key in document.keys {
            let (Some(verifying), Some(id)) = (key.verifying(), key.kid.filter(|id| is_key_id(id))) else { continue };
            if keys.insert(id.clone(), Arc::new(verifying)).is_some() {
                return Err(BadKeySet::Duplicate(id));
            }
        }
        if keys.is_empty() { Err(BadKeySet::NoneUsable) } else { Ok(Self(keys)) }
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<VerifyingKey>> {
        self.0.get(id).cloned()
    }
}

impl Key {
    /// Points and moduli are checked now, not when the key is first used.
    fn verifying(&self) -> Option<VerifyingKey> {
        if self.purpose.as_deref().is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let (algorithm, name, key) = match (self.kty.as_str(), self.crv.as_deref()) {
            ("OKP", Some("Ed25519")) => {
                let x = coordinate(&self.x)?;
                ParsedPublicKey::new(&ED25519, &x).ok()?;
                (Algorithm::EdDSA, "EdDSA", DecodingKey::from_ed_der(&x))
            }
            ("EC", Some("P-256")) => {
                // SEC 1, 2.3.3: an uncompressed point.
                let point = [&[4], coordinate(&self.x)?.as_slice(), coordinate(&self.y)?.as_slice()].concat();
                ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &point).ok()?;
                (Algorithm::ES256, "ES256", DecodingKey::from_ec_der(&point))
            }
            ("RSA", _) => {
                let n = decode(&self.n).filter(|bytes| MODULUS_BYTES.contains(&bytes.len()))?;
                let e = decode(&self.e)?;
                RsaPublicKeyComponents { n: &n, e: &e }.to_parsed_public_key(&RS256).ok()?;
                (Algorithm::RS256, "RS256", DecodingKey::from_rsa_raw_components(&n, &e))
            }
            _ => return None,
        };
        let agrees = self.alg.as_deref().is_none_or(|said| said == name);
        agrees.then_some(VerifyingKey { algorithm, key })
    }
}

fn coordinate(text: &Option<String>) -> Option<Vec<u8>> {
    decode(text).filter(|bytes| bytes.len() == COORDINATE_BYTES)
}

fn decode(text: &Option<String>) -> Option<Vec<u8>> {
    text.as_ref().and_then(|text| URL_SAFE_NO_PAD.decode(text).ok())
}
