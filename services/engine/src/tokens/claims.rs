//! A token before its signature is checked, and what is asked of its claims beyond the standard (RFC 7515, 7519).
//!
//! Everything that is required is required by the types: a token without it is not one. Nothing here knows keys or
//! engines, so that a fuzz target can hold it against its rules.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pleat_domain::{Scope, Scopes, Tenant, json};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

const TOKEN_BYTES: usize = 8 << 10;
/// The longest that a token may live: who wants more has keys, which can be revoked.
const MOST_SECONDS: f64 = 24.0 * 60.0 * 60.0;
/// Clocks differ by this.
pub(crate) const LEEWAY_SECONDS: u64 = 5;
const SUBJECT_LETTERS: usize = 255;
const PLAIN_LETTERS: usize = 64;

/// Why a token is not taken. For the log only.
#[derive(Debug, Clone, Copy, thiserror::Error)]
pub(crate) enum Refused {
    #[error("it is longer than 8 KiB")]
    TooLong,
    #[error("it is no token, lacks something that every token has, or says something twice")]
    Malformed,
    #[error("its header demands something that is not known here")]
    Critical,
    #[error("nobody is registered as its issuer")]
    Issuer,
    #[error("its issuer has no such key")]
    Key,
    #[error("its algorithm is not that of the key")]
    Algorithm,
    #[error("its signature does not hold")]
    Signature,
    #[error("it has expired")]
    Expired,
    #[error("it is not valid yet")]
    NotYet,
    #[error("it lives longer than a day")]
    Lifetime,
    #[error("it was made for somebody else")]
    Audience,
    #[error("its subject is empty or too long")]
    Subject,
    #[error("it was made for another tenant")]
    Tenant,
}

/// A token whose signature nobody has checked. All that may be asked of it is which key to check it with.
pub(crate) struct Token<'a> {
    header: Header,
    claims: Claims,
    text: &'a str,
}

/// A key or an algorithm that the header brings along is not even read.
#[derive(Deserialize)]
struct Header {
    kid: String,
    #[serde(default, deserialize_with = "present")]
    crit: bool,
}

#[derive(Deserialize)]
pub(crate) struct Claims {
    iss: String,
    sub: String,
    exp: f64,
    iat: Option<f64>,
    scope: Option<String>,
    tenant: Option<String>,
}

impl<'a> Token<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self, Refused> {
        if text.len() > TOKEN_BYTES {
            return Err(Refused::TooLong);
        }
        let (signed, _) = text.rsplit_once('.').ok_or(Refused::Malformed)?;
        let (header, claims) = signed.split_once('.').ok_or(Refused::Malformed)?;
        let header: Header = read(header)?;
        // RFC 7515, 4.1.11: what is critical and not understood makes the token invalid. We understand none.
        if header.crit {
            return Err(Refused::Critical);
        }
        if !is_key_id(&header.kid) {
            return Err(Refused::Key);
        }
        Ok(Self { header, claims: read(claims)?, text })
    }

    pub(crate) fn issuer(&self) -> &str {
        &self.claims.iss
    }

    pub(crate) fn key_id(&self) -> &str {
        &self.header.kid
    }

    /// The claims, once somebody has checked the whole token with a key.
    pub(crate) fn verified(self, check: impl FnOnce(&str) -> Result<(), Refused>) -> Result<Claims, Refused> {
        check(self.text)?;
        Ok(self.claims)
    }
}

impl Claims {
    /// What is asked beyond the standard: when it was issued, for how long, to whom, for which tenant.
    pub(crate) fn check(&self, tenant: &Tenant) -> Result<(), Refused> {
        let now = OffsetDateTime::now_utc().unix_timestamp() as f64;
        let issued = self.iat.unwrap_or(now);
        if issued > now + LEEWAY_SECONDS as f64 {
            return Err(Refused::NotYet);
        }
        if self.exp - issued.min(now) > MOST_SECONDS {
            return Err(Refused::Lifetime);
        }
        if self.sub.is_empty() || self.sub.chars().count() > SUBJECT_LETTERS {
            return Err(Refused::Subject);
        }
        // The route decides about the tenant; a token has to agree.
        match &self.tenant {
            Some(named) if named != tenant.slug.as_str() => Err(Refused::Tenant),
            _ => Ok(()),
        }
    }

    /// Words of others (`openid`, `email`) mean nothing here.
    pub(crate) fn scopes(&self) -> Scopes {
        let words = self.scope.as_deref().unwrap_or_default().split(' ');
        Scopes::of(words.filter_map(|word| word.parse::<Scope>().ok()))
    }

    /// As it stands in a caller's name: itself where it is plain, else its hash, which no plain one looks like.
    pub(crate) fn subject(&self) -> String {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._@+-|".contains(&byte);
        if self.sub.len() <= PLAIN_LETTERS && self.sub.bytes().all(plain) {
            return self.sub.clone();
        }
        format!("sha256:{}", hex::encode(Sha256::digest(self.sub.as_bytes())))
    }
}

pub(crate) fn is_key_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(plain)
}

fn decode(part: &str) -> Result<Vec<u8>, Refused> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| Refused::Malformed)
}

fn read<T: DeserializeOwned>(part: &str) -> Result<T, Refused> {
    let bytes = decode(part)?;
    // Two readers of one token must not see different things in it.
    json::check(&bytes).map_err(|_| Refused::Malformed)?;
    // A derived struct would also read from an array, field by field.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(Refused::Malformed);
    }
    serde_json::from_slice(&bytes).map_err(|_| Refused::Malformed)
}

/// Whether a field is there, whatever it says.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Value::deserialize(deserializer).map(|_| true)
}
