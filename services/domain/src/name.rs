//! Names of skills: one alphabet that URLs, cards and model APIs all accept.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A deployed function's name: `[a-z0-9][a-z0-9_-]{0,62}`, not reserved.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SkillName(String);

/// The text cannot name a skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    #[error("`{0}` cannot name a function: use 1 to 63 of a-z, 0-9, `-` and `_`, and begin with a letter or a digit")]
    Shape(String),
    #[error("`{0}` is reserved by the platform; choose another name")]
    Reserved(String),
}

/// Paths that the platform serves, or will, on a tenant's origin.
const RESERVED: &[&str] = &[
    "mcp",
    "healthz",
    "readyz",
    "metrics",
    "console",
    "api",
    "a2a",
    "t",
    "pipeline",
    "pipelines",
    "tasks",
    "message",
    "static",
    "assets",
    "favicon",
    "robots",
    "well-known",
    "jwks",
    "card",
    "extendedagentcard",
    "v1",
    "oauth",
];

impl SkillName {
    pub fn parse(text: &str) -> Result<Self, BadName> {
        let mut bytes = text.bytes();
        let first = bytes.next().is_some_and(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
        let rest = bytes.all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
        if !first || !rest || text.len() > 63 {
            return Err(BadName::Shape(text.chars().take(80).collect()));
        }
        if RESERVED.contains(&text) {
            return Err(BadName::Reserved(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SkillName {
    type Error = BadName;

    fn try_from(text: String) -> Result<Self, BadName> {
        Self::parse(&text)
    }
}

impl From<SkillName> for String {
    fn from(name: SkillName) -> Self {
        name.0
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_urls_and_model_apis() {
        for good in ["hello", "weather-lookup", "a", "0_b", &"x".repeat(63)] {
            assert!(SkillName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "_a", "Hello", "a.b", "a/b", "é", &"x".repeat(64)] {
            assert!(matches!(SkillName::parse(bad), Err(BadName::Shape(_))), "{bad}");
        }
        assert!(matches!(SkillName::parse("mcp"), Err(BadName::Reserved(_))));
    }
}
