//! Secrets and settings: values that the tenant gives its functions by name.

use crate::bindings::pleat::function::secrets::SecretError;
use crate::bindings::pleat::function::{config, secrets};
use crate::{Context, Error};

impl Context {
    /// A secret as it is now. Needs its name among `secrets` in the manifest, and the grant.
    pub fn secret(&self, name: &str) -> Result<String, Error> {
        secrets::get(name).map_err(|error| match error {
            SecretError::NotGranted => Error::new(
                "not_granted",
                format!("the secret `{name}` was not granted; deploy with --grant secret:{name}"),
            ),
            SecretError::NotFound => {
                Error::new("not_found", format!("the secret `{name}` is not set; see `pleat secrets set`"))
            }
            SecretError::Unavailable => {
                Error::new("unavailable", format!("the secret `{name}` cannot be read now")).retryable()
            }
        })
    }

    /// A setting as it is now; `None` when it is not set or was not granted.
    pub fn config(&self, name: &str) -> Option<String> {
        config::get(name)
    }
}
