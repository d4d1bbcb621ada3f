//! Sealing secrets: AES-256-GCM under a key that follows from the master key, bound to where the secret belongs.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use pleat_domain::{SettingName, TaskId, TenantId};
use zeroize::Zeroizing;

use super::{MasterKey, keyed, mac};

/// Which key a secret is sealed under. Another one gets another number, and both are known while secrets move over.
const KEY_VERSION: u8 = 1;

/// What the row that tells one master key from another says.
const CHECK: &str = "this is the platform's master key";

pub(crate) struct Vault {
    key: Zeroizing<[u8; 32]>,
}

/// Damaged, moved from another place, or sealed under another master key. Which of these cannot be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a secret cannot be opened with this master key")]
pub(crate) struct Closed;

impl Vault {
    pub(crate) fn new(master: &MasterKey) -> Self {
        // HKDF's expand step, RFC 5869 2.3, for one block; the master key is uniform, so that nothing is extracted.
        Self { key: Zeroizing::new(mac(&keyed(&master.0), b"pleat/secrets/v1\x01")) }
    }

    pub(crate) fn seal_secret(&self, tenant: TenantId, name: &SettingName, value: &str) -> Result<Vec<u8>, Closed> {
        self.seal(&place(tenant, name.as_str()), value)
    }

    pub(crate) fn open_secret(&self, tenant: TenantId, name: &str, sealed: &[u8]) -> Result<Zeroizing<String>, Closed> {
        self.open(&place(tenant, name), sealed)
    }

    /// The way to a receiver.
    pub(crate) fn seal_push(&self, tenant: TenantId, task: TaskId, id: &str, text: &str) -> Result<Vec<u8>, Closed> {
        self.seal(&push_place(tenant, task, id), text)
    }

    pub(crate) fn open_push(
        &self,
        tenant: TenantId,
        task: TaskId,
        id: &str,
        sealed: &[u8],
    ) -> Result<Zeroizing<String>, Closed> {
        self.open(&push_place(tenant, task, id), sealed)
    }

    pub(crate) fn seal_check(&self) -> Result<Vec<u8>, Closed> {
        self.seal(b"pleat/master-key-check", CHECK)
    }

    /// Whether it was sealed under this master key.
    pub(crate) fn knows_check(&self, sealed: &[u8]) -> bool {
        self.open(b"pleat/master-key-check", sealed).is_ok_and(|text| *text == CHECK)
    }

    /// `place` is what it is bound to: it opens nowhere else.
    pub(crate) fn seal(&self, place: &[u8], value: &str) -> Result<Vec<u8>, Closed> {
        let mut body = value.as_bytes().to_vec();
        let nonce = self.cipher()?.seal_in_place_append_tag(Aad::from(place), &mut body).map_err(|_| Closed)?;
        let nonce: &[u8; NONCE_LEN] = nonce.as_ref();
        let mut sealed = vec![KEY_VERSION];
        sealed.extend_from_slice(nonce);
        sealed.append(&mut body);
        Ok(sealed)
    }

    pub(crate) fn open(&self, place: &[u8], sealed: &[u8]) -> Result<Zeroizing<String>, Closed> {
        let (version, rest) = sealed.split_first().ok_or(Closed)?;
        let (nonce, body) = rest.split_at_checked(NONCE_LEN).ok_or(Closed)?;
        if *version != KEY_VERSION {
            return Err(Closed);
        }
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Closed)?;
        let mut body = Zeroizing::new(body.to_vec());
        let value = self.cipher()?.open_in_place(nonce, Aad::from(place), &mut body).map_err(|_| Closed)?;
        let text = std::str::from_utf8(value).map_err(|_| Closed)?;
        Ok(Zeroizing::new(text.to_owned()))
    }

    fn cipher(&self) -> Result<RandomizedNonceKey, Closed> {
        RandomizedNonceKey::new(&AES_256_GCM, self.key.as_slice()).map_err(|_| Closed)
    }
}

/// A secret that somebody copies to another row, of another tenant or under another name, does not open there.
fn place(tenant: TenantId, name: &str) -> Vec<u8> {
    let mut place = b"pleat/secret/".to_vec();
    place.extend_from_slice(tenant.as_uuid().as_bytes());
    place.extend_from_slice(name.as_bytes());
    place
}

fn push_place(tenant: TenantId, task: TaskId, id: &str) -> Vec<u8> {
    let mut place = b"pleat/push/".to_vec();
    place.extend_from_slice(tenant.as_uuid().as_bytes());
    place.extend_from_slice(task.as_uuid().as_bytes());
    place.extend_from_slice(id.as_bytes());
    place
}
