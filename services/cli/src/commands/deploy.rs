//! `pleat deploy`: a file becomes a function. What the file contains is the server's to judge.

mod gather;
mod imports;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result};
use clap::Args;
use pleat_domain::{Grants, SkillName, Visibility, limits};
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use serde::Deserialize;

use crate::arguments::skill_name;
use crate::client::Client;
use crate::commands::{Context, parse};
use crate::output::Table;
use crate::problem::Problem;
use crate::target::Role;

const EXAMPLES: &str = "\
Examples:
  pleat deploy hello.js
  pleat deploy src/hello.ts                         with the files that it imports
  pleat deploy hello.js --public                    anybody may call it
  pleat deploy target/wasm32-wasip2/release/echo.wasm --name echo
  pleat deploy weather.js --grant secret:API_KEY --grant host:api.example.com
  pleat deploy weather.js --grant all               everything that it asks for

A function asks for capabilities in its manifest; it gets those that --grant names: public, secret:NAME, config:NAME,
host:NAME, skill:NAME, kv. A later version keeps what it still asks for; what it asks for anew needs --grant again.";

/// Deploy functions: .js or .ts, a component as .wasm or .wat
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct DeployArgs {
    /// The files, one function each
    #[arg(required = true, value_name = "FILE")]
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
}

pub async fn run(args: &DeployArgs, context: &Context<'_>) -> Result<()> {
    if args.name.is_some() && args.files.len() > 1 {
        return Err(Problem::usage("--name fits one file only", "deploy the files one by one").into());
    }
    let client = context.connect(Role::Deployer)?;
    for file in &args.files {
        let what = || format!("could not deploy `{}`", file.display());
        deploy(args, file, &client, context).await.with_context(what)?;
    }
    Ok(())
}

async fn deploy(args: &DeployArgs, file: &Path, client: &Client, context: &Context<'_>) -> Result<()> {
    let Contents { file_name, content_type, bytes } = contents(file)?;
    let mut url = client.in_tenant(&["functions"]).await?;
    add_options(args, &file_name, &mut url);
    context.output.note(&format!("deploying {} ({})", file.display(), size(bytes.len())));
    let started = Instant::now();
    let request = client.request(Method::POST, url).header(CONTENT_TYPE, content_type).body(bytes);
    let answer = client.answer(request).await?;
    let milliseconds = started.elapsed().as_millis();
    if context.output.json() {
        return Ok(context.output.row(&answer)?);
    }
    describe(parse(answer)?, milliseconds, context)
}

/// What is sent.
struct Contents {
    file_name: String,
    content_type: &'static str,
    bytes: Vec<u8>,
}

fn contents(file: &Path) -> Result<Contents, Problem> {
    let (file_name, content_type) = kind(file)?;
    let bytes = read(file)?;
    // A file that is too large for a script, or no text at all, is sent as it is and refused with the reason.
    let is_script = content_type.ends_with("script") && bytes.len() <= limits::SCRIPT_UPLOAD;
    if is_script
        && std::str::from_utf8(&bytes).is_ok()
        && let Some(bundle) = gather::gather(file)?
    {
        let file_name = format!("{file_name}.bundle");
        return Ok(Contents { file_name, content_type: "application/vnd.pleat.bundle+json", bytes: bundle.to_bytes() });
    }
    Ok(Contents { file_name, content_type, bytes })
}

fn kind(file: &Path) -> Result<(String, &'static str), Problem> {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let content_type = match extension.to_ascii_lowercase().as_str() {
        "js" | "mjs" => "application/javascript",
        "ts" | "mts" => "application/typescript",
        "wasm" => "application/wasm",
        "wat" => "text/plain",
        _ => {
            let message = format!("cannot tell what `{}` is by its name", file.display());
            return Err(Problem::usage(message, "deploy a .js or .ts file, or a component as .wasm or .wat"));
        }
    };
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok((name, content_type))
}

fn read(file: &Path) -> Result<Vec<u8>, Problem> {
    let unreadable = |source| Problem::Unreadable { path: file.to_owned(), source };
    let length = std::fs::metadata(file).map_err(unreadable)?.len();
    if length > limits::COMPONENT_UPLOAD as u64 {
        let message = format!("it has {length} bytes; the most is {}", size(limits::COMPONENT_UPLOAD));
        return Err(Problem::failed(message, "build it for release, and strip what is not needed"));
    }
    std::fs::read(file).map_err(unreadable)
}

fn add_options(args: &DeployArgs, file_name: &str, url: &mut reqwest::Url) {
    let mut query = url.query_pairs_mut();
    query.append_pair("fileName", file_name);
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
    let Deployed { name, version, created, url, visibility, requested, before, granted } = deployed;
    let happened = if created { "deployed" } else { "unchanged" };
    context.output.note(&format!("{happened} in {milliseconds} ms, {}", visibility.as_str()));
    context.output.line(&format!("{name} v{version} {url}"))?;
    if let Some(table) = capabilities(&requested, &before, &granted) {
        context.output.note(&table);
    }
    let missing: Vec<String> = requested
        .capabilities()
        .difference(&granted.capabilities())
        .map(|missing| format!("--grant {missing}"))
        .collect();
    if !missing.is_empty() {
        context.output.note(&format!("it asks for more than it was granted; to allow it: {}", missing.join(" ")));
    }
    context.output.note(&format!("try it: pleat call {name}"));
    Ok(())
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

/// Bytes as people read them.
pub fn size(bytes: usize) -> String {
    match bytes {
        0..=1023 => format!("{bytes} B"),
        1024..=1_048_575 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}
