//! Names of secrets and of the tenant's settings: one alphabet, that of environment variables.

use std::fmt;

use crate::limits;

/// `[A-Za-z_][A-Za-z0-9_]{0,127}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SettingName(String);

/// Why a secret or a setting is refused. Says nothing of its value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSetting {
    #[error(
        "`{0}` cannot name a secret or a setting: use 1 to 128 of A-Z, a-z, 0-9 and `_`, and do not begin with a digit"
    )]
    Name(String),
    #[error("the value has {0} bytes; the most is {most}", most = limits::SETTING_VALUE)]
    TooLong(usize),
    #[error("the value holds the character U+0000, which cannot be kept; remove it")]
    Unstorable,
}

impl SettingName {
    pub fn parse(text: &str) -> Result<Self, BadSetting> {
        let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let rest = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if first && rest && text.len() <= 128 {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadSetting::Name(text.chars().take(80).collect()))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SettingName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Whether a value can be kept.
pub fn check_value(value: &str) -> Result<(), BadSetting> {
    match value.len() {
        length if length > limits::SETTING_VALUE => Err(BadSetting::TooLong(length)),
        _ if value.contains('\0') => Err(BadSetting::Unstorable),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_environment_variables() {
        for good in ["API_KEY", "_x", "a", "A1", &"x".repeat(128)] {
            assert!(SettingName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "1A", "a-b", "a.b", "é", "A B", &"x".repeat(129)] {
            assert!(matches!(SettingName::parse(bad), Err(BadSetting::Name(_))), "{bad}");
        }
    }

    #[test]
    fn a_value_ends_at_the_limit_and_is_never_quoted() {
        assert_eq!(check_value(&"x".repeat(limits::SETTING_VALUE)), Ok(()));
        let refused = check_value(&"x".repeat(limits::SETTING_VALUE + 1)).unwrap_err();
        assert_eq!(refused.to_string(), "the value has 65537 bytes; the most is 65536");
        assert_eq!(check_value("a\0b"), Err(BadSetting::Unstorable));
    }
}
