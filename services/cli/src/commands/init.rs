//! `pleat init`: a directory with one small function that works, to begin from. It never overwrites anything.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use pleat_domain::SkillName;
use serde_json::json;

use crate::arguments::skill_name;
use crate::commands::Context;
use crate::embedded::{self, Files};
use crate::problem::Problem;

const EXAMPLES: &str = "\
Examples:
  pleat init greeter -t js              a JavaScript function `greeter` in ./greeter
  pleat init -t ts --name summarize     a TypeScript function in this directory
  pleat init counter -t python
  pleat init counter -t rust

Then, in that directory: `pleat dev` in one terminal, `pleat deploy` and `pleat call` in another.";

/// The name that stands in the templates.
const PLACEHOLDER: &str = "my-function";

/// Make a new function to begin from
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct InitArgs {
    /// Where to make it [default: this directory]
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    directory: PathBuf,
    /// The language
    #[arg(long, short, value_enum, value_name = "LANGUAGE", default_value = "js")]
    template: Template,
    /// The function's name [default: the directory's, if it can be one, else `hello`]
    #[arg(long, value_name = "NAME", value_parser = skill_name)]
    name: Option<SkillName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Template {
    /// One JavaScript file; nothing to install
    Js,
    /// One TypeScript file; nothing to install
    Ts,
    /// A crate; needs Rust with the target wasm32-wasip2
    Rust,
    /// One Python file; needs componentize-py
    Python,
}

/// A file to be made, relative to the directory.
struct New {
    path: PathBuf,
    text: String,
}

pub fn run(args: &InitArgs, context: &Context<'_>) -> Result<()> {
    let name = match &args.name {
        Some(name) => name.as_str().to_owned(),
        None => name_of(&args.directory),
    };
    let files = files(args.template, &name);
    let there: Vec<String> = files
        .iter()
        .map(|file| args.directory.join(&file.path))
        .filter(|path| path.exists())
        .map(|path| format!("`{}`", path.display()))
        .collect();
    if !there.is_empty() {
        let message = format!("nothing was made, because it is there already: {}", there.join(", "));
        return Err(Problem::failed(message, "choose another directory, or another --name").into());
    }
    for file in &files {
        write(&args.directory.join(&file.path), &file.text)?;
    }
    say(args, &name, &files, context)
}

fn say(args: &InitArgs, name: &str, files: &[New], context: &Context<'_>) -> Result<()> {
    let paths: Vec<String> = files.iter().map(|file| args.directory.join(&file.path).display().to_string()).collect();
    if context.output.json() {
        return Ok(context.output.document(&json!({ "name": name, "files": paths }))?);
    }
    context.output.line(&paths.join("\n"))?;
    let enter =
        if args.directory == Path::new(".") { String::new() } else { format!("cd {} && ", args.directory.display()) };
    context.output.note(&format!("made the function `{name}`; README.md tells how to go on"));
    context.output.note(&format!("try it: {enter}pleat deploy && pleat call {name} '{{\"name\":\"Ada\"}}'"));
    Ok(())
}

fn files(template: Template, name: &str) -> Vec<New> {
    let (own, sdk): (Files, Vec<(&str, Files)>) = match template {
        Template::Js => (embedded::TEMPLATE_JS, Vec::new()),
        Template::Ts => (embedded::TEMPLATE_TS, Vec::new()),
        Template::Python => (embedded::TEMPLATE_PYTHON, vec![("pleat-sdk/pleat", embedded::PYTHON_SDK)]),
        Template::Rust => {
            (embedded::TEMPLATE_RUST, vec![("pleat-sdk/rust", embedded::RUST_SDK), ("pleat-sdk/wit", embedded::WIT)])
        }
    };
    let named = |text: &str| text.replace(PLACEHOLDER, name);
    let mut files: Vec<New> =
        own.iter().map(|(path, text)| New { path: PathBuf::from(named(path)), text: named(text) }).collect();
    if matches!(template, Template::Js | Template::Ts) {
        files.push(New { path: PathBuf::from("pleat.d.ts"), text: embedded::JAVASCRIPT_TYPES.to_owned() });
    }
    for (place, tree) in sdk {
        let below = |path: &str| Path::new(place).join(path);
        files.extend(tree.iter().map(|(path, text)| New { path: below(path), text: (*text).to_owned() }));
    }
    files
}

/// The directory's own name, where a function may have it.
fn name_of(directory: &Path) -> String {
    let whole = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    let name = whole.components().next_back().map(|part| part.as_os_str().to_string_lossy().to_lowercase());
    name.filter(|name| SkillName::parse(name).is_ok()).unwrap_or_else(|| "hello".to_owned())
}

fn write(path: &Path, text: &str) -> Result<()> {
    let failed = || format!("cannot write `{}`", path.display());
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).with_context(failed)?;
    }
    // What came into being since it was looked for is not overwritten either.
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(path).with_context(failed)?;
    std::io::Write::write_all(&mut file, text.as_bytes()).with_context(failed)
}
