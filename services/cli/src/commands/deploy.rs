//! `pleat deploy`: a file becomes a function. What the file contains is the server's to judge.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Args;
use pleat_domain::{Grants, SkillName, Visibility};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, Url};
use serde::Deserialize;
use serde_json::Value;

use crate::arguments::skill_name;
use crate::client::Client;
use crate::commands::{Context, parse};
use crate::output::{Output, Table, size};
use crate::package::{Package, project};
use crate::problem::Problem;
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat deploy                                      the functions of this directory
  pleat deploy hello.js
  pleat deploy src/hello.ts                         with the files that it imports
  pleat deploy hello.js --public                    anybody may call it
  pleat deploy wordcount.py                         built with componentize-py
  pleat deploy ./my-crate                           built with cargo for wasm32-wasip2
  pleat deploy target/wasm32-wasip2/release/echo.wasm --name echo
  pleat deploy weather.js --grant secret:API_KEY --grant host:api.example.com
  pleat deploy weather.js --grant all               everything that it asks for

A function asks for capabilities in its manifest; it gets those that --grant names: public, secret:NAME, config:NAME,
host:NAME, skill:NAME, kv. A later version keeps what it still asks for; what it asks for anew needs --grant again.";

/// A large component takes half a minute to compile, and may have to wait for others.
const PATIENCE: Duration = Duration::from_secs(300);

/// Deploy functions: .js, .ts, .py, a Rust crate, a component as .wasm or .wat
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct DeployArgs {
    /// Files, one function each, or directories [default: the functions of this directory]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The function's name [default: what its manifest says, else the file's name]
    #[arg(long, value_name = "NAME", value_parser = skill_name)]
    name: Option<SkillName>,
    /// Anybody may call it, without a key
    #[arg(long, conflicts_with = "unlisted")]
    public: bool,
    /// Keep it off the card and every public list
    #[arg(long)]
    unlisted: bool,
    /// Allow something that the function asks for, or `all` of it; may be repeated
    #[arg(long = "grant", value_name = "CAPABILITY")]
    grants: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Deployed {
    name: String,
    version: i64,
    #[serde(default)]
    created: bool,
    url: String,
    visibility: Visibility,
    #[serde(default)]
    requested: Grants,
    #[serde(default)]
    before: Grants,
    #[serde(default)]
    granted: Grants,
    #[serde(default)]
    warnings: Vec<String>,
}

pub async fn run(args: &DeployArgs, context: &Context<'_>) -> Result<()> {
    let files = chosen(&args.files)?;
    if args.name.is_some() && files.len() > 1 {
        return Err(Problem::usage("--name fits one file only", "deploy the files one by one").into());
    }
    let client = context.connect(Role::Deployer)?;
    for file in &files {
        let what = || format!("could not deploy `{}`", file.display());
        deploy(args, file, &client, context).await.with_context(what)?;
    }
    Ok(())
}

/// A directory stands for the functions in it.
fn chosen(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Problem> {
    let here = [PathBuf::from(".")];
    let paths = if paths.is_empty() { here.as_slice() } else { paths };
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let found = project::functions(path);
        if found.is_empty() {
            let message = format!("there is no function in `{}`", path.display());
            let hint =
                "name a file, or make a function with `pleat init`; docs/cli.md tells how functions are recognised";
            return Err(Problem::usage(message, hint));
        }
        files.extend(found);
    }
    Ok(files)
}

async fn deploy(args: &DeployArgs, file: &Path, client: &Client, context: &Context<'_>) -> Result<()> {
    let package = Package::of(file, context.output)?;
    context.output.note(&format!("deploying {} ({})", file.display(), size(package.bytes.len())));
    let started = Instant::now();
    let answer = upload(package, client, |url| add_options(args, url)).await?;
    let milliseconds = started.elapsed().as_millis();
    if context.output.json() {
        return Ok(context.output.row(&answer)?);
    }
    describe(parse(answer)?, milliseconds, context)
}

/// Sends a package; `options` are added to the query. The answer is the server's.
pub async fn upload(package: Package, client: &Client, options: impl FnOnce(&mut Url)) -> Result<Value> {
    let mut url = client.in_tenant(&["functions"]).await?;
    url.query_pairs_mut().append_pair("fileName", &package.file_name);
    options(&mut url);
    let request = client.request(Method::POST, url).header(CONTENT_TYPE, package.content_type).body(package.bytes);
    client.answer_within(request, PATIENCE).await
}

fn add_options(args: &DeployArgs, url: &mut Url) {
    let mut query = url.query_pairs_mut();
    if let Some(name) = &args.name {
        query.append_pair("name", name.as_str());
    }
    if args.public {
        query.append_pair("visibility", Visibility::Public.as_str());
    } else if args.unlisted {
        query.append_pair("visibility", Visibility::Unlisted.as_str());
    }
    for grant in &args.grants {
        query.append_pair("grant", grant);
    }
}

fn describe(deployed: Deployed, milliseconds: u128, context: &Context<'_>) -> Result<()> {
    let Deployed { name, version, created, url, visibility, requested, before, granted, warnings } = deployed;
    let happened = if created { "deployed" } else { "unchanged" };
    context.output.note(&format!("{happened} in {milliseconds} ms, {}", visibility.as_str()));
    context.output.line(&format!("{name} v{version} {url}"))?;
    if let Some(table) = capabilities(&requested, &before, &granted) {
        context.output.note(&table);
    }
    if let Some(missing) = missing(&requested, &granted) {
        context.output.note(&format!("it asks for more than it was granted; to allow it: {missing}"));
    }
    warn(&warnings, context.output);
    context.output.note(&format!("try it: pleat call {name}"));
    Ok(())
}

/// What else there is that the change does not suit.
pub fn warn(warnings: &[String], output: &Output) {
    warnings.iter().for_each(|warning| output.note(&format!("warning: {warning}")));
}

/// The flags that would grant what it asks for and lacks.
pub fn missing(requested: &Grants, granted: &Grants) -> Option<String> {
    let granted = granted.capabilities();
    let asked = requested.capabilities();
    let missing: Vec<String> = asked.difference(&granted).map(|missing| format!("--grant {missing}")).collect();
    (!missing.is_empty()).then(|| missing.join(" "))
}

/// What it asks for, with what the version before was granted and what this one is; nothing, if it asks for nothing.
fn capabilities(requested: &Grants, before: &Grants, granted: &Grants) -> Option<String> {
    let asked = requested.capabilities();
    if asked.is_empty() {
        return None;
    }
    let (before, granted) = (before.capabilities(), granted.capabilities());
    let word = |has: bool| if has { "granted" } else { "-" }.to_owned();
    let mut table = Table::new(&["IT ASKS FOR", "BEFORE", "NOW"]);
    for capability in asked {
        table.row([capability.to_string(), word(before.contains(&capability)), word(granted.contains(&capability))]);
    }
    Some(table.render())
}
