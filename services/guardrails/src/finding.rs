//! What came out: findings, which never carry the value, and the verdict over all of them.

use serde::Serialize;

use crate::kind::Kind;
use crate::policy::{Action, CheckType, Mode, Severity};

/// So many findings of one value are listed; what is done about the others is the same.
const MOST: usize = 1_000;

/// Something that a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub check: CheckType,
    /// What of the check it was, as `pii.email` or the name that the policy gives the check.
    pub rule: String,
    #[serde(skip)]
    pub kind: Kind,
    /// What the check asks for. In shadow mode nothing is done about it.
    pub action: Action,
    pub severity: Severity,
    pub mode: Mode,
    /// Where in the value: a JSON pointer. A key is named by the pointer of its member.
    pub pointer: String,
    /// The found text, hashed with the caller's key; empty where the finding is no text.
    pub hash: String,
    /// What stands in its place, if it was redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
}

/// What is to be done with a value, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The strictest action of the findings that are enforced. `None`: nothing was found.
    pub action: Option<Action>,
    pub findings: Vec<Finding>,
}

impl Verdict {
    pub fn is_blocked(&self) -> bool {
        self.action == Some(Action::Block)
    }

    /// The name of the check that blocks: all that a caller is told.
    pub fn blocked_by(&self) -> Option<&'static str> {
        let blocks = |finding: &&Finding| finding.mode == Mode::Enforce && finding.action == Action::Block;
        self.findings.iter().find(blocks).map(|finding| finding.check.name())
    }

    /// What callers are warned of: rules, each once.
    pub fn warnings(&self) -> Vec<&str> {
        let mut rules: Vec<&str> = Vec::new();
        for finding in &self.findings {
            if finding.mode == Mode::Enforce
                && finding.action == Action::Warn
                && !rules.contains(&finding.rule.as_str())
            {
                rules.push(&finding.rule);
            }
        }
        rules
    }

    /// Whether no more findings are listed but the first that blocks.
    pub(crate) fn is_full(&self) -> bool {
        self.findings.len() >= MOST
    }

    /// Something was found that is not listed any more.
    pub(crate) fn raise(&mut self, action: Action) {
        self.action = self.action.max(Some(action));
    }

    pub(crate) fn add(&mut self, finding: Finding) {
        let blocks = finding.mode == Mode::Enforce && finding.action == Action::Block;
        let first = blocks && !self.is_blocked();
        if finding.mode == Mode::Enforce {
            self.raise(finding.action);
        }
        if first || !self.is_full() {
            self.findings.push(finding);
        }
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.action = self.action.max(other.action);
        self.findings.extend(other.findings);
    }
}
