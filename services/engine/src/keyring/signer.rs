//! The keys that notifications are signed with: one for each tenant, which follow from the master key.
//!
//! The form is that of Standard Webhooks, so that libraries that check it exist in most languages.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use pleat_domain::TenantId;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::{MasterKey, keyed, mac};

pub(crate) struct Signer {
    template: Hmac<Sha256>,
}

impl Signer {
    pub(crate) fn new(master: &MasterKey) -> Self {
        let derived = Zeroizing::new(mac(&keyed(&master.0), b"pleat/push/v1"));
        Self { template: keyed(&derived) }
    }

    /// The key as a receiver is given it.
    pub(crate) fn shown(&self, tenant: TenantId) -> String {
        format!("whsec_{}", STANDARD.encode(self.key(tenant).as_slice()))
    }

    pub(crate) fn sign(&self, tenant: TenantId, id: &str, timestamp: i64, body: &[u8]) -> String {
        let mut mac = keyed(&self.key(tenant));
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }

    fn key(&self, tenant: TenantId) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(mac(&self.template, tenant.as_uuid().as_bytes()))
    }
}
