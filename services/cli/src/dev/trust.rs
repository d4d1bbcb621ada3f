//! Whether a directory may run its own programs: `pleat dev` in a repository that somebody else wrote would otherwise run
//! its build scripts and its tools, and take over its settings, without a question.
//!
//! Asked once per directory. Functions themselves need no trust: they run in the sandbox.

use std::io::{BufRead, IsTerminal, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::output::Output;
use crate::package::{Kind, project, python};
use crate::problem::Problem;

const HINT: &str = "look at these files, then pass --trust (PLEAT_TRUST=true); it is remembered for this directory";

/// Something of a directory that runs outside of the sandbox, or decides where the platform listens and stores.
struct Concern {
    directory: PathBuf,
    text: String,
}

/// Returns if nothing needs trust, or the directories are trusted. `configuration`: the file that was found, not named.
pub fn check(
    watched: Option<&Path>,
    configuration: Option<&Path>,
    trust: bool,
    output: &Output,
) -> Result<(), Problem> {
    let list = list_path();
    let known = list.as_deref().map(trusted).unwrap_or_default();
    let mut concerns: Vec<Concern> = watched.into_iter().flat_map(of_functions).collect();
    concerns.extend(configuration.and_then(of_configuration));
    concerns.retain(|concern| !known.contains(&line_of(&concern.directory)));
    if concerns.is_empty() {
        return Ok(());
    }
    let texts: Vec<&str> = concerns.iter().map(|concern| concern.text.as_str()).collect();
    let all = texts.join("\n");
    if !trust && !confirmed(&all, output)? {
        return Err(Problem::failed("not trusted, nothing was started", HINT));
    }
    let mut directories: Vec<&Path> = concerns.iter().map(|concern| concern.directory.as_path()).collect();
    directories.dedup();
    let kept = list.ok_or_else(|| std::io::Error::other("there is no home directory"));
    if let Err(error) = kept.and_then(|list| remember(&list, &directories)) {
        output.note(&format!("this cannot be remembered, and will be asked again: {error}"));
    }
    Ok(())
}

fn of_functions(directory: &Path) -> Vec<Concern> {
    let mut texts = Vec::new();
    let functions = project::functions(directory);
    if functions.iter().any(|path| Kind::of(path) == Some(Kind::Crate)) {
        texts.push(format!("{}: building it runs its build scripts", directory.join("Cargo.toml").display()));
    }
    if functions.iter().any(|path| Kind::of(path) == Some(Kind::Python))
        && let Some(tool) = python::own_tool(directory)
    {
        texts.push(format!("{}: it is run to build functions in Python", tool.display()));
    }
    texts.into_iter().map(|text| Concern { directory: directory.to_owned(), text }).collect()
}

fn of_configuration(file: &Path) -> Option<Concern> {
    // What is installed for the whole machine is the administrator's.
    if file.is_absolute() {
        return None;
    }
    let file = file.canonicalize().ok()?;
    let directory = file.parent()?.to_owned();
    let text = format!("{}: it sets the database, addresses and limits of the platform", file.display());
    Some(Concern { directory, text })
}

fn confirmed(all: &str, output: &Output) -> Result<bool, Problem> {
    let what = format!("this directory brings files that `pleat dev` would run or follow:\n{all}");
    if !std::io::stdin().is_terminal() {
        return Err(Problem::usage(what, HINT));
    }
    output.complain(&format!("{what}\ntrust this directory? type yes:"));
    let mut typed = String::new();
    let read = std::io::stdin().lock().read_line(&mut typed);
    Ok(read.is_ok() && typed.trim().eq_ignore_ascii_case("yes"))
}

/// `$XDG_STATE_HOME/pleat/trusted`: one directory a line.
fn list_path() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = named("XDG_STATE_HOME").or_else(|| named("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("pleat/trusted"))
}

fn trusted(list: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(list).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn remember(list: &Path, directories: &[&Path]) -> std::io::Result<()> {
    if let Some(parent) = list.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    let mut file = std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(list)?;
    directories.iter().try_for_each(|directory| writeln!(file, "{}", line_of(directory)))
}

/// The canonical path, quoted: a line break in a name stays one line.
fn line_of(directory: &Path) -> String {
    format!("{directory:?}")
}
