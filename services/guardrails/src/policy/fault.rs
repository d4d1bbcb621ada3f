//! What is wrong with a policy, and where.

use std::fmt;

use serde::Serialize;

/// More faults than this are not listed.
const MOST: usize = 100;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// The JSON pointer of what is wrong; empty for the whole.
    pub pointer: String,
    pub message: String,
}

/// Everything that is wrong with a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct Faults(Vec<Fault>);

impl Faults {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn add(&mut self, line: usize, column: usize, pointer: &str, message: impl Into<String>) {
        if self.0.len() < MOST {
            self.0.push(Fault { line, column, pointer: pointer.to_owned(), message: message.into() });
        }
    }

    pub fn list(&self) -> &[Fault] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { "\n" };
            write!(formatter, "{separator}{fault}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, pointer, message } = self;
        let place = if pointer.is_empty() { String::new() } else { format!(" (`{pointer}`)") };
        write!(formatter, "{line}:{column}: {message}{place}")
    }
}
