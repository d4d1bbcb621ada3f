//! What is wrong with a definition: where in the text, what, and what to do about it.

use std::fmt;

use serde::Serialize;

use crate::document::Node;
use crate::limits;

/// A place in the text, both counted from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

impl Position {
    pub(crate) const START: Self = Self { line: 1, column: 1 };
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    #[serde(flatten)]
    pub position: Position,
    /// JSON pointer into the document, whichever way that is written.
    pub pointer: String,
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.position;
        write!(formatter, "{line}:{column}: {}; {}", self.message, self.hint)?;
        if self.pointer.is_empty() { Ok(()) } else { write!(formatter, " (at {})", self.pointer) }
    }
}

/// All faults of a definition, in the order of the text. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Faults {
    pub faults: Vec<Fault>,
    /// Found beyond the number that is reported.
    pub more: usize,
}

impl std::error::Error for Faults {}

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(formatter, "{separator}{fault}")?;
        }
        if self.more > 0 { write!(formatter, "\nand {} more", self.more) } else { Ok(()) }
    }
}

/// Collects what is found on the way; nothing stops at the first fault.
#[derive(Debug, Default)]
pub(crate) struct Report {
    faults: Vec<Fault>,
    warnings: Vec<Fault>,
    more: usize,
}

impl Report {
    pub(crate) fn fault(
        &mut self,
        position: Position,
        pointer: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        if self.faults.len() >= limits::FAULTS {
            self.more += 1;
            return;
        }
        let fault = Fault { position, pointer: pointer.into(), message: message.into(), hint: hint.into() };
        // An alias stands for a place that was looked at before.
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// A fault at a place that is known by its pointer only.
    pub(crate) fn at(&mut self, root: &Node, pointer: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.fault(root.position(pointer), pointer, message, hint);
    }

    /// What may be meant, and mostly is not.
    pub(crate) fn warn(&mut self, root: &Node, pointer: &str, message: impl Into<String>, hint: impl Into<String>) {
        if self.warnings.len() < limits::FAULTS {
            let position = root.position(pointer);
            self.warnings.push(Fault { position, pointer: pointer.into(), message: message.into(), hint: hint.into() });
        }
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.faults.is_empty()
    }

    /// The warnings, if there are no faults.
    pub(crate) fn finish(mut self) -> Result<Vec<Fault>, Faults> {
        if self.faults.is_empty() {
            self.warnings.sort_by_key(|fault| fault.position);
            return Ok(self.warnings);
        }
        self.faults.sort_by_key(|fault| fault.position);
        Err(Faults { faults: self.faults, more: self.more })
    }
}

/// `; did you mean ..`, as a hint, where something similar is known.
pub(crate) fn similar<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|one| (strsim::jaro_winkler(word, one), one));
    scored.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, one)| one)
}

/// What somebody wrote, short enough for a message.
pub(crate) fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("`{}…`", text.get(..end).unwrap_or_default()),
        None => format!("`{text}`"),
    }
}

/// One step further down in a JSON pointer.
pub(crate) fn below(pointer: &str, key: impl fmt::Display) -> String {
    let key = key.to_string();
    if key.contains(['~', '/']) {
        return format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
    }
    format!("{pointer}/{key}")
}
