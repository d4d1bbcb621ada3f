//! Tenants. The slug is what people and routes use; the id is what everything inside is keyed by.

use std::fmt;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::plan::PlanName;

/// A tenant's immutable id. Only the store makes one (from a row that it found by the route's slug), so holding a
/// `TenantId` means that the tenant exists; a test keeps `from_row` out of the other crates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TenantId(Uuid);

impl TenantId {
    pub const fn from_row(uuid: Uuid) -> Self {
        Self(uuid)
    }

    pub const fn as_uuid(&self) -> Uuid {
        self.0
    }
}

impl fmt::Debug for TenantId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0.simple())
    }
}

/// A tenant that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    pub id: TenantId,
    pub slug: TenantSlug,
    /// What it may use; see [`crate::Plans`].
    pub plan: PlanName,
    pub card: CardVersions,
    pub created_at: OffsetDateTime,
}

/// For which versions of A2A a tenant's card is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum CardVersions {
    /// Pure 1.0 for who asks for it, and one that clients of every version can read for all others.
    #[default]
    #[serde(rename = "all")]
    All,
    /// Pure 1.0 for everybody.
    #[serde(rename = "1.0")]
    Only10,
}

impl CardVersions {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Only10 => "1.0",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::All, Self::Only10].into_iter().find(|versions| versions.as_str() == text)
    }
}

/// The tenant's name in URLs: 3 to 40 of `a-z 0-9 -`, no hyphen at either end, none doubled.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TenantSlug(String);

/// The text cannot name a tenant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSlug {
    #[error("a tenant name has 3 to 40 characters of a-z, 0-9 and single hyphens inside")]
    Shape,
    #[error("this tenant name is reserved; choose another")]
    Reserved,
}

/// Names that would be mistaken for hosts of the platform itself.
const RESERVED: &[&str] = &[
    "www",
    "api",
    "admin",
    "console",
    "control",
    "mcp",
    "app",
    "status",
    "docs",
    "mail",
    "localhost",
    "operator",
    "pleat",
    "internal",
    "metrics",
    "healthz",
    "readyz",
    "static",
    "assets",
    "auth",
    "login",
];

impl TenantSlug {
    pub fn parse(text: &str) -> Result<Self, BadSlug> {
        let plain = text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        let fits = (3..=40).contains(&text.len())
            && plain
            && !text.starts_with('-')
            && !text.ends_with('-')
            && !text.contains("--");
        if !fits {
            return Err(BadSlug::Shape);
        }
        if RESERVED.contains(&text) {
            return Err(BadSlug::Reserved);
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TenantSlug {
    type Error = BadSlug;

    fn try_from(text: String) -> Result<Self, BadSlug> {
        Self::parse(&text)
    }
}

impl From<TenantSlug> for String {
    fn from(slug: TenantSlug) -> Self {
        slug.0
    }
}

impl fmt::Display for TenantSlug {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_what_a_host_name_can_carry() {
        for good in ["demo", "a-b-c", "x0x", "acme-2"] {
            assert!(TenantSlug::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "ab", "-ab", "ab-", "a--b", "Demo", "dé-mo", "a.b", &"x".repeat(41)] {
            assert_eq!(TenantSlug::parse(bad), Err(BadSlug::Shape), "{bad}");
        }
        assert_eq!(TenantSlug::parse("api"), Err(BadSlug::Reserved));
    }
}
