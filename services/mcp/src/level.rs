//! Levels of log messages: the protocol has eight, functions have five.

use pleat_domain::LogLevel;

/// The protocol's, from the least to the most severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl Level {
    const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == text)
    }

    /// How a session keeps it.
    pub const fn to_code(self) -> i16 {
        self as i16
    }

    pub fn from_code(code: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.to_code() == code)
    }

    pub const fn of(level: LogLevel) -> Self {
        match level {
            LogLevel::Trace | LogLevel::Debug => Self::Debug,
            LogLevel::Info => Self::Info,
            LogLevel::Warn => Self::Warning,
            LogLevel::Error => Self::Error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_kept_and_compared() {
        for level in Level::ALL {
            assert_eq!(Level::from_code(level.to_code()), Some(level));
            assert_eq!(Level::parse(level.as_str()), Some(level));
        }
        assert!(Level::of(LogLevel::Warn) > Level::Notice);
        assert_eq!(Level::parse("loud"), None);
    }
}
