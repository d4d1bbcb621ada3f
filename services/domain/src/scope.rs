//! What a key may be used for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One permission of a key. `Operator` is the platform's own and belongs to no tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Keys and settings of the tenant.
    Admin,
    /// Deploy, roll back, delete functions.
    Deploy,
    /// Call skills; see and touch one's own tasks.
    Invoke,
    /// See the tenant's tasks, logs and functions.
    Read,
    /// Create and delete tenants.
    Operator,
}

impl Scope {
    pub const ALL: [Self; 5] = [Self::Admin, Self::Deploy, Self::Invoke, Self::Read, Self::Operator];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Deploy => "deploy",
            Self::Invoke => "invoke",
            Self::Read => "read",
            Self::Operator => "operator",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The text names no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no scope; scopes are admin, deploy, invoke, read and operator")]
pub struct BadScope(String);

impl FromStr for Scope {
    type Err = BadScope;

    fn from_str(text: &str) -> Result<Self, BadScope> {
        let found = Self::ALL.into_iter().find(|scope| scope.as_str() == text);
        found.ok_or_else(|| BadScope(text.chars().take(40).collect()))
    }
}

/// A set of scopes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Scopes(u8);

impl Scopes {
    pub const NONE: Self = Self(0);

    pub fn of(scopes: impl IntoIterator<Item = Scope>) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }

    pub const fn has(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// A key mints only subsets of itself.
    pub const fn contains_all(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.has(*scope))
    }

    /// How the database keeps the set.
    pub const fn to_bits(self) -> i16 {
        self.0 as i16
    }

    /// Unknown bits are dropped: a newer node may have written them.
    pub fn from_bits(bits: i16) -> Self {
        Self::of(Scope::ALL.into_iter().filter(|scope| bits & i16::from(scope.bit()) != 0))
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.iter().map(Scope::as_str)).finish()
    }
}

impl Serialize for Scopes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Scopes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of(Vec::<Scope>::deserialize(deserializer)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_keeps_what_was_put_in() {
        let set = Scopes::of([Scope::Deploy, Scope::Read]);
        assert!(set.has(Scope::Read) && !set.has(Scope::Admin));
        assert_eq!(Scopes::from_bits(set.to_bits()), set);
        assert!(set.contains_all(Scopes::of([Scope::Read])));
        assert!(!set.contains_all(Scopes::of([Scope::Read, Scope::Invoke])));
    }
}
