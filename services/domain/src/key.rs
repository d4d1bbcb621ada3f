//! The textual form of API keys: `plt_<id>_<secret><crc>`.
//!
//! The checksum lets a wrong or truncated key be refused before any query, and lets scanners tell a real key
//! from a look-alike. What is stored is never in here: the store keeps an HMAC of the secret.

use std::fmt;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH: usize = 10;
const SECRET_LENGTH: usize = 32;
const CHECKSUM_LENGTH: usize = 6;

/// A key as its holder presents it. `Debug` never shows the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    id: String,
    secret: String,
}

/// The text is not one of our keys: wrong form or wrong checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a valid key: keys begin with `plt_` and end in a checksum, was part of it lost in copying?")]
pub struct BadKey;

impl ApiKey {
    /// Makes a key from random bytes (42 of them are used; the caller brings the randomness).
    pub fn from_entropy(entropy: &[u8; 64]) -> Self {
        // 256 is not a multiple of 62: bytes from 248 up are skipped, and mixing in the position keeps the
        // result full length even if many are.
        let mut letters = entropy
            .iter()
            .enumerate()
            .map(|(position, byte)| if *byte < 248 { *byte } else { byte.wrapping_add(position as u8) })
            .filter_map(|byte| ALPHABET.get(usize::from(byte % 62)))
            .map(|letter| char::from(*letter));
        let id = letters.by_ref().take(ID_LENGTH).collect();
        let secret = letters.take(SECRET_LENGTH).collect();
        Self { id, secret }
    }

    pub fn parse(text: &str) -> Result<Self, BadKey> {
        let rest = text.strip_prefix("plt_").ok_or(BadKey)?;
        let (id, tail) = rest.split_once('_').ok_or(BadKey)?;
        let plain = rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !plain || id.len() != ID_LENGTH || tail.len() != SECRET_LENGTH + CHECKSUM_LENGTH {
            return Err(BadKey);
        }
        let (secret, checksum) = tail.split_at(SECRET_LENGTH);
        if self::checksum(id, secret) != checksum {
            return Err(BadKey);
        }
        Ok(Self { id: id.to_owned(), secret: secret.to_owned() })
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// For the HMAC and for showing the key once.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// The whole key, to be shown once.
    pub fn reveal(&self) -> String {
        format!("plt_{}_{}{}", self.id, self.secret, checksum(&self.id, &self.secret))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "plt_{}_…", self.id)
    }
}

fn checksum(id: &str, secret: &str) -> String {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(id.as_bytes());
    hasher.update(b"_");
    hasher.update(secret.as_bytes());
    let mut rest = hasher.finalize() as usize;
    let mut letters = [b'0'; CHECKSUM_LENGTH];
    for letter in letters.iter_mut().rev() {
        *letter = ALPHABET.get(rest % 62).copied().unwrap_or(b'0');
        rest /= 62;
    }
    letters.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> ApiKey {
        let mut entropy = [0; 64];
        for (position, byte) in entropy.iter_mut().enumerate() {
            *byte = (position * 41 + 7) as u8;
        }
        ApiKey::from_entropy(&entropy)
    }

    #[test]
    fn a_key_reads_back_what_it_reveals() {
        let key = sample();
        assert_eq!(ApiKey::parse(&key.reveal()), Ok(key));
    }

    #[test]
    fn every_changed_letter_is_noticed() {
        let text = sample().reveal();
        for position in 4..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[position] = if changed[position] == b'a' { b'b' } else { b'a' };
            let changed = String::from_utf8(changed).unwrap();
            if changed != text {
                assert_eq!(ApiKey::parse(&changed), Err(BadKey), "{changed}");
            }
        }
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let key = sample();
        assert!(!format!("{key:?}").contains(key.secret()));
    }
}
