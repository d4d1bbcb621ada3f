//! `pleat guard`: guardrail policies, what they found, and what a draft would do.

mod test;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use pleat_domain::TaskId;
use pleat_guardrails::Policy;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::{Context, parse};
use crate::output::{Table, excerpt, moment};
use crate::problem::Problem;
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat guard test -f policy.json --text 'write to jane@example.com'
  pleat guard set --default -f policy.json
  pleat guard set --skill hello -f strict.json
  pleat guard show
  pleat guard violations --action block
  pleat guard replay -f draft.json

A policy that redacts personal data and blocks secrets:
  {\"checks\": [{\"type\": \"pii\", \"action\": \"redact\"}, {\"type\": \"secrets\", \"action\": \"block\"}]}

docs/guardrails/ has all checks.";

/// Set guardrails, try them out, and see what they found
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct GuardArgs {
    #[command(subcommand)]
    command: GuardCommand,
}

#[derive(Subcommand)]
enum GuardCommand {
    /// Set the tenant's default policy, or a skill's
    #[command(
        after_help = "Examples:\n  pleat guard set --default -f policy.json\n  pleat guard set --skill hello -f policy.json"
    )]
    Set {
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        policy: PolicyFile,
    },
    /// Show the policies that are set, or what holds for a skill
    #[command(after_help = "Examples:\n  pleat guard show\n  pleat guard show --skill hello")]
    Show {
        /// What holds for this skill, and whose policy it is
        #[arg(long, value_name = "SKILL")]
        skill: Option<String>,
    },
    /// Remove the tenant's default policy, or a skill's
    #[command(after_help = "Examples:\n  pleat guard rm --skill hello")]
    Rm {
        #[command(flatten)]
        whose: Whose,
    },
    Test(test::TestArgs),
    /// Show what a draft would have done to the latest tasks
    #[command(
        after_help = "Examples:\n  pleat guard replay -f draft.json\n  pleat guard replay -f draft.json --skill hello -n 500"
    )]
    Replay {
        #[command(flatten)]
        policy: PolicyFile,
        /// Only tasks of this skill
        #[arg(long, value_name = "SKILL")]
        skill: Option<String>,
        /// How many tasks
        #[arg(short = 'n', long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
    },
    /// List what guardrails found, the latest first; never the value
    #[command(
        after_help = "Examples:\n  pleat guard violations\n  pleat guard violations --skill hello --action block\n  pleat guard violations --check pii --since 2026-11-16T10:00:00Z"
    )]
    Violations(ViolationArgs),
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Whose {
    /// The tenant's: for every skill that has none of its own
    #[arg(long)]
    default: bool,
    /// This skill's
    #[arg(long, value_name = "SKILL")]
    skill: Option<String>,
}

#[derive(Args)]
struct PolicyFile {
    /// The policy, as JSON
    #[arg(short = 'f', long = "file", value_name = "POLICY")]
    policy: PathBuf,
}

impl PolicyFile {
    /// The text, once it is known to be a policy.
    fn read(&self) -> Result<String> {
        Ok(sound(&self.policy)?.0)
    }
}

/// Reads a policy. All its faults are told at once, as a compiler would.
fn sound(path: &Path) -> Result<(String, Policy)> {
    let unreadable = |source| Problem::Unreadable { path: path.to_owned(), source };
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    match Policy::parse(&text) {
        Ok(policy) => Ok((text, policy)),
        Err(faults) => {
            let lines: Vec<String> = faults.list().iter().map(|fault| format!("{}:{fault}", path.display())).collect();
            let message = format!("the policy cannot be taken:\n{}", lines.join("\n"));
            Err(Problem::failed(message, "docs/guardrails/README.md has all fields").into())
        }
    }
}

#[derive(Args)]
struct ViolationArgs {
    /// Only of this skill
    #[arg(long, value_name = "SKILL")]
    skill: Option<String>,
    /// Only of this check, as `pii`
    #[arg(long, value_name = "CHECK")]
    check: Option<String>,
    /// Only with this action
    #[arg(long, value_name = "ACTION")]
    action: Option<ActionName>,
    /// Only of this task
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
    /// Only since then, as 2026-11-16T10:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// How many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
    /// Go on where an earlier list ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ActionName {
    Block,
    Redact,
    Warn,
    Log,
}

impl ActionName {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Redact => "redact",
            Self::Warn => "warn",
            Self::Log => "log",
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Violations {
    violations: Vec<Violation>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Violation {
    at: String,
    task: Option<String>,
    skill: String,
    side: String,
    rule: String,
    action: String,
    mode: String,
    pointer: String,
}

#[derive(Deserialize)]
struct Policies {
    default: Option<Value>,
    skills: Vec<Value>,
}

#[derive(Deserialize)]
struct Replay {
    tasks: usize,
    blocked: usize,
    redacted: usize,
    warned: usize,
    logged: usize,
    found: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    task: String,
    skill: String,
    action: Option<String>,
    findings: Vec<FoundRule>,
}

#[derive(Deserialize)]
struct FoundRule {
    side: String,
    rule: String,
}

pub async fn run(args: &GuardArgs, context: &Context<'_>) -> Result<()> {
    match &args.command {
        GuardCommand::Set { whose, policy } => {
            let text = policy.read()?;
            let client = context.connect(Role::Deployer)?;
            client.send_text(Method::PUT, client.in_tenant(&whose.path()).await?, text).await?;
            said(whose, "set", context)
        }
        GuardCommand::Rm { whose } => {
            let client = context.connect(Role::Deployer)?;
            client.delete(client.in_tenant(&whose.path()).await?).await?;
            said(whose, "removed", context)
        }
        GuardCommand::Show { skill } => show(skill.as_deref(), context).await,
        GuardCommand::Test(args) => test::run(args, context),
        GuardCommand::Replay { policy, skill, limit } => replay(policy, skill.as_deref(), *limit, context).await,
        GuardCommand::Violations(args) => violations(args, context).await,
    }
}

impl Whose {
    fn path(&self) -> Vec<&str> {
        self.skill.as_deref().map_or_else(|| vec!["guard"], |skill| vec!["guard", "skills", skill])
    }
}

fn said(whose: &Whose, what: &str, context: &Context<'_>) -> Result<()> {
    if context.output.json() {
        return Ok(context.output.document(&json!({ "skill": whose.skill, what: true }))?);
    }
    let name = whose.skill.as_ref().map_or("the default policy".to_owned(), |skill| format!("the policy of {skill}"));
    context.output.note(&format!("{what} {name}"));
    Ok(())
}

async fn show(skill: Option<&str>, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    if let Some(skill) = skill {
        let answer = client.get(client.in_tenant(&["guard", "skills", skill]).await?).await?;
        if !context.output.json() {
            context.output.note(match answer.get("from").and_then(Value::as_str) {
                Some("skill") => "a policy is set for this skill",
                Some("function") => "the function brings its own policy",
                Some(_) => "the tenant's default holds for this skill",
                None => "no policy holds for this skill",
            });
        }
        return Ok(context.output.document(&answer)?);
    }
    let answer = client.get(client.in_tenant(&["guard"]).await?).await?;
    let Policies { default, skills } = parse(answer.clone())?;
    if default.is_none() && skills.is_empty() && !context.output.json() {
        context.output.note("no policies are set; `pleat guard set --default -f policy.json` is a start");
    }
    Ok(context.output.document(&answer)?)
}

async fn replay(policy: &PolicyFile, skill: Option<&str>, limit: u32, context: &Context<'_>) -> Result<()> {
    let text = policy.read()?;
    let client = context.connect(Role::Deployer)?;
    let mut url = client.in_tenant(&["guard", "replay"]).await?;
    url.query_pairs_mut().append_pair("limit", &limit.to_string());
    if let Some(skill) = skill {
        url.query_pairs_mut().append_pair("skill", skill);
    }
    let answer = client.send_text(Method::POST, url, text).await?;
    context.show(answer, |replay: Replay| {
        let Replay { tasks, blocked, redacted, warned, logged, found } = replay;
        context.output.note(&format!(
            "of {tasks} tasks: {blocked} would be blocked, {redacted} redacted, {warned} warned of, {logged} logged"
        ));
        let mut table = Table::new(&["TASK", "SKILL", "WOULD", "FINDINGS"]);
        for one in &found {
            let mut rules: Vec<String> =
                one.findings.iter().map(|rule| format!("{} {}", rule.side, rule.rule)).collect();
            rules.sort_unstable();
            rules.dedup();
            let would = one.action.as_deref().unwrap_or("shadow").to_owned();
            table.row([one.task.clone(), one.skill.clone(), would, excerpt(&rules.join(", "), 80)]);
        }
        if found.is_empty() { String::new() } else { table.render() }
    })
}

async fn violations(args: &ViolationArgs, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let mut url = client.in_tenant(&["guard", "violations"]).await?;
    let pairs = [
        ("skill", args.skill.clone()),
        ("check", args.check.clone()),
        ("action", args.action.map(|action| action.as_str().to_owned())),
        ("task", args.task.map(|task| task.to_string())),
        ("since", args.since.clone()),
        ("limit", Some(args.limit.to_string())),
        ("cursor", args.cursor.clone()),
    ];
    url.query_pairs_mut().extend_pairs(pairs.into_iter().filter_map(|(name, value)| value.map(|value| (name, value))));
    let answer = client.get(url).await?;
    context.show(answer, |Violations { violations, next_cursor }| {
        if violations.is_empty() {
            context.output.note("nothing was found; findings are kept for 30 days");
            return String::new();
        }
        if let Some(cursor) = next_cursor {
            context.output.note(&format!("there are more: --cursor {cursor}"));
        }
        let mut table = Table::new(&["AT", "SKILL", "SIDE", "RULE", "ACTION", "WHERE", "TASK"]);
        for one in violations {
            let action = if one.mode == "shadow" { format!("{} (shadow)", one.action) } else { one.action };
            let task = one.task.unwrap_or_else(|| "(refused)".to_owned());
            table.row([moment(Some(&one.at)), one.skill, one.side, one.rule, action, excerpt(&one.pointer, 40), task]);
        }
        table.render()
    })
}
