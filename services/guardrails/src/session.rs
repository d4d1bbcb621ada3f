//! What one task remembers: the key of its hashes, and which value got which placeholder.

use std::collections::BTreeMap;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::fold::Folded;
use crate::kind::Kind;

/// Values beyond these share a placeholder without a number.
const MOST: usize = 10_000;

/// Which value has which placeholder, without the values: can be kept with a task and gone on with later.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbering {
    /// Placeholders by kind and hash.
    seen: BTreeMap<String, u32>,
    /// The last number of each kind.
    last: BTreeMap<String, u32>,
}

/// One task's memory. The same value gets the same placeholder as long as the session, or its numbering, is kept.
#[derive(Clone)]
pub struct Session {
    mac: Option<Hmac<Sha256>>,
    numbering: Numbering,
}

impl Session {
    /// The key decides the hashes: whoever does not have it cannot try values against them.
    pub fn new(key: &[u8]) -> Self {
        Self::resume(key, Numbering::default())
    }

    pub fn resume(key: &[u8], numbering: Numbering) -> Self {
        // Any length of key will do.
        Self { mac: Hmac::new_from_slice(key).ok(), numbering }
    }

    pub const fn numbering(&self) -> &Numbering {
        &self.numbering
    }

    /// Whether any value has a number.
    pub fn has_numbered(&self) -> bool {
        !self.numbering.seen.is_empty()
    }

    /// The keyed hash of a value. How it was spaced and spelled does not count.
    pub(crate) fn hash(&self, value: &str) -> String {
        let Some(mut mac) = self.mac.clone() else { return String::new() };
        let folded = Folded::new(value);
        let bare: String =
            folded.text.chars().filter(|one| one.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        mac.update(if bare.is_empty() { value.as_bytes() } else { bare.as_bytes() });
        let bytes = mac.finalize().into_bytes();
        hex::encode(bytes.get(..16).unwrap_or_default())
    }

    /// What stands for a value with this hash.
    pub(crate) fn placeholder(&mut self, kind: Kind, hash: &str) -> String {
        let label = kind.label();
        let key = format!("{label}:{hash}");
        if let Some(number) = self.numbering.seen.get(&key) {
            return format!("[{label}_{number}]");
        }
        if self.numbering.seen.len() >= MOST {
            return format!("[{label}]");
        }
        let last = self.numbering.last.entry(label.to_owned()).or_default();
        *last += 1;
        let number = *last;
        self.numbering.seen.insert(key, number);
        format!("[{label}_{number}]")
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Session").field("numbering", &self.numbering).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_value_keeps_its_placeholder() {
        let mut session = Session::new(b"key");
        let (one, other) = (session.hash("4111 1111"), session.hash("a@b.co"));
        assert_eq!(session.hash("4111-1111"), one);
        assert_ne!(Session::new(b"other").hash("4111 1111"), one);
        assert_eq!(session.placeholder(Kind::Card, &one), "[CARD_1]");
        assert_eq!(session.placeholder(Kind::Email, &other), "[EMAIL_1]");
        let kept = serde_json::to_string(session.numbering()).unwrap();
        let mut later = Session::resume(b"key", serde_json::from_str(&kept).unwrap());
        assert_eq!(later.placeholder(Kind::Card, &one), "[CARD_1]");
        assert_eq!(later.placeholder(Kind::Card, "x"), "[CARD_2]");
    }
}
