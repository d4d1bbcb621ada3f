//! Texts that callers carry for us: nobody can read or change them, and they open only for the tenant, the caller and
//! the purpose they were sealed for.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pleat_domain::{Principal, Tenant};

use crate::engine::Engine;
use crate::error::EngineError;

impl Engine {
    pub fn seal(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        purpose: &str,
        text: &str,
    ) -> Result<String, EngineError> {
        let sealed = self.inner.vault.seal(&place(tenant, principal, purpose), text);
        Ok(URL_SAFE_NO_PAD.encode(sealed.map_err(|error| EngineError::Internal(Box::new(error)))?))
    }

    /// `None`: changed, another's, or sealed for something else.
    pub fn unseal(&self, tenant: &Tenant, principal: &Principal, purpose: &str, sealed: &str) -> Option<String> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let text = self.inner.vault.open(&place(tenant, principal, purpose), &sealed).ok()?;
        Some(text.as_str().to_owned())
    }
}

fn place(tenant: &Tenant, principal: &Principal, purpose: &str) -> Vec<u8> {
    let mut place = format!("pleat/carried/{purpose}/").into_bytes();
    place.extend_from_slice(tenant.id.as_uuid().as_bytes());
    place.extend_from_slice(principal.caller().as_str().as_bytes());
    place
}
