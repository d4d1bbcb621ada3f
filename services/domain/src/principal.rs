//! Who is asking, after authentication.

use std::fmt;
use std::sync::Arc;

use crate::quota::KeyLimits;
use crate::scope::{Scope, Scopes};
use crate::tenant::TenantId;

/// An authenticated caller, or the absence of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    /// No key: may call public skills and reach its tasks by their unguessable ids.
    Anonymous,
    /// A key of one tenant.
    Key { id: String, tenant: TenantId, scopes: Scopes, limits: KeyLimits },
    /// The bearer of a token from one of the tenant's issuers. `subject` is the token's, where it is short and plain,
    /// else its hash.
    Token { issuer: String, subject: String, tenant: TenantId, scopes: Scopes, limits: KeyLimits },
    /// The platform's operator.
    Operator { id: String },
}

impl Principal {
    pub fn scopes(&self) -> Scopes {
        match self {
            Self::Anonymous => Scopes::NONE,
            Self::Key { scopes, .. } | Self::Token { scopes, .. } => *scopes,
            Self::Operator { .. } => Scopes::of([Scope::Operator]),
        }
    }

    pub fn has(&self, scope: Scope) -> bool {
        self.scopes().has(scope)
    }

    /// What it may use at most, beside what its tenant may.
    pub const fn limits(&self) -> KeyLimits {
        match self {
            Self::Key { limits, .. } | Self::Token { limits, .. } => *limits,
            Self::Anonymous | Self::Operator { .. } => KeyLimits::NONE,
        }
    }

    pub fn caller(&self) -> Caller {
        match self {
            Self::Anonymous => Caller::anonymous(),
            Self::Key { id, .. } | Self::Operator { id } => Caller(format!("key:{id}").into()),
            Self::Token { issuer, subject, .. } => Caller(format!("jwt:{issuer}:{subject}").into()),
        }
    }

    /// Sees the whole tenant's tasks, not only its own.
    pub fn sees_all_tasks(&self) -> bool {
        [Scope::Read, Scope::Deploy, Scope::Admin].into_iter().any(|scope| self.has(scope))
    }
}

/// The owner of a task, as it is stored and as the guest sees it: `anonymous`, `key:<id>` or
/// `jwt:<issuer>:<subject>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller(Arc<str>);

impl Caller {
    pub fn anonymous() -> Self {
        Self("anonymous".into())
    }

    /// From a row of ours.
    pub fn from_stored(text: String) -> Self {
        Self(text.into())
    }

    pub fn is_anonymous(&self) -> bool {
        &*self.0 == "anonymous"
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// So that counts by caller are found without making one.
impl std::borrow::Borrow<str> for Caller {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
