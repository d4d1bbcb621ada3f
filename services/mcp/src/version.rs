//! The versions of the protocol that are served.

/// One of them. They order by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Version {
    /// Newest first, as they are offered.
    pub const ALL: [Self; 5] =
        [Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18, Self::V2025_03_26, Self::V2024_11_05];
    /// The newest one that begins with a handshake.
    pub const NEWEST_WITH_SESSIONS: Self = Self::V2025_11_25;

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == text)
    }

    /// Without handshake and sessions.
    pub const fn is_stateless(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }

    /// What a handshake that asks for this comes to: the same, or the newest that has handshakes.
    pub fn negotiated(asked: &str) -> Self {
        Self::parse(asked).filter(|version| !version.is_stateless()).unwrap_or(Self::NEWEST_WITH_SESSIONS)
    }

    /// Several messages in one body.
    pub const fn takes_batches(self) -> bool {
        matches!(self, Self::V2024_11_05 | Self::V2025_03_26)
    }

    /// A stream begins with an empty event, so that a client that loses it can come back.
    pub const fn primes_streams(self) -> bool {
        matches!(self, Self::V2025_11_25)
    }

    /// `structuredContent` and `outputSchema`.
    pub const fn has_structured(self) -> bool {
        !matches!(self, Self::V2024_11_05 | Self::V2025_03_26)
    }

    /// A structured result may be any value, not only an object.
    pub const fn has_any_structured(self) -> bool {
        self.is_stateless()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_gets_what_it_asks_for_or_the_newest_that_has_handshakes() {
        assert_eq!(Version::negotiated("2025-03-26"), Version::V2025_03_26);
        assert_eq!(Version::negotiated("2026-07-28"), Version::V2025_11_25);
        assert_eq!(Version::negotiated("1900-01-01"), Version::V2025_11_25);
    }

    #[test]
    fn every_version_has_its_name() {
        for version in Version::ALL {
            assert_eq!(Version::parse(version.as_str()), Some(version));
        }
        assert!(Version::V2026_07_28 > Version::V2025_11_25);
    }
}
