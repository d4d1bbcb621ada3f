//! Policies: which checks look at what, and what is done about what they find.
//!
//! A policy is parsed once, with all its faults reported together, and everything in it that has to be compiled is
//! compiled then: a policy that exists can be used.

mod build;
mod config;
mod effective;
mod fault;
mod json;
mod pattern;

pub use fault::{Fault, Faults};

pub(crate) use config::Config;
pub(crate) use pattern::Pattern;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest policy text.
pub const LONGEST: usize = 256 * 1024;
/// The most checks of one policy.
pub const MOST_CHECKS: usize = 64;

/// The kinds of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckType {
    Pii,
    Secrets,
    PromptInjection,
    Toxicity,
    Regex,
    Denylist,
    Url,
    JsonSchema,
    MaxTokens,
    MaxSize,
    Unicode,
}

/// What is done about a finding. In order: where several apply, the greatest wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// It is recorded.
    Log,
    /// It is recorded and the caller is told.
    Warn,
    /// It is replaced by a placeholder.
    Redact,
    /// Nothing runs, or nothing leaves.
    Block,
}

/// Which side of a call a check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    Input,
    Output,
    Both,
}

/// How bad a finding is, for those who read the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

/// Whether a check acts, or only records what it would have done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    Enforce,
    Shadow,
}

/// What happens when a check cannot finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// As if it had found nothing.
    FailOpen,
    /// As if it had found something to block.
    FailClosed,
}

impl Action {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Warn => "warn",
            Self::Redact => "redact",
            Self::Block => "block",
        }
    }
}

impl Severity {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl Mode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Shadow => "shadow",
        }
    }
}

/// A policy as it was written, checked and compiled.
#[derive(Debug, Clone)]
pub struct Policy {
    pub(crate) enabled: bool,
    pub(crate) inherit: bool,
    pub(crate) checks: Vec<Check>,
}

/// One check of a policy.
#[derive(Debug, Clone)]
pub struct Check {
    pub(crate) check: CheckType,
    pub(crate) name: Option<String>,
    pub(crate) action: Action,
    pub(crate) target: Target,
    pub(crate) severity: Severity,
    pub(crate) mode: Mode,
    pub(crate) on_error: OnError,
    pub(crate) config: Config,
}

impl Policy {
    /// Parses a policy. What is wrong with it is reported all at once.
    pub fn parse(text: &str) -> Result<Self, Faults> {
        build::policy(text)
    }

    /// The policy itself in a text that may have it as its only member, `{"policy": {…}}`.
    pub fn source(text: &str) -> &str {
        build::unwrapped(text).unwrap_or(text)
    }

    /// The same with every check on both sides, whatever its target.
    #[must_use]
    pub fn for_both_sides(&self) -> Self {
        let checks = self.checks.iter().map(|check| Check { target: Target::Both, ..check.clone() });
        Self { checks: checks.collect(), ..*self }
    }

    /// A policy that checks nothing.
    pub const fn none() -> Self {
        Self { enabled: true, inherit: true, checks: Vec::new() }
    }

    /// What holds for a skill that has this policy, where the tenant has a default.
    ///
    /// A type of check that the skill's policy names is checked as the skill's policy says and not as the default does;
    /// types that it does not name stay as in the default. With `"inherit": false` the default does not count at all,
    /// and with `"enabled": false` nothing is checked.
    #[must_use]
    pub fn over(&self, default: &Self) -> Self {
        if !self.enabled || !self.inherit || !default.enabled {
            return self.clone();
        }
        let named = |check: &&Check| !self.checks.iter().any(|own| own.check == check.check);
        let kept = default.checks.iter().filter(named).cloned();
        Self { enabled: true, inherit: true, checks: kept.chain(self.checks.iter().cloned()).collect() }
    }

    /// The policy that amounts to a skill's over the tenant's default, for people to read.
    pub fn effective(own: Option<&Value>, default: Option<&Value>) -> Value {
        effective::effective(own, default)
    }

    /// The checks that count: none where the policy is switched off.
    pub fn checks(&self) -> &[Check] {
        if self.enabled { &self.checks } else { &[] }
    }
}

impl Check {
    pub const fn check(&self) -> CheckType {
        self.check
    }

    pub const fn action(&self) -> Action {
        self.action
    }

    pub const fn target(&self) -> Target {
        self.target
    }

    pub const fn severity(&self) -> Severity {
        self.severity
    }

    pub const fn mode(&self) -> Mode {
        self.mode
    }
}

impl CheckType {
    pub const ALL: [Self; 11] = [
        Self::Pii,
        Self::Secrets,
        Self::PromptInjection,
        Self::Toxicity,
        Self::Regex,
        Self::Denylist,
        Self::Url,
        Self::JsonSchema,
        Self::MaxTokens,
        Self::MaxSize,
        Self::Unicode,
    ];

    /// The name in policies, which is also the one that callers are told.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pii => "pii",
            Self::Secrets => "secrets",
            Self::PromptInjection => "prompt-injection",
            Self::Toxicity => "toxicity",
            Self::Regex => "regex",
            Self::Denylist => "denylist",
            Self::Url => "url",
            Self::JsonSchema => "json-schema",
            Self::MaxTokens => "max-tokens",
            Self::MaxSize => "max-size",
            Self::Unicode => "unicode",
        }
    }

    const fn severity(self) -> Severity {
        match self {
            Self::Secrets => Severity::Critical,
            Self::Pii | Self::PromptInjection => Severity::High,
            Self::Toxicity | Self::Regex | Self::Denylist | Self::Url | Self::JsonSchema | Self::Unicode => {
                Severity::Medium
            }
            Self::MaxTokens | Self::MaxSize => Severity::Low,
        }
    }

    /// Whether what it finds has a place that can be replaced.
    const fn redacts(self) -> bool {
        !matches!(self, Self::JsonSchema | Self::MaxTokens | Self::MaxSize)
    }
}
