//! `pleat audit`: who changed what, and who was denied.

use anyhow::Result;
use clap::Args;
use pleat_domain::{AuditAction, timestamp};
use serde::Deserialize;
use time::{Duration, OffsetDateTime};

use crate::commands::Context;
use crate::output::{Table, moment};
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat audit                                  the latest changes in this tenant (admin key)
  pleat audit --action key.revoke --since 24h
  pleat audit --actor h3K9x0Qz2L --json
  pleat audit --all --since 7d                 of all tenants and the platform (operator)
  pleat audit --all --tenant acme              of one tenant (operator)
  pleat audit --platform                       of the platform itself (operator)";

/// Show the audit log: administrative changes and denied attempts, the latest first
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct AuditArgs {
    /// Rows that belong to no tenant; needs the operator's key
    #[arg(long, conflicts_with = "all")]
    platform: bool,
    /// Rows of all tenants and of the platform, or of the one in --tenant; needs the operator's key
    #[arg(long)]
    all: bool,
    /// Only this action, such as key.revoke
    #[arg(long, value_name = "ACTION", value_parser = action)]
    action: Option<AuditAction>,
    /// Only what this key (its id) or token (issuer:subject) did
    #[arg(long, value_name = "ID")]
    actor: Option<String>,
    /// Only changes of this name or id
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Only since then: 30m, 24h, 7d ago, or a time such as 2027-01-01T00:00:00Z
    #[arg(long, value_name = "WHEN", value_parser = moment_ago)]
    since: Option<OffsetDateTime>,
    /// Only before then
    #[arg(long, value_name = "WHEN", value_parser = moment_ago)]
    until: Option<OffsetDateTime>,
    /// How many rows at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
    /// Continue an earlier list: its `nextCursor`
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Log {
    entries: Vec<Row>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    at: String,
    tenant: Option<String>,
    actor: Actor,
    action: String,
    target: Target,
    outcome: String,
    #[serde(default)]
    client: Origin,
}

#[derive(Deserialize)]
struct Actor {
    kind: String,
    id: String,
    label: String,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize, Default)]
struct Origin {
    address: Option<String>,
}

pub async fn run(args: &AuditArgs, context: &Context<'_>) -> Result<()> {
    let of_platform = args.platform || args.all;
    let client = context.connect(if of_platform { Role::Operator } else { Role::Admin })?;
    let mut url = if of_platform { client.control(&["audit"]) } else { client.in_tenant(&["audit"]).await? };
    let filters = [
        ("tenant", context.globals.tenant.clone().filter(|_| args.all)),
        ("platform", args.platform.then(|| "true".to_owned())),
        ("action", args.action.map(|action| action.as_str().to_owned())),
        ("actor", args.actor.clone()),
        ("target", args.target.clone()),
        ("since", args.since.map(timestamp::format)),
        ("until", args.until.map(timestamp::format)),
        ("limit", Some(args.limit.to_string())),
        ("cursor", args.cursor.clone()),
    ];
    for (name, value) in filters {
        if let Some(value) = value {
            url.query_pairs_mut().append_pair(name, &value);
        }
    }
    let answer = client.get(url).await?;
    context.show(answer, |Log { entries, next_cursor }| {
        if let Some(cursor) = next_cursor {
            context.output.note(&format!("there are more; go on with --cursor {cursor}"));
        }
        let mut table = Table::new(&["AT", "TENANT", "ACTOR", "ACTION", "TARGET", "OUTCOME", "FROM"]);
        for row in entries {
            let Actor { kind, id, label } = row.actor;
            let actor = if label.is_empty() { format!("{kind} {id}") } else { format!("{kind} {id} ({label})") };
            table.row([
                moment(Some(&row.at)),
                row.tenant.unwrap_or_else(|| "-".to_owned()),
                actor,
                row.action,
                row.target.name,
                row.outcome,
                row.client.address.unwrap_or_else(|| "-".to_owned()),
            ]);
        }
        table.render()
    })
}

/// For clap: a word of the audit log.
fn action(text: &str) -> Result<AuditAction, String> {
    AuditAction::parse(text).ok_or_else(|| {
        let all: Vec<&str> = AuditAction::ALL.into_iter().map(AuditAction::as_str).collect();
        format!("there is no such action; there are {}", all.join(", "))
    })
}

/// For clap: a span before now, or a moment.
fn moment_ago(text: &str) -> Result<OffsetDateTime, String> {
    let wrong = || "say 30m, 24h, 7d or a time such as 2027-01-01T00:00:00Z".to_owned();
    for (unit, seconds) in [("m", 60), ("h", 3_600), ("d", 86_400_i64)] {
        if let Some(count) = text.strip_suffix(unit).and_then(|digits| digits.parse::<i64>().ok()) {
            let known = (1..=100_000).contains(&count).then(|| Duration::seconds(count * seconds));
            return known.and_then(|span| OffsetDateTime::now_utc().checked_sub(span)).ok_or_else(wrong);
        }
    }
    OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339).map_err(|_| wrong())
}
