//! Names of skills: one alphabet that URLs, cards and model APIs all accept.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The name of a skill: a function's, `[a-z0-9][a-z0-9_-]{0,62}` and not reserved, or `pipeline:` and such a name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SkillName(Arc<str>);

/// The text cannot name a skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    #[error("`{0}` cannot name a function: use 1 to 63 of a-z, 0-9, `-` and `_`, and begin with a letter or a digit")]
    Shape(String),
    #[error("`{0}` is reserved by the platform; choose another name")]
    Reserved(String),
}

/// What the names of pipelines begin with where skills are named. No function's name has a colon.
const PIPELINE: &str = "pipeline:";

/// No skill's name has a bracket.
const COMPILING: &str = "(compiling)";

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
        Ok(Self(text.into()))
    }

    /// A function's name, or a pipeline's with its prefix.
    pub fn parse_skill(text: &str) -> Result<Self, BadName> {
        match text.strip_prefix(PIPELINE) {
            Some(name) => Self::parse(name).map(|name| Self::pipeline(&name)),
            None => Self::parse(text),
        }
    }

    /// What stands for deploys where usage is told by skill.
    pub fn compiling() -> Self {
        Self(COMPILING.into())
    }

    /// What usage is told by: a skill, or what stands for deploys.
    pub fn parse_counted(text: &str) -> Result<Self, BadName> {
        if text == COMPILING { Ok(Self::compiling()) } else { Self::parse_skill(text) }
    }

    /// The skill that the pipeline of this name is.
    pub fn pipeline(name: &Self) -> Self {
        Self(format!("{PIPELINE}{}", name.0).into())
    }

    /// The name without the prefix, of a skill that is a pipeline.
    pub fn as_pipeline(&self) -> Option<&str> {
        self.0.strip_prefix(PIPELINE)
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
        name.0.as_ref().to_owned()
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

    #[test]
    fn pipelines_are_skills_with_a_prefix() {
        let skill = SkillName::parse_skill("pipeline:report").unwrap();
        assert_eq!((skill.as_str(), skill.as_pipeline()), ("pipeline:report", Some("report")));
        assert_eq!(skill, SkillName::pipeline(&SkillName::parse("report").unwrap()));
        assert_eq!(SkillName::parse_skill("report").unwrap().as_pipeline(), None);
        assert_eq!(SkillName::parse_counted("(compiling)").unwrap(), SkillName::compiling());
        assert!(SkillName::parse_skill("(compiling)").is_err(), "no skill has such a name");
        for bad in ["pipeline:", "pipeline:mcp", "pipeline:pipeline:a", "other:a", "pipeline"] {
            assert!(SkillName::parse_skill(bad).is_err(), "{bad}");
        }
        assert!(SkillName::parse("pipeline:report").is_err(), "no function has such a name");
    }
}
