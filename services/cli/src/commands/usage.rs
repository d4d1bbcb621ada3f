//! `pleat usage`: what was used, by day and skill; for the operator, by tenant.

use anyhow::Result;
use clap::Args;
use pleat_domain::SkillName;
use serde::Deserialize;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Duration, OffsetDateTime};

use crate::arguments::any_skill;
use crate::commands::Context;
use crate::output::{Table, size};
use crate::target::Role;

const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// Show what was used: calls, failures, CPU time, bytes
#[derive(Args)]
#[command(
    after_help = "Examples:\n  pleat usage                       the last 30 days, by day and skill\n  pleat usage --days 1 --json\n  pleat usage --all                 every tenant's sum (operator)"
)]
pub struct UsageArgs {
    /// How many days, today included
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..=400))]
    days: u16,
    /// Of this function only
    #[arg(long, value_name = "NAME", value_parser = any_skill, conflicts_with = "all")]
    skill: Option<SkillName>,
    /// The sums of all tenants; needs the operator's key
    #[arg(long)]
    all: bool,
}

#[derive(Deserialize)]
struct Usage {
    usage: Vec<Day>,
    total: Sums,
}

#[derive(Deserialize)]
struct Day {
    day: String,
    skill: String,
    #[serde(flatten)]
    sums: Sums,
}

#[derive(Deserialize)]
struct All {
    tenants: Vec<Tenant>,
}

#[derive(Deserialize)]
struct Tenant {
    tenant: String,
    #[serde(flatten)]
    sums: Sums,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sums {
    calls: u64,
    failures: u64,
    cpu_ms: f64,
    wall_ms: f64,
    input_bytes: u64,
    output_bytes: u64,
}

const COLUMNS: [&str; 6] = ["CALLS", "FAILED", "CPU MS", "WALL MS", "IN", "OUT"];

impl Sums {
    fn cells(&self) -> [String; 6] {
        [
            self.calls.to_string(),
            self.failures.to_string(),
            format!("{:.1}", self.cpu_ms),
            format!("{:.1}", self.wall_ms),
            size(usize::try_from(self.input_bytes).unwrap_or(usize::MAX)),
            size(usize::try_from(self.output_bytes).unwrap_or(usize::MAX)),
        ]
    }
}

pub async fn run(args: &UsageArgs, context: &Context<'_>) -> Result<()> {
    let today = OffsetDateTime::now_utc().date();
    let from = today.saturating_sub(Duration::days(i64::from(args.days) - 1)).format(DAY)?;
    if args.all {
        return all(&from, context).await;
    }
    let client = context.connect(Role::Deployer)?;
    let mut url = client.in_tenant(&["usage"]).await?;
    url.query_pairs_mut().append_pair("from", &from);
    if let Some(skill) = &args.skill {
        url.query_pairs_mut().append_pair("skill", skill.as_str());
    }
    context.show(client.get(url).await?, |Usage { usage, total }| {
        let mut table = Table::new(&[&["DAY", "SKILL"][..], &COLUMNS].concat());
        for row in usage {
            table.row([row.day, row.skill].into_iter().chain(row.sums.cells()));
        }
        table.row(["total".to_owned(), "-".to_owned()].into_iter().chain(total.cells()));
        table.render()
    })
}

async fn all(from: &str, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Operator)?;
    let mut url = client.control(&["usage"]);
    url.query_pairs_mut().append_pair("from", from);
    context.show(client.get(url).await?, |All { tenants }| {
        let mut table = Table::new(&[&["TENANT"][..], &COLUMNS].concat());
        for row in tenants {
            table.row(std::iter::once(row.tenant).chain(row.sums.cells()));
        }
        table.render()
    })
}
