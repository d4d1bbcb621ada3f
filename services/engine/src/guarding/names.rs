//! What a function calls its artifacts: text of its own, which leaves with them and stands in the pointers of findings.

use std::collections::HashMap;

use pleat_guardrails::Side;

use super::{BlockedBy, Watch};

#[derive(Default)]
pub(super) struct Names {
    /// The names that the function gave, and those that they leave under.
    given: HashMap<String, String>,
    /// Those that may not be shown as they are.
    masked: HashMap<String, String>,
}

impl Watch {
    /// The name under which an artifact leaves whose name its function has chosen.
    pub(crate) fn name(&mut self, name: String) -> Result<String, BlockedBy> {
        if self.guard.is_idle(Side::Output) {
            return Ok(name);
        }
        if let Some(known) = self.names.given.get(&name) {
            return Ok(known.clone());
        }
        let mut leaving = name.clone();
        self.readable(Side::Output, &mut leaving, "/artifacts")?;
        let shown = self.guard.shown(Side::Output, &leaving);
        if shown != leaving {
            self.names.masked.insert(leaving.clone(), shown);
        }
        self.names.given.insert(name, leaving.clone());
        Ok(leaving)
    }

    /// Where findings in an artifact are.
    pub(super) fn place_of(&self, name: &str) -> String {
        let shown = self.names.masked.get(name).map_or(name, String::as_str);
        format!("/artifacts/{}", shown.replace('~', "~0").replace('/', "~1"))
    }
}
