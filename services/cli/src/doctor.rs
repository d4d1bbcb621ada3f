//! `pleat doctor`: looks at everything that a node needs, before it is started or when it does not do well, and says of
//! each thing that is not as it should be what to do about it. Nothing is changed.

mod database;
mod machine;
mod sandbox;

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::config::Config;
use crate::node_args::NodeArgs;
use crate::output::{Output, Table};
use crate::problem::Problem;

const EXAMPLES: &str = "\
Examples:
  pleat doctor                                   with the configuration that `pleat serve` would use here
  pleat doctor --config /etc/pleat/pleat.toml --json

Exit codes: 0 nothing failed (there may be warnings), 1 something failed.";

/// Check that a node can run here: database, data directory, keys, sandbox, limits
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub node: NodeArgs,
}

/// What was found about one thing.
pub struct Finding {
    check: &'static str,
    verdict: Verdict,
    found: String,
    /// What to do, where there is something to do.
    fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    Warn,
    Fail,
}

impl Verdict {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

impl Finding {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, found: found.into(), fix: None }
    }

    fn warn(check: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Warn, found: found.into(), fix: Some(fix.into()) }
    }

    fn fail(check: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Fail, found: found.into(), fix: Some(fix.into()) }
    }
}

pub async fn run(config: &Config, output: &Output) -> anyhow::Result<()> {
    let settings = &config.settings;
    let data_dir = PathBuf::from(&settings.server.data_dir);
    let mut findings = vec![configuration(config), machine::master_key(&data_dir)];
    findings.extend(database::look(settings, &data_dir).await);
    findings.extend(machine::look(settings, &data_dir));
    findings.extend(sandbox::look(&data_dir, settings.runtime.sandbox).await);
    show(&findings, output)?;
    let failed = findings.iter().filter(|finding| finding.verdict == Verdict::Fail).count();
    if failed > 0 {
        let hint = "mend what says `fail`, then run `pleat doctor` again";
        return Err(Problem::failed(format!("{failed} of {} checks failed", findings.len()), hint).into());
    }
    Ok(())
}

fn configuration(config: &Config) -> Finding {
    match &config.file {
        Some(path) => Finding::ok("configuration", format!("read from {}", path.display())),
        None => Finding::ok("configuration", "no file; defaults, environment and flags"),
    }
}

fn show(findings: &[Finding], output: &Output) -> std::io::Result<()> {
    if output.json() {
        let rows = findings.iter().map(|finding| {
            json!({
                "check": finding.check,
                "verdict": finding.verdict.as_str(),
                "found": finding.found,
                "fix": finding.fix,
            })
        });
        return output.document(&json!({ "checks": rows.collect::<Vec<_>>() }));
    }
    let mut table = Table::new(&["CHECK", "", "FOUND"]);
    for finding in findings {
        table.row([finding.check.to_owned(), finding.verdict.as_str().to_owned(), finding.found.clone()]);
        if let Some(fix) = &finding.fix {
            table.row([String::new(), String::new(), format!("fix: {fix}")]);
        }
    }
    output.line(&table.render())
}
