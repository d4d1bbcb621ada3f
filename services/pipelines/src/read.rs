//! The two ways in: a text on its own, and a text against what exists.

use crate::catalog::Catalog;
use crate::definition::Definition;
use crate::fault::{Fault, Faults, Position, Report};
use crate::{check, document, reading};

/// A definition without faults.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub definition: Definition,
    /// What may be meant and mostly is not: an input that nothing promises, for example.
    pub warnings: Vec<Fault>,
}

/// Reads YAML or JSON and checks it against what exists. All faults are reported at once.
pub fn read(text: &str, catalog: &Catalog<'_>) -> Result<Checked, Faults> {
    checked(text, Some(catalog))
}

/// Reads a definition without asking what exists: the canonical form from the store, or a file to draw.
pub fn parse(text: &str) -> Result<Definition, Faults> {
    checked(text, None).map(|checked| checked.definition)
}

fn checked(text: &str, catalog: Option<&Catalog<'_>>) -> Result<Checked, Faults> {
    let mut report = Report::default();
    let mut definition = None;
    if let Some(root) = document::read(text, &mut report) {
        let draft = reading::read(&root, &mut report);
        check::check(&root, &draft, catalog, &mut report);
        definition = draft.into_definition();
        if definition.is_none() && report.is_clean() {
            report.fault(Position::START, "", "the definition is not complete", "add what is missing");
        }
    }
    let warnings = report.finish()?;
    match definition {
        Some(definition) => Ok(Checked { definition, warnings }),
        None => Err(Faults { faults: Vec::new(), more: 0 }),
    }
}
