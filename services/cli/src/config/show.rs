//! `pleat config`: what is in effect and where it came from. Secrets are not shown, only that they are set.

use clap::Args;
use serde_json::{Map, Value, json};

use super::{Config, DEFAULT_FILE, Entry};
use crate::node_args::NodeArgs;
use crate::output::{Output, Table};

const EXAMPLES: &str = "\
Examples:
  pleat config                          every key with its value and where that came from
  pleat config --default > pleat.toml   a file with every key, its default and what it is for
  pleat config --json --config /etc/pleat/pleat.toml";

/// Show the configuration of a node as it is in effect here
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ConfigArgs {
    /// Print the commented default file instead
    #[arg(long)]
    default: bool,
    #[command(flatten)]
    pub node: NodeArgs,
}

pub fn run(args: &ConfigArgs, config: &Config, output: &Output) -> anyhow::Result<()> {
    if args.default {
        return Ok(output.piece(DEFAULT_FILE)?);
    }
    let master_key = std::env::var("PLEAT_MASTER_KEY").is_ok_and(|text| !text.is_empty());
    if output.json() {
        return Ok(output.document(&document(config, master_key))?);
    }
    let mut table = Table::new(&["KEY", "VALUE", "SOURCE"]);
    for entry in &config.entries {
        table.row([entry.key.clone(), text(&shown(entry)), entry.source.to_string()]);
    }
    let state = if master_key { "(set)" } else { "(not set)" };
    table.row(["PLEAT_MASTER_KEY".to_owned(), state.to_owned(), "environment only".to_owned()]);
    Ok(output.line(&table.render())?)
}

fn document(config: &Config, master_key: bool) -> Value {
    let values: Map<String, Value> = config
        .entries
        .iter()
        .map(|entry| (entry.key.clone(), json!({ "value": shown(entry), "source": entry.source.to_string() })))
        .collect();
    json!({ "file": config.file, "values": values, "masterKey": { "set": master_key } })
}

/// As it may be shown to anybody.
fn shown(entry: &Entry) -> Value {
    match (entry.key.as_str(), &entry.value) {
        ("database.url", Value::String(url)) => Value::from(without_password(url)),
        ("metrics.token", Value::String(_)) => Value::from("(hidden)"),
        (_, value) => value.clone(),
    }
}

/// The place of a database, which is worth seeing, without what opens it.
pub fn without_password(url: &str) -> String {
    let Ok(mut parsed) = reqwest::Url::parse(url) else { return "(hidden)".to_owned() };
    if parsed.password().is_some() && parsed.set_password(Some("hidden")).is_err() {
        return "(hidden)".to_owned();
    }
    if parsed.query().is_some_and(|query| query.to_ascii_lowercase().contains("password")) {
        parsed.set_query(None);
    }
    parsed.to_string()
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
