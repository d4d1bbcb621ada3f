//! `pleat version`: what was built, from what, for what. `--version` is the short form.

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::Context;
use crate::output::Table;

const EXAMPLES: &str = "\
Examples:
  pleat version
  pleat version --json";

/// Show the version and how it was built
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct VersionArgs {}

pub fn run(context: &Context<'_>) -> Result<()> {
    let facts = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("commit", env!("PLEAT_BUILD_COMMIT")),
        ("profile", env!("PLEAT_BUILD_PROFILE")),
        ("target", env!("PLEAT_BUILD_TARGET")),
        ("rustc", env!("PLEAT_BUILD_RUSTC")),
    ];
    if context.output.json() {
        let document: serde_json::Map<String, _> =
            facts.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        return Ok(context.output.document(&document.into())?);
    }
    let mut table = Table::of_facts();
    facts.iter().for_each(|(name, value)| table.fact(name, *value));
    Ok(context.output.line(&table.render())?)
}
