//! `pleat tenants`: the operator's commands. They need the platform's operator key.

use std::io::{BufRead, IsTerminal};

use anyhow::Result;
use clap::{Args, Subcommand};
use pleat_domain::{CardVersions, PlanName, TenantSlug, timestamp};
use serde::Deserialize;
use serde_json::json;
use time::OffsetDateTime;

use crate::arguments::{card_versions, plan_name, tenant_slug};
use crate::commands::keys::expiry;
use crate::commands::operator_keys::made;
use crate::commands::{Context, parse};
use crate::output::{Table, moment};
use crate::problem::Problem;
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat tenants create acme --plan small
  pleat tenants set-plan acme standard
  pleat tenants set-card acme 1.0
  pleat tenants list
  pleat tenants delete acme --yes";

/// Create, list and delete tenants, and say what they may use (operator)
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct TenantsArgs {
    #[command(subcommand)]
    command: TenantsCommand,
}

#[derive(Subcommand)]
enum TenantsCommand {
    /// Create a tenant; its admin key is shown once
    #[command(after_help = "Examples:\n  pleat tenants create acme\n  pleat tenants create acme --plan small")]
    Create {
        #[arg(value_name = "NAME", value_parser = tenant_slug)]
        slug: TenantSlug,
        /// What it may use: small, standard, unlimited or a plan of the server's configuration [default: standard]
        #[arg(long, value_name = "PLAN", value_parser = plan_name)]
        plan: Option<PlanName>,
        /// For which versions of A2A its card is: all, or 1.0 alone [default: all]
        #[arg(long, value_name = "VERSIONS", value_parser = card_versions)]
        card: Option<CardVersions>,
    },
    /// Give a tenant another plan, at once
    #[command(after_help = "Examples:\n  pleat tenants set-plan acme unlimited")]
    SetPlan {
        #[arg(value_name = "NAME", value_parser = tenant_slug)]
        slug: TenantSlug,
        #[arg(value_name = "PLAN", value_parser = plan_name)]
        plan: PlanName,
    },
    /// Say for which versions of A2A a tenant's card is: all, or 1.0 alone
    #[command(after_help = "Examples:\n  pleat tenants set-card acme 1.0\n  pleat tenants set-card acme all")]
    SetCard {
        #[arg(value_name = "NAME", value_parser = tenant_slug)]
        slug: TenantSlug,
        #[arg(value_name = "VERSIONS", value_parser = card_versions)]
        card: CardVersions,
    },
    /// Create an admin key for a tenant that has lost its own; it is shown once, on stdout
    #[command(
        after_help = "Examples:\n  pleat tenants recover-key acme\n  pleat tenants recover-key acme --expires 12h"
    )]
    RecoverKey {
        #[arg(value_name = "NAME", value_parser = tenant_slug)]
        slug: TenantSlug,
        /// When it ends: 12h, 30d, or a time such as 2027-01-01T00:00:00Z [default: never]
        #[arg(long, value_name = "WHEN", value_parser = expiry)]
        expires: Option<OffsetDateTime>,
    },
    /// List the tenants
    #[command(after_help = "Examples:\n  pleat tenants list")]
    List,
    /// Delete a tenant with its functions, keys and tasks
    #[command(after_help = "Examples:\n  pleat tenants delete acme --yes")]
    Delete {
        #[arg(value_name = "NAME", value_parser = tenant_slug)]
        slug: TenantSlug,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    slug: String,
    url: String,
    admin_key: String,
}

#[derive(Deserialize)]
struct Tenants {
    tenants: Vec<Tenant>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tenant {
    slug: String,
    plan: String,
    card: Option<String>,
    url: String,
    created_at: Option<String>,
}

pub async fn run(args: &TenantsArgs, context: &Context<'_>) -> Result<()> {
    match &args.command {
        TenantsCommand::Create { slug, plan, card } => create(slug, plan.as_ref(), *card, context).await,
        TenantsCommand::SetPlan { slug, plan } => set_plan(slug, plan, context).await,
        TenantsCommand::SetCard { slug, card } => set_card(slug, *card, context).await,
        TenantsCommand::RecoverKey { slug, expires } => recover_key(slug, *expires, context).await,
        TenantsCommand::List => list(context).await,
        TenantsCommand::Delete { slug, yes } => delete(slug, *yes, context).await,
    }
}

async fn create(
    slug: &TenantSlug,
    plan: Option<&PlanName>,
    card: Option<CardVersions>,
    context: &Context<'_>,
) -> Result<()> {
    let client = context.connect(Role::Operator)?;
    let wish = json!({ "slug": slug, "plan": plan, "card": card.unwrap_or_default() });
    let answer = client.post(client.control(&["tenants"]), &wish).await?;
    if context.output.json() {
        return Ok(context.output.document(&answer)?);
    }
    let Created { slug, url, admin_key } = parse(answer)?;
    let mut facts = Table::of_facts();
    facts.fact("tenant", slug);
    facts.fact("url", url);
    facts.fact("admin-key", admin_key);
    context.output.note("the admin key is shown this once; with it, `pleat keys create` makes the others");
    Ok(context.output.line(&facts.render())?)
}

async fn recover_key(slug: &TenantSlug, expires: Option<OffsetDateTime>, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Operator)?;
    let url = client.control(&["tenants", slug.as_str(), "recovery-key"]);
    let answer = client.post(url, &json!({ "expiresAt": expires.map(timestamp::format) })).await?;
    made(answer, context)
}

async fn set_plan(slug: &TenantSlug, plan: &PlanName, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Operator)?;
    let url = client.control(&["tenants", slug.as_str(), "plan"]);
    let answer = client.put(url, &json!({ "plan": plan })).await?;
    if context.output.json() {
        return Ok(context.output.document(&answer)?);
    }
    context.output.note(&format!("{slug} has the plan {plan}"));
    Ok(())
}

async fn set_card(slug: &TenantSlug, card: CardVersions, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Operator)?;
    let url = client.control(&["tenants", slug.as_str(), "card"]);
    let answer = client.put(url, &json!({ "card": card })).await?;
    if context.output.json() {
        return Ok(context.output.document(&answer)?);
    }
    context.output.note(&format!("the card of {slug} is for {}", card.as_str()));
    Ok(())
}

async fn list(context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Operator)?;
    let answer = client.get(client.control(&["tenants"])).await?;
    context.show(answer, |Tenants { tenants }| {
        let mut table = Table::new(&["NAME", "PLAN", "CARD", "CREATED", "URL"]);
        for tenant in tenants {
            let card = tenant.card.unwrap_or_default();
            table.row([tenant.slug, tenant.plan, card, moment(tenant.created_at.as_deref()), tenant.url]);
        }
        table.render()
    })
}

async fn delete(slug: &TenantSlug, yes: bool, context: &Context<'_>) -> Result<()> {
    if !yes {
        confirm(slug, context)?;
    }
    let client = context.connect(Role::Operator)?;
    client.delete(client.control(&["tenants", slug.as_str()])).await?;
    if context.output.json() {
        return Ok(context.output.document(&json!({ "slug": slug, "deleted": true }))?);
    }
    context.output.note(&format!("deleted {slug}"));
    Ok(())
}

/// The one thing that cannot be undone is the one thing that is asked about.
fn confirm(slug: &TenantSlug, context: &Context<'_>) -> Result<(), Problem> {
    let hint = "pass --yes to delete it without being asked";
    if !std::io::stdin().is_terminal() {
        return Err(Problem::usage(format!("deleting the tenant `{slug}` needs a confirmation"), hint));
    }
    context.output.complain(&format!("this deletes all of `{slug}`; type its name to go on:"));
    let mut typed = String::new();
    let read = std::io::stdin().lock().read_line(&mut typed);
    match read {
        Ok(_) if typed.trim() == slug.as_str() => Ok(()),
        _ => Err(Problem::failed("not confirmed, nothing was deleted", hint)),
    }
}
