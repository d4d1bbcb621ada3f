//! Signatures over a card: detached JWS (RFC 7515) over the canonical form. The key itself is somebody else's to hold.
//!
//! Readers differ in what they canonicalize: the card as it came, what 1.0 sees of it, or that without anything empty.
//! A card carries a signature for each of these forms that differs from the others; one that fits is enough.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use super::{canonical, schema};

/// What a signature speaks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// Every field of the card.
    Whole,
    /// The fields of 1.0, without those that have their default.
    Fields10,
    /// The same without anything empty, wherever it stands: what the official libraries sign.
    Filled10,
}

impl Coverage {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "the whole card",
            Self::Fields10 | Self::Filled10 => "the fields of A2A 1.0",
        }
    }
}

/// The forms of a card in which a signature can be looked for, each once.
pub fn payloads(card: &Map<String, Value>) -> Vec<(Coverage, String)> {
    let mut whole = card.clone();
    whole.remove("signatures");
    let fields = Value::Object(schema::project(card));
    let filled = filled(&fields).unwrap_or_else(|| json!({}));
    let forms = [(Coverage::Whole, Value::Object(whole)), (Coverage::Fields10, fields), (Coverage::Filled10, filled)];
    let mut all: Vec<(Coverage, String)> = Vec::new();
    for (coverage, form) in forms {
        let text = canonical::write(&form);
        if all.iter().all(|(_, known)| *known != text) {
            all.push((coverage, text));
        }
    }
    all
}

/// Without empty texts, lists, objects and nulls.
fn filled(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::Array(items) => {
            let items: Vec<Value> = items.iter().filter_map(filled).collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Value::Object(fields) => {
            let fields: Map<String, Value> =
                fields.iter().filter_map(|(name, value)| Some((name.clone(), filled(value)?))).collect();
            (!fields.is_empty()).then_some(Value::Object(fields))
        }
        other => Some(other.clone()),
    }
}

/// Whose signature it is.
#[derive(Debug, Clone, Copy)]
pub struct Signer<'a> {
    pub key_id: &'a str,
    /// Where the key set is.
    pub key_set_url: &'a str,
}

/// The card with its signatures; `sign` makes the 64 bytes of ES256.
pub fn signed<E>(
    mut card: Map<String, Value>,
    signer: Signer<'_>,
    sign: impl Fn(&[u8]) -> Result<Vec<u8>, E>,
) -> Result<Map<String, Value>, E> {
    let header = json!({ "alg": "ES256", "typ": "JOSE", "kid": signer.key_id, "jku": signer.key_set_url });
    let protected = URL_SAFE_NO_PAD.encode(header.to_string());
    let entry = |(_, payload): (Coverage, String)| {
        let signature = sign(signing_input(&protected, &payload).as_bytes())?;
        Ok(json!({ "protected": protected, "signature": URL_SAFE_NO_PAD.encode(signature) }))
    };
    let signatures: Vec<Value> = payloads(&card).into_iter().map(entry).collect::<Result<_, E>>()?;
    card.insert("signatures".to_owned(), Value::Array(signatures));
    Ok(card)
}

fn signing_input(protected: &str, payload: &str) -> String {
    format!("{protected}.{}", URL_SAFE_NO_PAD.encode(payload))
}

/// One entry of `signatures`, taken apart. Nothing in it is to be believed before it has been checked.
#[derive(Debug, Clone)]
pub struct Signature {
    pub algorithm: String,
    pub key_id: String,
    pub key_set_url: Option<String>,
    /// In base64.
    pub signature: String,
    protected: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSignature {
    #[error("it is no object with `protected` and `signature` in base64url")]
    Malformed,
    #[error("its header names no `alg` and `kid`")]
    Nameless,
    #[error("its header demands extensions (`crit`) that are not known here")]
    Critical,
}

impl Signature {
    pub fn parse(entry: &Value) -> Result<Self, BadSignature> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).ok_or(BadSignature::Malformed);
        let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| BadSignature::Malformed);
        let (protected, signature) = (text("protected")?, text("signature")?);
        decoded(signature)?;
        let header: Value = serde_json::from_slice(&decoded(protected)?).map_err(|_| BadSignature::Malformed)?;
        if header.get("crit").is_some() {
            return Err(BadSignature::Critical);
        }
        let named = |name: &str| header.get(name).and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            algorithm: named("alg").ok_or(BadSignature::Nameless)?,
            key_id: named("kid").ok_or(BadSignature::Nameless)?,
            key_set_url: named("jku"),
            signature: signature.to_owned(),
            protected: protected.to_owned(),
        })
    }

    /// What was signed, if it was this payload.
    pub fn input(&self, payload: &str) -> String {
        signing_input(&self.protected, payload)
    }
}
