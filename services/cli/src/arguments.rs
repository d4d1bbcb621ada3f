//! The commands and the flags that all of them share. Each command's own arguments stand with the command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use pleat_domain::{CardVersions, PlanName, SettingName, SkillName, TenantSlug};

use crate::commands::operator_keys::{OperatorKeysArgs, OperatorKeysCommand};
use crate::commands::{
    audit, call, card, completions, deploy, functions, guard, init, issuers, keys, logs, mcp, operator_keys, pipeline,
    push, secrets, settings, tasks, tenants, usage, version,
};
use crate::config::show;
use crate::node_args::NodeArgs;
use crate::{dev, doctor, serve};

const EXAMPLES: &str = "\
Examples:
  pleat init greeter -t js              make a function to begin from
  pleat dev                             start the platform here, with a demo tenant; deploys what you save
  pleat deploy hello.js                 deploy a function
  pleat call hello '{\"name\":\"Ada\"}'     call it
  pleat logs -f                         follow what it logs

Client commands find the `pleat dev` of this directory or of a parent by themselves; \
for another server set PLEAT_URL and PLEAT_KEY.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 the task ended without a result.";

/// Deploy a function, get an agent.
#[derive(Parser)]
#[command(name = "pleat", bin_name = "pleat", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    pub globals: Globals,
    #[command(subcommand)]
    pub command: Command,
}

/// No `Debug`: the key must not end up in a log.
#[derive(Args)]
#[command(next_help_heading = "Global options")]
pub struct Globals {
    /// The server's control URL [default: the running `pleat dev` of this directory or a parent]
    #[arg(long, env = "PLEAT_URL", global = true, value_name = "URL", hide_env_values = true)]
    pub url: Option<String>,
    /// The key to use [default: the one that the running `pleat dev` made for the purpose]
    #[arg(long, env = "PLEAT_KEY", global = true, value_name = "KEY", hide_env_values = true)]
    pub key: Option<String>,
    /// The tenant to work in [default: the key's own]
    #[arg(long, env = "PLEAT_TENANT", global = true, value_name = "TENANT", hide_env_values = true)]
    pub tenant: Option<String>,
    /// Where `pleat dev` and `pleat serve` keep their data [default: .pleat]
    #[arg(long, env = "PLEAT_DATA_DIR", global = true, value_name = "DIR", hide_env_values = true)]
    pub data_dir: Option<PathBuf>,
    /// Print data as JSON: one document, or one a line for what is streamed
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing but data and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

impl Globals {
    pub fn data_dir(&self) -> PathBuf {
        self.data_dir.clone().unwrap_or_else(|| PathBuf::from(".pleat"))
    }
}

#[derive(Subcommand)]
pub enum Command {
    Dev(dev::DevArgs),
    Serve(serve::ServeArgs),
    Init(init::InitArgs),
    Deploy(deploy::DeployArgs),
    List(functions::ListArgs),
    Versions(functions::VersionsArgs),
    Rollback(functions::RollbackArgs),
    Delete(functions::DeleteArgs),
    Call(call::CallArgs),
    Pipeline(pipeline::PipelineArgs),
    Tasks(tasks::TasksArgs),
    Logs(logs::LogsArgs),
    Push(push::PushArgs),
    Guard(guard::GuardArgs),
    Secrets(secrets::SecretsArgs),
    Settings(settings::SettingsArgs),
    Keys(keys::KeysArgs),
    Issuers(issuers::IssuersArgs),
    Tenants(tenants::TenantsArgs),
    Usage(usage::UsageArgs),
    Audit(audit::AuditArgs),
    #[command(alias = "operator-key")]
    OperatorKeys(operator_keys::OperatorKeysArgs),
    Card(card::CardArgs),
    Mcp(mcp::McpArgs),
    Config(show::ConfigArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
    Version(version::VersionArgs),
    /// Compiles one function; started by the platform itself.
    #[command(name = "__compile", hide = true)]
    Compile,
}

impl Command {
    /// Whether it runs a node.
    pub const fn serves(&self) -> bool {
        matches!(self, Self::Dev(_) | Self::Serve(_))
    }

    /// The flags of a node, where the command is about one.
    pub const fn node_args(&self) -> Option<&NodeArgs> {
        match self {
            Self::Dev(args) => Some(&args.node),
            Self::Serve(args) => Some(&args.node),
            Self::Config(args) => Some(&args.node),
            Self::Doctor(args) => Some(&args.node),
            Self::OperatorKeys(OperatorKeysArgs { command: OperatorKeysCommand::Recover(args) }) => Some(args),
            _ => None,
        }
    }
}

/// For clap: a function's name, checked before anything is sent.
pub fn skill_name(text: &str) -> Result<SkillName, pleat_domain::name::BadName> {
    SkillName::parse(text)
}

/// For clap: a function's name, or a pipeline's as the skill that it is.
pub fn any_skill(text: &str) -> Result<SkillName, pleat_domain::name::BadName> {
    SkillName::parse_skill(text)
}

/// For clap: a plan's name; which plans there are is the server's to say.
pub fn plan_name(text: &str) -> Result<PlanName, pleat_domain::plan::BadPlanName> {
    PlanName::parse(text)
}

/// For clap: the versions that a card is for.
pub fn card_versions(text: &str) -> Result<CardVersions, &'static str> {
    CardVersions::parse(text).ok_or("a card is for `all` versions of A2A, or for `1.0` alone")
}

/// For clap: the name of a secret or a setting.
pub fn setting_name(text: &str) -> Result<SettingName, pleat_domain::setting::BadSetting> {
    SettingName::parse(text)
}

/// For clap: a tenant's name.
pub fn tenant_slug(text: &str) -> Result<TenantSlug, pleat_domain::tenant::BadSlug> {
    TenantSlug::parse(text)
}
