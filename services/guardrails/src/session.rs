//! What one task remembers: the key of its hashes, and which value got which placeholder.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

impl Numbering {
    /// The number of a value, which it has or gets. `None`: there are too many.
    fn number(&mut self, label: &str, key: &str) -> Option<u32> {
        if let Some(number) = self.seen.get(key) {
            return Some(*number);
        }
        if self.seen.len() >= MOST {
            return None;
        }
        let last = self.last.entry(label.to_owned()).or_default();
        *last += 1;
        self.seen.insert(key.to_owned(), *last);
        Some(*last)
    }

    /// Keeps a number that was given elsewhere.
    fn keep(&mut self, label: &str, key: &str, number: u32) {
        self.seen.insert(key.to_owned(), number);
        let last = self.last.entry(label.to_owned()).or_default();
        *last = number.max(*last);
    }
}

/// The numbers of several tasks that belong together: no two of them give one placeholder to two values.
#[derive(Debug, Clone, Default)]
pub struct SharedNumbering(Arc<Mutex<Numbering>>);

impl SharedNumbering {
    /// Goes on behind what one of the tasks has kept.
    pub fn take_in(&self, kept: &Numbering) {
        let mut all = self.lock();
        for (key, number) in &kept.seen {
            let label = key.split(':').next().unwrap_or_default();
            all.keep(label, key, *number);
        }
    }

    /// A poisoned lock holds data that is whole: nothing here panics between two changes.
    fn lock(&self) -> MutexGuard<'_, Numbering> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One task's memory. The same value gets the same placeholder as long as the session, or its numbering, is kept.
#[derive(Clone)]
pub struct Session {
    mac: Option<Hmac<Sha256>>,
    /// What this task has numbered.
    numbering: Numbering,
    shared: Option<SharedNumbering>,
}

impl Session {
    /// The key decides the hashes: whoever does not have it cannot try values against them.
    pub fn new(key: &[u8]) -> Self {
        Self::resume(key, Numbering::default())
    }

    pub fn resume(key: &[u8], numbering: Numbering) -> Self {
        // Any length of key will do.
        Self { mac: Hmac::new_from_slice(key).ok(), numbering, shared: None }
    }

    /// New values get their numbers there from now on.
    pub fn share(&mut self, numbers: &SharedNumbering) {
        self.shared = Some(numbers.clone());
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
        let number = match (&self.shared, self.numbering.seen.get(&key)) {
            (Some(shared), None) => {
                let number = shared.lock().number(label, &key);
                number.inspect(|number| self.numbering.keep(label, &key, *number))
            }
            _ => self.numbering.number(label, &key),
        };
        number.map_or_else(|| format!("[{label}]"), |number| format!("[{label}_{number}]"))
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

    #[test]
    fn tasks_that_share_their_numbers_never_give_one_to_two_values() {
        let numbers = SharedNumbering::default();
        let sharing = || {
            let mut session = Session::new(b"key");
            session.share(&numbers);
            session
        };
        let (mut one, mut other) = (sharing(), sharing());
        assert_eq!(one.placeholder(Kind::Email, "a"), "[EMAIL_1]");
        assert_eq!(other.placeholder(Kind::Email, "b"), "[EMAIL_2]");
        assert_eq!(other.placeholder(Kind::Email, "a"), "[EMAIL_1]");
        assert_eq!(one.numbering().seen.len(), 1, "each keeps what it has met itself");
        let later = SharedNumbering::default();
        [&one, &other].into_iter().for_each(|session| later.take_in(session.numbering()));
        let mut third = Session::new(b"key");
        third.share(&later);
        assert_eq!(third.placeholder(Kind::Email, "b"), "[EMAIL_2]");
        assert_eq!(third.placeholder(Kind::Email, "c"), "[EMAIL_3]");
    }
}
