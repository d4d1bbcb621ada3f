//! The client commands, one file each: parse, ask the server, print. They share nothing but what is here.

pub mod audit;
pub mod call;
pub mod card;
pub mod completions;
pub mod deploy;
pub mod functions;
pub mod guard;
pub mod init;
pub mod issuers;
pub mod keys;
mod limits;
pub mod logs;
pub mod mcp;
pub mod operator_keys;
pub mod pipeline;
pub mod push;
pub mod secrets;
pub mod settings;
pub mod tasks;
pub mod tenants;
pub mod usage;
mod value;
pub mod version;

use anyhow::Result;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::arguments::{Command, Globals};
use crate::client::Client;
use crate::output::Output;
use crate::problem::Problem;
use crate::target::{self, Role};

/// What every command gets.
pub struct Context<'a> {
    pub globals: &'a Globals,
    pub output: &'a Output,
}

impl Context<'_> {
    pub fn connect(&self, role: Role) -> Result<Client> {
        Client::new(target::find(self.globals, role)?)
    }

    /// Prints an answer: as the server gave it with `--json`, else as `text` puts it.
    pub fn show<T: DeserializeOwned>(&self, answer: Value, text: impl FnOnce(T) -> String) -> Result<()> {
        if self.output.json() {
            return Ok(self.output.document(&answer)?);
        }
        let text = text(parse(answer)?);
        if !text.is_empty() {
            self.output.line(&text)?;
        }
        Ok(())
    }
}

/// An answer as the command knows it.
pub fn parse<T: DeserializeOwned>(answer: Value) -> Result<T> {
    Ok(serde_json::from_value(answer).map_err(|source| Problem::Odd { url: "that URL".to_owned(), source })?)
}

pub async fn run(command: &Command, context: &Context<'_>) -> Result<()> {
    match command {
        Command::Init(args) => init::run(args, context),
        Command::Deploy(args) => deploy::run(args, context).await,
        Command::List(_) => functions::list(context).await,
        Command::Versions(args) => functions::versions(args, context).await,
        Command::Rollback(args) => functions::rollback(args, context).await,
        Command::Delete(args) => functions::delete(args, context).await,
        Command::Call(args) => call::run(args, context).await,
        Command::Tasks(args) => tasks::run(args, context).await,
        Command::Logs(args) => logs::run(args, context).await,
        Command::Pipeline(args) => pipeline::run(args, context).await,
        Command::Push(args) => push::run(args, context).await,
        Command::Guard(args) => guard::run(args, context).await,
        Command::Secrets(args) => secrets::run(args, context).await,
        Command::Settings(args) => settings::run(args, context).await,
        Command::Issuers(args) => issuers::run(args, context).await,
        Command::Keys(args) => keys::run(args, context).await,
        Command::OperatorKeys(args) => operator_keys::run(args, context).await,
        Command::Audit(args) => audit::run(args, context).await,
        Command::Tenants(args) => tenants::run(args, context).await,
        Command::Usage(args) => usage::run(args, context).await,
        Command::Card(args) => card::run(args, context).await,
        Command::Mcp(args) => mcp::run(args, context).await,
        Command::Completions(args) => completions::run(args, context),
        Command::Version(_) => version::run(context),
        // These never come here: `main` runs them itself.
        Command::Dev(_) | Command::Serve(_) | Command::Config(_) | Command::Doctor(_) | Command::Compile => Ok(()),
    }
}
