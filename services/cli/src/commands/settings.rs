//! `pleat settings`: plain values of the tenant that functions read by name.

use anyhow::Result;
use clap::{Args, Subcommand};
use pleat_domain::SettingName;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::setting_name;
use crate::commands::value::ValueArgs;
use crate::commands::{Context, parse};
use crate::output::{Table, excerpt, moment};
use crate::problem::Problem;
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat settings set REGION eu-west
  pleat settings get REGION
  pleat settings list
  pleat settings rm REGION

A function reads a setting if its manifest asks for it and it was deployed with --grant config:NAME.
Settings are not secret: whoever may read the tenant sees them. For passwords and keys there is `pleat secrets`.";

/// Set, show and remove plain values that functions read by name
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct SettingsArgs {
    #[command(subcommand)]
    command: SettingsCommand,
}

#[derive(Subcommand)]
enum SettingsCommand {
    /// Set a value; without one it is read from stdin
    #[command(after_help = "Examples:\n  pleat settings set REGION eu-west")]
    Set {
        #[arg(value_name = "NAME", value_parser = setting_name)]
        name: SettingName,
        #[command(flatten)]
        value: ValueArgs,
    },
    /// Print one value
    #[command(after_help = "Examples:\n  pleat settings get REGION")]
    Get {
        #[arg(value_name = "NAME", value_parser = setting_name)]
        name: SettingName,
    },
    /// List all values
    #[command(after_help = "Examples:\n  pleat settings list")]
    List,
    /// Remove a value
    #[command(after_help = "Examples:\n  pleat settings rm REGION")]
    Rm {
        #[arg(value_name = "NAME", value_parser = setting_name)]
        name: SettingName,
    },
}

#[derive(Deserialize)]
struct Settings {
    settings: Vec<Setting>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Setting {
    name: String,
    value: String,
    updated_at: Option<String>,
    updated_by: String,
}

pub async fn run(args: &SettingsArgs, context: &Context<'_>) -> Result<()> {
    match &args.command {
        SettingsCommand::Set { name, value } => {
            let client = context.connect(Role::Deployer)?;
            let url = client.in_tenant(&["settings", name.as_str()]).await?;
            client.put(url, &json!({ "value": value.read(name.as_str())? })).await?;
            said(name, "set", context)
        }
        SettingsCommand::Get { name } => get(name, context).await,
        SettingsCommand::List => list(context).await,
        SettingsCommand::Rm { name } => {
            let client = context.connect(Role::Deployer)?;
            client.delete(client.in_tenant(&["settings", name.as_str()]).await?).await?;
            said(name, "removed", context)
        }
    }
}

async fn all(context: &Context<'_>) -> Result<Value> {
    let client = context.connect(Role::Deployer)?;
    client.get(client.in_tenant(&["settings"]).await?).await
}

async fn get(name: &SettingName, context: &Context<'_>) -> Result<()> {
    let Settings { settings } = parse(all(context).await?)?;
    let Some(found) = settings.into_iter().find(|setting| setting.name == name.as_str()) else {
        return Err(Problem::failed(format!("there is no setting `{name}`"), "`pleat settings list` shows them").into());
    };
    if context.output.json() {
        return Ok(context.output.document(&json!({ "name": found.name, "value": found.value }))?);
    }
    Ok(context.output.line(&found.value)?)
}

async fn list(context: &Context<'_>) -> Result<()> {
    context.show(all(context).await?, |Settings { settings }| {
        if settings.is_empty() {
            context.output.note("there are no settings; `pleat settings set NAME VALUE` is a start");
            return String::new();
        }
        let mut table = Table::new(&["NAME", "VALUE", "UPDATED", "BY"]);
        for setting in settings {
            let updated = moment(setting.updated_at.as_deref());
            table.row([setting.name, excerpt(&setting.value, 60), updated, setting.updated_by]);
        }
        table.render()
    })
}

fn said(name: &SettingName, what: &str, context: &Context<'_>) -> Result<()> {
    if context.output.json() {
        return Ok(context.output.document(&json!({ "name": name.as_str(), what: true }))?);
    }
    context.output.note(&format!("{what} {name}"));
    Ok(())
}
