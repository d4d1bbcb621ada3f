//! Deciding what a version is granted: what it asks for, as far as the deployer allows or has allowed it.

use std::collections::BTreeSet;

use pleat_domain::{Capability, Grants, Visibility};

use crate::error::EngineError;

/// What the deployer has to say.
pub(crate) struct Wish<'a> {
    pub(crate) visibility: Option<Visibility>,
    /// In the words of `--grant`.
    pub(crate) grants: &'a [String],
    pub(crate) public_by_default: bool,
}

/// `before`: what the version that is replaced was granted.
pub(crate) fn decide(wish: &Wish<'_>, requested: &Grants, before: &Grants) -> Result<Grants, EngineError> {
    let asked = requested.capabilities();
    let mut allowed = before.capabilities();
    for text in wish.grants {
        if text == "all" {
            allowed.extend(asked.iter().cloned());
            continue;
        }
        let capability: Capability = text.parse().map_err(|fault| EngineError::Invalid(format!("{fault}")))?;
        if !asked.contains(&capability) {
            return Err(not_asked(&capability, &asked));
        }
        allowed.insert(capability);
    }
    let granted: BTreeSet<Capability> = asked.intersection(&allowed).cloned().collect();
    let visibility = match wish.visibility {
        Some(chosen) => chosen,
        None if granted.contains(&Capability::Public) => Visibility::Public,
        None if requested.visibility == Visibility::Unlisted => Visibility::Unlisted,
        None if wish.public_by_default => Visibility::Public,
        None => Visibility::Listed,
    };
    Ok(Grants::of(visibility, granted))
}

fn not_asked(capability: &Capability, asked: &BTreeSet<Capability>) -> EngineError {
    let list: Vec<String> = asked.iter().map(|asked| format!("`{asked}`")).collect();
    let list = if list.is_empty() { "nothing".to_owned() } else { list.join(", ") };
    EngineError::Invalid(format!(
        "`{capability}` cannot be granted: the function does not ask for it; it asks for {list}"
    ))
}
